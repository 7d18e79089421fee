// SPDX-License-Identifier: MIT

public import AgentCore
public import FoundationEssentials

/// All that the agent shows of itself at one moment; the one JSON of command line, page and events.
///
/// It holds no secret: identifiers are masked and keys are absent. Fields without a value are left out
/// of the JSON. Instants are RFC 3339 in UTC with whole seconds.
public struct AgentSnapshot: Codable, Hashable, Sendable {
    /// The layout of the JSON that this version writes.
    public static let currentSchema = 1

    /// The layout of the JSON; readers refuse one that they do not know.
    public var schema: Int
    /// What people are shown.
    public var state: AgentState
    /// Where the agent stands inside.
    public var phase: AgentPhase
    /// Why the state is what it is, where it is not as wanted.
    public var reason: HealthItem?
    /// When the next try begins by itself, where one is waited for.
    public var nextRetry: Date?
    /// What needs attention though the agent goes on; each code at most once.
    public var health: [HealthItem]
    /// Whether the tunnel is wanted up.
    public var wantsUp: Bool
    /// Whether there is an identity.
    public var provisioned: Bool
    /// The masked name of this device; see `DeviceIDMask`.
    public var deviceID: String?
    /// The masked identifier of this host.
    public var hwid: String?
    /// The base address of the control server.
    public var serverURL: String?
    /// The page for administrators, where the server has told one.
    public var adminURL: String?
    /// The tunnel, while it exists.
    public var tunnel: TunnelInfo?
    /// The forwarded ports; `nil` when the server has told none.
    public var forwards: [ForwardSummary]?
    /// The number of forwarded ports; `nil` when the server has told none.
    public var forwardCount: Int?
    /// When the server last accepted a heartbeat.
    public var lastHeartbeat: Date?
    /// When the server last answered at all.
    public var lastContact: Date?
    /// What happened how often since the agent started.
    public var counters: AgentCounters
    /// When the agent started.
    public var startedAt: Date?
    /// The version of the agent.
    public var version: String

    /// Creates the snapshot of an agent that has done nothing yet.
    public init(
        state: AgentState = .disconnected, phase: AgentPhase = .boot,
        version: String = AgentVersion.current
    ) {
        schema = Self.currentSchema
        self.state = state
        self.phase = phase
        health = []
        wantsUp = false
        provisioned = false
        counters = AgentCounters()
        self.version = version
    }

    /// Reads what `json()` wrote.
    ///
    /// - Throws: `AgentError.configInvalid`, when it is not a snapshot or one of another schema.
    public init(parsing json: [UInt8]) throws(AgentError) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let read: Self
        do {
            read = try decoder.decode(Self.self, from: Data(json))
        } catch {
            throw .configInvalid(field: "snapshot", reason: "is not the status of an agent")
        }
        guard read.schema == Self.currentSchema else {
            throw .configInvalid(field: "schema", reason: "\(read.schema) is not known to this version")
        }
        self = read
    }

    /// The snapshot as JSON in one line, with its keys in order.
    public func json() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            // Strings, numbers and dates alone cannot fail to be written.
            preconditionFailure("a snapshot holds only what JSON can hold")
        }
    }

    /// What those may see who may not operate the agent: how it is, not who and where it is.
    public var redacted: AgentSnapshot {
        var copy = self
        copy.deviceID = nil
        copy.hwid = nil
        copy.serverURL = nil
        copy.adminURL = nil
        copy.tunnel?.addresses = []
        copy.tunnel?.allowedIPs = []
        copy.tunnel?.endpoint = nil
        copy.forwards = nil
        copy.reason = reason.map { HealthItem(code: $0.code, text: "") }
        copy.health = health.map { HealthItem(code: $0.code, text: "") }
        return copy
    }
}
