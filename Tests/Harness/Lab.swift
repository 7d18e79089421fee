// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Synchronization

/// What one test builds in the machine: namespaces, processes, files. All of it is gone when the test ends.
///
/// Names hold the process id and a running number, so that two runs of the tests can share a machine, and so that
/// control sockets that lie in one folder for all namespaces do not collide.
package final class Lab: Sendable {
    /// A folder of this test's own. Others may pass through it, to sockets that are for everybody.
    package let folder: String
    private let namespaces = Mutex<[Namespace]>([])
    private let leftovers = Mutex<[String]>([])
    private let children = Mutex<[Child]>([])
    private static let counter = Atomic<Int>(0)

    private init() throws {
        folder = "/tmp/\(Self.uniqueName())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
    }

    /// Runs a test with a laboratory and clears it away whatever happens.
    ///
    /// - Parameter slot: `false` for a test that mostly waits: it does not hold up others.
    package static func with(slot: Bool = true, _ body: (Lab) async throws -> Void) async throws {
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
    package static func uniqueName() -> String {
        "e2e\(getpid())n\(counter.add(1, ordering: .relaxed).newValue)"
    }

    /// Removes a file at the end of the test that is not in the folder.
    package func removeAtEnd(_ path: String) { leftovers.withLock { $0.append(path) } }

    /// A namespace with its loopback interface up.
    package func namespace() async throws -> Namespace {
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
    package func cable(
        _ left: Namespace, _ leftName: String, _ right: Namespace, _ rightName: String
    ) async throws {
        try await Shell.check(
            ["ip", "link", "add", leftName, "netns", left.name, "type", "veth"]
                + ["peer", "name", rightName, "netns", right.name])
        try await left.ip("link set \(leftName) up")
        try await right.ip("link set \(rightName) up")
    }

    /// Starts a command in a namespace which is ended with the test.
    @discardableResult
    package func spawn(
        in namespace: Namespace, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> Child {
        try spawn(in: namespace, arguments: arguments, environment: environment)
    }

    /// Starts a command in a namespace which is ended with the test.
    package func spawn(
        in namespace: Namespace, arguments: [String], environment: [String: String] = [:]
    ) throws -> Child {
        let child = try Child(namespace.prefix + arguments, environment: environment)
        children.withLock { $0.append(child) }
        return child
    }

    /// The path of a file in the folder.
    package func path(of name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file of mode 0600 into the folder, whole or not at all, and returns its path.
    @discardableResult
    package func file(_ name: String, _ contents: String) throws -> String {
        let path = path(of: name)
        let draft = "\(path).\(Self.uniqueName())"
        let made = FileManager.default.createFile(
            atPath: draft, contents: Data(contents.utf8), attributes: [.posixPermissions: 0o600])
        guard made, rename(draft, path) == 0 else { throw ShellError.notStarted(["write", path], errno) }
        return path
    }

    /// Ends the processes, then removes namespaces and files.
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
        for path in leftovers.withLock({ $0 }) { unlink(path) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
