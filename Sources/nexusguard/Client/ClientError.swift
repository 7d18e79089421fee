// SPDX-License-Identifier: MIT

internal import NexusGuardAgent

/// Why the daemon did not do what was asked.
enum ClientError: Error, Equatable, CustomStringConvertible {
    /// Nobody listens on the socket.
    case unreachable(socket: String, reason: String)
    /// The daemon has the socket and does not answer in time.
    case silent(socket: String)
    /// The daemon refuses.
    case refused(status: Int, code: String, message: String, field: String?)
    /// The answer is not one of this interface.
    case malformed(String)

    /// One sentence for people.
    var description: String {
        switch self {
        case .unreachable(let socket, let reason):
            "the daemon does not answer on \(socket): \(reason); is nexusguard-agent running?"
        case .silent(let socket): "the daemon does not answer on \(socket) in time"
        case .refused(_, _, let message, _): ShownText.plain(message, limit: 500)
        case .malformed(let reason): "the daemon's answer cannot be used: \(reason)"
        }
    }

    /// The stable code for programs.
    var code: String {
        switch self {
        case .unreachable, .silent: "daemon-unreachable"
        case .refused(_, let code, _, _): code
        case .malformed: "malformed-answer"
        }
    }

    /// The exit status that says the same.
    var exitCode: ExitCode {
        switch self {
        case .unreachable, .silent: .daemonUnreachable
        case .malformed: .failure
        case .refused(_, let code, _, _):
            switch code {
            case "not-permitted": .notPermitted
            case "not-provisioned": .notProvisioned
            case "handshake-timeout": .timedOut
            case "unauthorized", "revoked", "server-rejected", "rate-limited": .refusedByServer
            default: .failure
            }
        }
    }

    /// The error as the daemon's interface writes errors.
    var document: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.name("error")
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", description)
        if case .refused(_, _, _, let field?) = self { writer.member("field", field) }
        writer.endObject()
        writer.endObject()
        return writer.finish()
    }
}
