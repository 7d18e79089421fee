// SPDX-License-Identifier: MIT

public import WireGuardCrypto

/// Why a tunnel did not do what it was asked for; nothing was changed then.
public enum TunnelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name can not be that of a network interface.
    case invalidName(String)
    /// The tunnel interface is not there; the reason names the system call or the cause.
    case interfaceUnavailable(name: String, reason: String)
    /// The UDP port is taken by another socket.
    case portInUse(UInt16)
    /// The UDP sockets are not there; the reason names the system call.
    case transportUnavailable(reason: String)
    /// An endpoint's host name has no address now.
    case unresolvedEndpoint(String, reason: String)
    /// The configuration has the same peer twice.
    case duplicatePeer(PublicKey)
    /// Another process serves the control socket of this name.
    case controlSocketInUse(path: String)
    /// The control socket is not there; the reason names the path and the cause.
    case controlSocketUnavailable(reason: String)
    /// The system has no room for a thread or a descriptor.
    case outOfResources(reason: String)
    /// The set request makes no sense; the reason names the line and never holds a secret.
    case invalidRequest(reason: String)
    /// The tunnel was started before.
    case alreadyRunning
    /// The tunnel was not started, or it has ended.
    case notRunning
    /// The log handler called the tunnel that waits for it.
    case calledFromHandler

    /// One sentence that names the culprit.
    public var description: String {
        switch self {
        case .invalidName(let name):
            "'\(name)' can not be the name of an interface: 1 to 15 bytes without '/', ':' and white space"
        case .interfaceUnavailable(let name, let reason): "interface \(name) can not be used: \(reason)"
        case .portInUse(let port): "UDP port \(port) is in use by another socket"
        case .transportUnavailable(let reason): "UDP can not be used: \(reason)"
        case .unresolvedEndpoint(let endpoint, let reason): "endpoint \(endpoint) has no address: \(reason)"
        case .duplicatePeer(let key): "peer \(key) is configured twice"
        case .controlSocketInUse(let path): "\(path) is served by another process"
        case .controlSocketUnavailable(let reason): reason
        case .outOfResources(let reason): "the system has no room left: \(reason)"
        case .invalidRequest(let reason): "the request is refused at \(reason)"
        case .alreadyRunning: "the tunnel is running already"
        case .notRunning: "the tunnel is not running"
        case .calledFromHandler: "the log handler can not wait for the tunnel that called it"
        }
    }
}
