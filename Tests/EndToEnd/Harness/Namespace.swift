// SPDX-License-Identifier: MIT

/// A network namespace of one test.
struct Namespace: Sendable {
    /// Its name in `/run/netns`.
    let name: String

    /// The words before a command that make it run within.
    var prefix: [String] { ["ip", "netns", "exec", name] }

    /// Runs a command within.
    func run(
        _ arguments: String..., environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = .seconds(30)
    ) async throws -> Output {
        try await Shell.run(prefix + arguments, environment: environment, input: input, atMost: limit)
    }

    /// Runs a command within that must succeed.
    @discardableResult
    func check(
        _ arguments: String..., environment: [String: String] = [:], input: String = "",
        atMost limit: Duration = .seconds(30)
    ) async throws -> Output {
        try await Shell.check(prefix + arguments, environment: environment, input: input, atMost: limit)
    }

    /// Runs a line of shell within that must succeed.
    @discardableResult
    func bash(
        _ line: String, environment: [String: String] = [:], atMost limit: Duration = .seconds(30)
    ) async throws -> Output {
        try await Shell.check(prefix + ["bash", "-euc", line], environment: environment, atMost: limit)
    }

    /// Runs `ip` on this namespace, with arguments parted by spaces.
    @discardableResult
    func ip(_ line: String) async throws -> Output {
        try await Shell.check(["ip", "-n", name] + line.split(separator: " ").map(String.init))
    }

    /// Sends echo requests until one is answered.
    ///
    /// - Parameters:
    ///   - address: IPv4 or IPv6.
    ///   - seconds: When to give up.
    ///   - options: Further options of `ping`.
    /// - Returns: Whether an answer came.
    func ping(_ address: String, within seconds: Int = 20, _ options: String...) async throws -> Bool {
        try await Shell.run(
            prefix + ["ping", "-n", "-q", "-c", "1", "-i", "0.2", "-w", "\(seconds)"] + options + [address],
            atMost: .seconds(seconds + 20)
        ).succeeded
    }

    /// Sends exactly `count` echo requests and returns the number of answers.
    func answers(to count: Int, from address: String, every interval: String = "0.02", options: [String] = [])
        async throws -> Int
    {
        let output = try await Shell.run(
            prefix + ["ping", "-n", "-q", "-c", "\(count)", "-i", interval, "-W", "3"] + options + [address],
            atMost: .seconds(180))
        for line in output.lines where line.contains(" received") {
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(where: { $0.hasPrefix("received") }), place > 0 else {
                continue
            }
            return Int(words[place - 1]) ?? 0
        }
        return 0
    }
}
