// SPDX-License-Identifier: MIT

/// What goes wrong in the agent. Each case has a stable code that programs may compare.
public enum AgentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No route leads to the control server.
    case networkOffline
    /// The server could not be asked for an identity; the text says why.
    case provisioningFailed(String)
    /// The server could not be asked for news; the text says why.
    case heartbeatFailed(String)
    /// An encrypted answer does not belong to this device's key.
    case cryptoDecryptionFailed
    /// A field of a configuration is missing, malformed or out of range.
    case configInvalid(field: String, reason: String)
    /// The tunnel could not be brought up; the text says why.
    case tunnelInitFailed(String)
    /// The store failed with this error number.
    case secretStore(Int32)
    /// A file or directory of the store must not be used; the text says why and what helps.
    case storeUnusable(path: String, reason: String)
    /// The server refuses the credentials.
    case unauthorized
    /// The server asks to come back later.
    case rateLimited(retryAfter: Duration?)
    /// The server answered with this status, which has no meaning of its own here.
    case serverRejected(Int)
    /// The server's certificate or the handshake of TLS is bad; the text says how.
    case tls(String)
    /// Something between here and the server answers in its place.
    case captivePortal
    /// The clock differs by this much from the server's.
    case clockSkew(Duration)
    /// The server no longer knows this device.
    case revoked
    /// There is no identity and no token to get one with.
    case notProvisioned
    /// No handshake came in time.
    case handshakeTimedOut
    /// An answer is for another device.
    case identityMismatch

    /// The stable code.
    public var code: String {
        switch self {
        case .networkOffline: "network-offline"
        case .provisioningFailed: "provisioning-failed"
        case .heartbeatFailed: "heartbeat-failed"
        case .cryptoDecryptionFailed: "decryption-failed"
        case .configInvalid: "config-invalid"
        case .tunnelInitFailed: "tunnel-failed"
        case .secretStore: "secret-store"
        case .storeUnusable: "store-unusable"
        case .unauthorized: "unauthorized"
        case .rateLimited: "rate-limited"
        case .serverRejected: "server-rejected"
        case .tls: "tls"
        case .captivePortal: "captive-portal"
        case .clockSkew: "clock-skew"
        case .revoked: "revoked"
        case .notProvisioned: "not-provisioned"
        case .handshakeTimedOut: "handshake-timeout"
        case .identityMismatch: "identity-mismatch"
        }
    }

    /// One sentence for people.
    public var description: String {
        switch self {
        case .networkOffline: "no route to the control server"
        case .provisioningFailed(let reason): "provisioning failed: \(reason)"
        case .heartbeatFailed(let reason): "heartbeat failed: \(reason)"
        case .cryptoDecryptionFailed: "the server's answer cannot be decrypted with this device's key"
        case .configInvalid(let field, let reason): "\(field): \(reason)"
        case .tunnelInitFailed(let reason): "the tunnel cannot be brought up: \(reason)"
        case .secretStore(let number): "the store cannot be used (error number \(number))"
        case .storeUnusable(let path, let reason): "\(path): \(reason)"
        case .unauthorized: "the server refuses the credentials"
        case .rateLimited(let delay?): "the server asks to wait \(delay.components.seconds) s"
        case .rateLimited(nil): "the server asks to wait"
        case .serverRejected(let status): "the server answered with status \(status)"
        case .tls(let reason): "TLS: \(reason)"
        case .captivePortal: "something else answers in place of the server, such as a login page"
        case .clockSkew(let difference):
            "the clock differs by \(difference.components.seconds) s from the server's"
        case .revoked: "the server no longer knows this device"
        case .notProvisioned: "not provisioned: a token is needed"
        case .handshakeTimedOut: "no handshake with the server in time"
        case .identityMismatch: "the answer is for another device"
        }
    }
}
