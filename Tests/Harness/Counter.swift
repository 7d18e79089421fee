// SPDX-License-Identifier: MIT

/// A firewall rule that counts packets.
package struct Counter: Sendable {
    private let namespace: Namespace
    private let table: String

    /// Counts from now on the packets in a namespace that match.
    ///
    /// - Parameters:
    ///   - hook: `input`, `output`, `prerouting` or `postrouting`.
    ///   - match: What nft calls the matching part of a rule.
    package init(in namespace: Namespace, _ hook: String, _ match: String) async throws {
        self.namespace = namespace
        table = Lab.uniqueName()
        try await namespace.check("nft", "add table inet \(table)")
        try await namespace.check(
            "nft", "add chain inet \(table) tally { type filter hook \(hook) priority 0; }")
        try await namespace.check("nft", "add rule inet \(table) tally \(match) counter")
    }

    /// The number of packets so far.
    package func packets() async throws -> Int {
        let words = try await namespace.check("nft", "list table inet \(table)").text.split(
            whereSeparator: \.isWhitespace)
        guard let place = words.firstIndex(of: "packets"), place + 1 < words.count else { return -1 }
        return Int(words[place + 1]) ?? -1
    }
}
