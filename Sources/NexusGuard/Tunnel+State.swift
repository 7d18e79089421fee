// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardCrypto
public import WireGuardProtocol

extension Tunnel {
    /// What the tunnel did so far; all zero when it does not run.
    ///
    /// Also all zero in the log handler, which can not wait for the tunnel.
    public var statistics: TunnelStatistics {
        guard let (snapshot, drops) = try? snapshot() else { return TunnelStatistics() }
        return TunnelStatistics(snapshot, drops: drops)
    }

    /// The configuration that runs now, with the endpoints to which peers roamed.
    ///
    /// - Throws: `TunnelError.notRunning`, also when the tunnel has no private key yet, or
    ///   `.calledFromHandler`.
    public func runtimeConfiguration() throws(TunnelError) -> TunnelConfiguration {
        let (snapshot, _) = try snapshot()
        guard let privateKey = snapshot.privateKey else { throw .notRunning }
        let peers = snapshot.peers.map { peer in
            PeerConfiguration(
                publicKey: peer.publicKey, presharedKey: peer.presharedKey, allowedIPs: peer.allowedIPs,
                endpoint: peer.endpoint.map { Endpoint($0) }, persistentKeepalive: peer.persistentKeepalive)
        }
        return TunnelConfiguration(
            privateKey: privateKey, listenPort: snapshot.listenPort, firewallMark: snapshot.firewallMark,
            peers: peers)
    }

    /// The answer to a get operation of the cross-platform userspace interface, without its `errno=` line.
    ///
    /// The text holds the private key and stays in memory until the string is gone and its memory used anew.
    ///
    /// - Throws: `TunnelError.notRunning` or `.calledFromHandler`.
    public func uapiGet() throws(TunnelError) -> String {
        let (snapshot, _) = try snapshot()
        return UAPIGetWriter.write(snapshot, zoneName: InterfaceIndex.name).withBytes { bytes in
            bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Applies the lines of a set operation of the cross-platform userspace interface, all of them or none.
    ///
    /// - Parameter text: The lines behind `set=1`.
    /// - Throws: `TunnelError`, such as `.invalidRequest` with the line that is refused.
    public func uapiSet(_ text: String) throws(TunnelError) {
        let run = try presentRun()
        let change: ConfigurationChange
        do {
            change = try UAPISetParser.parse(text.utf8.span.bytes, resolvingZone: InterfaceIndex.index)
        } catch {
            throw .invalidRequest(reason: error.description)
        }
        _ = try run.call(.apply(change))
    }

    /// The state of the device.
    private func snapshot() throws(TunnelError) -> (DeviceSnapshot, DropCounters) {
        guard case .snapshot(let snapshot, let drops) = try presentRun().call(.snapshot) else {
            throw .notRunning
        }
        return (snapshot, drops)
    }
}

extension Endpoint {
    /// The endpoint that a socket address stands for.
    init(_ address: SocketAddress) {
        let scope = address.scopeIdentifier
        let zone = scope == 0 ? nil : InterfaceIndex.name(scope) ?? "\(scope)"
        self.init(host: .address(address.address, zone: zone), port: address.port)
    }
}
