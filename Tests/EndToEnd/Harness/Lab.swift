// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Synchronization

/// What one test builds in the machine: namespaces, daemons, files. All of it is gone when the test ends.
///
/// Names hold the process id and a running number, so that two runs of the tests can share a machine, and so that
/// the control sockets, which lie in one folder for all namespaces, do not collide.
final class Lab: Sendable {
    /// A folder of this test's own, mode 0700.
    let folder: String
    private let namespaces = Mutex<[Namespace]>([])
    private let interfaces = Mutex<[String]>([])
    private let children = Mutex<[Child]>([])
    private static let counter = Atomic<Int>(0)

    private init() throws {
        folder = "/tmp/\(Self.uniqueName())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Runs a test with a laboratory and clears it away whatever happens.
    ///
    /// - Parameter slot: `false` for a test that mostly waits: it does not hold up others.
    static func with(slot: Bool = true, _ body: (Lab) async throws -> Void) async throws {
        if slot { await Slots.shared.acquire() }
        do {
            let lab = try Lab()
            do {
                try await body(lab)
            } catch {
                await lab.clear()
                throw error
            }
            await lab.clear()
        } catch {
            if slot { await Slots.shared.release() }
            throw error
        }
        if slot { await Slots.shared.release() }
    }

    /// A name of at most 15 bytes which nothing else on this machine has.
    static func uniqueName() -> String {
        "e2e\(getpid())n\(counter.add(1, ordering: .relaxed).newValue)"
    }

    /// The name of an interface, which is remembered so that its control socket is removed at the end.
    func interfaceName() -> String {
        let name = Self.uniqueName()
        interfaces.withLock { $0.append(name) }
        return name
    }

    /// A namespace with its loopback interface up.
    func namespace() async throws -> Namespace {
        let namespace = Namespace(name: Self.uniqueName())
        try await Shell.check(["ip", "netns", "add", namespace.name])
        namespaces.withLock { $0.append(namespace) }
        try await namespace.ip("link set lo up")
        // Duplicate address detection would hold back each new IPv6 address for a second or two.
        try await namespace.check(
            "sysctl", "-qw", "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0")
        return namespace
    }

    /// Joins two namespaces by a veth pair whose ends have these names, and brings both up.
    func cable(_ left: Namespace, _ leftName: String, _ right: Namespace, _ rightName: String) async throws {
        try await Shell.check(
            ["ip", "link", "add", leftName, "netns", left.name, "type", "veth"]
                + ["peer", "name", rightName, "netns", right.name])
        try await left.ip("link set \(leftName) up")
        try await right.ip("link set \(rightName) up")
    }

    /// Starts a command in a namespace which is ended with the test.
    @discardableResult
    func spawn(
        in namespace: Namespace, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> Child {
        let child = try Child(namespace.prefix + arguments, environment: environment)
        children.withLock { $0.append(child) }
        return child
    }

    /// The path of a file in the folder.
    func path(of name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file of mode 0600 into the folder and returns its path.
    func file(_ name: String, _ contents: String) throws -> String {
        let path = path(of: name)
        let made = FileManager.default.createFile(
            atPath: path, contents: Data(contents.utf8), attributes: [.posixPermissions: 0o600])
        guard made else { throw ShellError.notStarted(["write", path], errno) }
        return path
    }

    /// A fresh private key in a file of mode 0600, and its public key.
    func keyPair() async throws -> (path: String, publicKey: String) {
        let key = try await Shell.check(["wg", "genkey"]).standardOutput
        let publicKey = try await Shell.check(["wg", "pubkey"], input: key).text
        return (try file(Self.uniqueName() + ".key", key), publicKey)
    }

    /// Ends the processes, then removes namespaces, sockets and files.
    private func clear() async {
        for child in children.withLock({ $0 }) { child.signal(SIGKILL) }
        for namespace in namespaces.withLock({ $0 }) {
            let listed = try? await Shell.run(["ip", "netns", "pids", namespace.name])
            for pid in (listed?.lines ?? []).compactMap({ pid_t($0.trimmed) }) { kill(pid, SIGTERM) }
            for attempt in 1...40 {
                let rest = try? await Shell.run(["ip", "netns", "pids", namespace.name])
                let pids = (rest?.lines ?? []).compactMap { pid_t($0.trimmed) }
                if pids.isEmpty { break }
                if attempt > 20 { for pid in pids { kill(pid, SIGKILL) } }
                try? await Task.sleep(for: .milliseconds(50))
            }
            _ = try? await Shell.run(["ip", "netns", "del", namespace.name])
        }
        for interface in interfaces.withLock({ $0 }) { unlink(Daemon.socketPath(of: interface)) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
