// SPDX-License-Identifier: MIT

public import WireGuardCrypto
public import WireGuardProtocol

/// Something that happened in a running tunnel.
public enum TunnelEvent: Hashable, Sendable, CustomStringConvertible {
    /// The interface is up and datagrams are received on this port.
    case interfaceUp(listenPort: UInt16)
    /// The interface is down: the sockets are closed, and the keys of all sessions are erased.
    case interfaceDown
    /// Somebody removed the interface; the tunnel ends.
    case interfaceRemoved
    /// Packets up to another size now come from the interface.
    case mtuChanged(Int)
    /// The first handshake message to this peer left, or one after a failure.
    case handshakeStarted(PublicKey)
    /// A handshake with this peer completed.
    case handshakeCompleted(PublicKey)
    /// The peer did not answer for 90 seconds; packets that waited for it are dropped.
    case handshakeGivenUp(PublicKey)
    /// The peer's datagrams now come from and go to another address.
    case endpointChanged(PublicKey, SocketAddress)
    /// The peer's initiation has a timestamp that is not newer than its last one: its clock may be behind.
    case clockBehind(PublicKey)
    /// The peer's public key is of low order; no handshake with it can succeed.
    case weakPeerKey(PublicKey)
    /// The peer is loaded without its endpoint, which names an interface that does not exist.
    case endpointUnusable(PublicKey, reason: String)
    /// Whether handshake messages must now prove their source address with a cookie.
    case loadChanged(isUnderLoad: Bool)
    /// The sockets can not be opened; the tunnel goes on without, until the port is set or the interface
    /// comes up anew.
    case transportFailed(String)
    /// The tunnel has ended; no event follows.
    case stopped

    /// Whether the event tells that something went wrong.
    var isError: Bool {
        switch self {
        case .transportFailed, .interfaceRemoved, .weakPeerKey, .endpointUnusable: true
        default: false
        }
    }

    /// One line; of a peer only the ends of its public key.
    public var description: String {
        switch self {
        case .interfaceUp(let port): "interface is up, UDP port \(port) is open"
        case .interfaceDown: "interface is down, UDP port is closed"
        case .interfaceRemoved: "interface was removed"
        case .mtuChanged(let mtu): "MTU is now \(mtu)"
        case .handshakeStarted(let key): "\(key.logName) - sending handshake initiation"
        case .handshakeCompleted(let key): "\(key.logName) - handshake completed"
        case .handshakeGivenUp(let key): "\(key.logName) - no answer for 90 seconds, giving up"
        case .endpointChanged(let key, let address): "\(key.logName) - endpoint is now \(address)"
        case .clockBehind(let key): "\(key.logName) - handshake refused, its clock may be behind"
        case .weakPeerKey(let key): "\(key.logName) - public key is of low order, no handshake is possible"
        case .endpointUnusable(let key, let reason): "\(key.logName) - has no endpoint: \(reason)"
        case .loadChanged(let isUnderLoad):
            isUnderLoad ? "under load, cookies are required" : "no longer under load"
        case .transportFailed(let reason): "UDP failed: \(reason)"
        case .stopped: "tunnel has ended"
        }
    }

    /// The event of the protocol as its owner sees it.
    init(_ event: DeviceEvent) {
        self =
            switch event {
            case .handshakeCompleted(let key): .handshakeCompleted(key)
            case .handshakeStarted(let key): .handshakeStarted(key)
            case .handshakeGivenUp(let key): .handshakeGivenUp(key)
            case .endpointChanged(let key, let address): .endpointChanged(key, address)
            case .clockBehind(let key): .clockBehind(key)
            case .weakPeerKey(let key): .weakPeerKey(key)
            case .loadChanged(let isUnderLoad): .loadChanged(isUnderLoad: isUnderLoad)
            }
    }
}

extension PublicKey {
    /// The form `peer(AbCd…WxYz)` of log lines: enough to tell peers apart.
    var logName: String {
        let text = base64
        return "peer(\(text.prefix(4))…\(text.dropLast().suffix(4)))"
    }
}
