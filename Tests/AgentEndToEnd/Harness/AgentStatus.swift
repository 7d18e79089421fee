// SPDX-License-Identifier: MIT

internal import Foundation

/// What the tests read of `nexusguard --json status`.
struct AgentStatus: Decodable, Sendable {
    /// A code with its sentence.
    struct Item: Decodable, Sendable {
        let code: String
        let text: String
    }

    /// The running tunnel.
    struct Tunnel: Decodable, Sendable {
        let interface: String
        let addresses: [String]
        let allowedIPs: [String]
        let endpoint: String?
        let lastHandshake: String?

        /// Whether the session is the one of an earlier look, or has only been renewed for its age.
        ///
        /// Keys are renewed after 120 s (section 6.2 of the paper), which a busy machine may reach within a test.
        func continues(_ former: Tunnel?) -> Bool {
            guard let now = date, let then = former?.date else { return false }
            return now == then || now.timeIntervalSince(then) >= 118
        }

        private var date: Date? {
            lastHandshake.flatMap { try? Date($0, strategy: .iso8601) }
        }
    }

    /// What happened how often.
    struct Counters: Decodable, Sendable {
        let heartbeatsSent: Int
        let heartbeatsAccepted: Int
        let provisionsAccepted: Int
        let tunnelStarts: Int
        let rebuilds: Int
        let rollbacks: Int
        let malformedAnswers: Int
        let failures: [String: Int]
    }

    let schema: Int
    let state: String
    let phase: String
    let reason: Item?
    let health: [Item]
    let wantsUp: Bool
    let provisioned: Bool
    let deviceID: String?
    let tunnel: Tunnel?
    let forwardCount: Int?
    let lastHeartbeat: String?
    let counters: Counters

    /// The codes of what needs attention.
    var codes: [String] { health.map(\.code) + (reason.map { [$0.code] } ?? []) }

    /// How often a failure happened.
    func failures(_ code: String) -> Int { counters.failures[code] ?? 0 }
}
