// SPDX-License-Identifier: MIT

/// A network namespace of one test.
package struct Namespace: Sendable {
    /// Its name in `/run/netns`.
    package let name: String

    /// The words before a command that make it run within.
    package var prefix: [String] { ["ip", "netns", "exec", name] }

    /// Runs a command within.
    package func run(
        _ arguments: String..., environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = Shell.patience
    ) async throws -> Output {
        try await Shell.run(prefix + arguments, environment: environment, input: input, atMost: limit)
    }

    /// Runs a command within that must succeed.
    @discardableResult
    package func check(
        _ arguments: String..., environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = Shell.patience
    ) async throws -> Output {
        try await Shell.check(prefix + arguments, environment: environment, input: input, atMost: limit)
    }

    /// Runs a line of shell within that must succeed.
    @discardableResult
    package func bash(
        _ line: String, environment: [String: String] = [:], atMost limit: Duration = Shell.patience
    ) async throws -> Output {
        try await Shell.check(prefix + ["bash", "-euc", line], environment: environment, atMost: limit)
    }

    /// Runs `ip` on this namespace, with arguments parted by spaces.
    @discardableResult
    package func ip(_ line: String) async throws -> Output {
        try await Shell.check(["ip", "-n", name] + line.split(separator: " ").map(String.init))
    }

    /// Waits until an end of a cable is at work, with its own address of IPv6 and the routes to it.
    ///
    /// The kernel tells of the carrier in its own time, and makes these only then.
    package func awaitLink(_ interface: String) async throws {
        try await Shell.eventually("\(interface) is at work") {
            let link = try await ip("-o link show dev \(interface)").text
            guard link.contains(" state UP ") else { return false }
            let routes = try await ip("-6 route show table all dev \(interface)").lines
            return ["local fe80:", "fe80::/64", "multicast ff00::/8"].allSatisfy { start in
                routes.contains { $0.hasPrefix(start) }
            }
        }
    }

    /// Waits until each IPv6 address is usable: the kernel makes its route in the local table in its own time.
    package func awaitAddresses() async throws {
        try await Shell.eventually("the addresses of \(name) are usable") {
            try await Host.isSettled(
                addresses: ip("-6 -o address").standardOutput,
                routes: ip("-6 route show table local").standardOutput)
        }
    }

    /// Waits until no UDP socket has a port: a daemon that ends gives its own up in its own time.
    package func awaitFreePort(_ port: Int) async throws {
        try await Shell.eventually("UDP port \(port) is free") {
            try await check("ss", "-Hlun", "sport = :\(port)").text.isEmpty
        }
    }

    /// Sends echo requests until one is answered.
    ///
    /// - Parameters:
    ///   - address: IPv4 or IPv6.
    ///   - seconds: When to give up.
    ///   - options: Further options of `ping`.
    /// - Returns: Whether an answer came.
    package func ping(
        _ address: String, within seconds: Int = 120, _ options: String...
    ) async throws -> Bool {
        try await Shell.run(
            prefix + ["ping", "-n", "-q", "-c", "1", "-i", "0.2", "-w", "\(seconds)"] + options + [address],
            atMost: .seconds(seconds) + Shell.patience
        ).succeeded
    }

    /// Sends echo requests and returns how many of the first `count` were answered.
    ///
    /// The answers are told apart by their sequence numbers, while `ping` goes on to a deadline: without one it
    /// waits for the last answer only twice the longest round trip, which on a busy machine loses an answer that
    /// comes.
    ///
    /// - Parameters:
    ///   - count: How many echo requests.
    ///   - address: IPv4 or IPv6.
    ///   - interval: The pause between two requests, in seconds.
    ///   - seconds: How long the answers may take beyond that, which is waited only when one is missing.
    ///   - options: Further options of `ping`.
    package func answers(
        to count: Int, from address: String, every interval: Double = 0.02, within seconds: Int = 120,
        options: [String] = []
    ) async throws -> Int {
        // Twice the time that is asked for, since ping takes more than the interval for each.
        let deadline = Int((2 * Double(count) * interval).rounded(.up)) + seconds
        let output = try await Shell.run(
            prefix + ["ping", "-n", "-c", "\(count)", "-i", "\(interval)", "-w", "\(deadline)"] + options
                + [address],
            atMost: .seconds(deadline) + Shell.patience)
        let numbers = output.lines.compactMap { line -> Int? in
            guard line.contains(" bytes from "),
                let field = line.split(separator: " ").first(where: {
                    $0.hasPrefix("icmp_seq=")
                })
            else { return nil }
            return Int(field.dropFirst("icmp_seq=".count))
        }
        return Set(numbers).intersection(1...count).count
    }

    /// Sends so many echo requests and no more, each after the answer to the one before, and returns how many were
    /// answered.
    ///
    /// A daemon that a busy machine holds up hands what has come meanwhile to the kernel in one piece, which captures
    /// and firewalls take for one packet.
    package func answersInTurn(
        to count: Int, from address: String, options: [String] = []
    ) async throws -> Int {
        var answered = 0
        for _ in 0..<count {
            // With a deadline ping would send more of them until one is answered.
            let words = ["ping", "-n", "-q", "-c", "1", "-W", "120"] + options + [address]
            if try await Shell.run(prefix + words).succeeded { answered += 1 }
        }
        return answered
    }
}
