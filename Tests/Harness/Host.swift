// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// The host as a thread sees it that has entered a network namespace; every call blocks that thread.
package enum Host {
    /// A command that a test needs ended with a failure.
    package struct ToolFailure: Error {
        /// What was to be run, or which call failed.
        package let line: String
        /// What it printed, or the error number.
        package let output: String

        /// Takes note of a failure.
        package init(line: String, output: String) {
            self.line = line
            self.output = output
        }
    }

    /// Moves the calling thread into a new network namespace with the loopback interface up.
    ///
    /// `/sys` and `/proc/sys` follow the thread by themselves. The namespace ends with the thread.
    package static func enterNewNamespace() throws {
        guard linux_unshare(linux_clone_newnet) == 0 else {
            throw ToolFailure(line: "unshare", output: "errno \(errno)")
        }
        try tool("ip link set lo up")
    }

    /// Runs a command with the words of a line, which must succeed, and returns what it prints.
    @discardableResult
    package static func tool(_ line: String) throws -> String {
        let result = try spawn(line.split(separator: " ").map(String.init))
        guard result.status == 0 else { throw ToolFailure(line: line, output: result.output) }
        return result.output
    }

    /// Runs a command to its end and returns its exit status and all that it printed.
    package static func spawn(_ words: [String]) throws -> (status: Int32, output: String) {
        let child = try Child(words)
        let status = child.waitHere()
        return (status, child.standardOutput + child.standardError)
    }

    /// All of the network that an agent could change, as the tools print it once the kernel has settled.
    package static func picture() throws -> String {
        try eventually("addresses are usable") { try isSettled() }
        return try [
            "ip -4 route show table all", "ip -6 route show table all", "ip -4 rule", "ip -6 rule", "ip addr",
            "nft list ruleset", "sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.all.rp_filter",
        ].map { "# \($0)\n\(try spawn($0.split(separator: " ").map(String.init)).output)" }.joined()
    }

    /// Whether each IPv6 address is known to be the only one and has its route in the local table.
    ///
    /// The kernel does both in its own time after the address was added.
    package static func isSettled() throws -> Bool {
        try isSettled(addresses: tool("ip -6 -o addr"), routes: tool("ip -6 route show table local"))
    }

    /// The same of what `ip` has printed: the addresses with `-6 -o`, and the IPv6 routes of the local table.
    package static func isSettled(addresses: String, routes: String) -> Bool {
        let lines = addresses.split(separator: "\n")
        guard !lines.contains(where: { $0.contains("tentative") }) else { return false }
        let routes = routes.split(separator: "\n").map { $0.split(separator: " ") }
        return lines.allSatisfy { line in
            // "2: up0    inet6 2001:db8::2/64 scope global nodad ..."
            let words = line.split(separator: " ")
            guard words.count > 3, words[1] != "lo" else { return true }
            let address = words[3].prefix { $0 != "/" }
            return routes.contains { $0.starts(with: ["local", address, "dev", words[1]]) }
        }
    }

    /// Waits until an end of a cable is at work, with its own address of IPv6.
    ///
    /// The kernel tells of the carrier in its own time, and makes that address only then.
    package static func awaitLink(_ name: String) throws {
        try eventually("\(name) is at work") {
            guard try tool("ip -o link show dev \(name)").contains(" state UP ") else { return false }
            return try tool("ip -6 -o addr show dev \(name) scope link").contains("fe80:") && isSettled()
        }
    }

    /// Waits until a condition holds, which a busy machine may take long for.
    package static func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + Shell.patience
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw ShellError.neverTrue(what) }
            usleep(20_000)
        }
    }

    /// A fresh folder for one test, which removes it.
    package static func temporaryFolder() throws -> String {
        var template = Array("/tmp/host-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ToolFailure(line: "mkdtemp", output: "errno \(errno)") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
