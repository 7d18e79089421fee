// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("UAPI as other programs speak it")
struct UAPICaptureTests {
    @Test("what wg sends for setconf, syncconf and set is read as meant")
    func sentByWg() throws {
        let bytes = try Fixtures.bytes("uapi/sent-by-wg.txt")
        let file = try ConfigurationFile(parsing: try Fixtures.text("configuration/good/showconf.conf"))
        var reader = UAPIRequestReader()
        reader.append(bytes.span.bytes)
        var changes: [ConfigurationChange] = []
        var gets = 0
        while let request = reader.next() {
            switch request {
            case .get: gets += 1
            case .set:
                changes.append(
                    try reader.withBody { (body) throws(UAPIError) in
                        try UAPISetParser.parse(body, resolvingZone: { _ in nil })
                    })
            case .refused(let status): Issue.record("a request of wg is refused with \(status.rawValue)")
            }
        }
        try #require(changes.count == 3)
        #expect(gets == 1)
        #expect(changes.map(\.replacesPeers) == [true, false, false])
        #expect(changes.map(\.listenPort) == [51899, 51899, nil])
        #expect(changes.map(\.firewallMark) == [51, 51, 0])
        for change in changes.prefix(2) {
            guard case .set(let key) = change.privateKey else {
                Issue.record("the private key is not set")
                return
            }
            #expect(key.isEqual(to: file.tunnel.privateKey))
            #expect(change.peers.map(\.publicKey) == file.tunnel.peers.map(\.publicKey))
            #expect(change.peers.map { $0.allowedIPs.map(\.prefix) } == file.tunnel.peers.map(\.allowedIPs))
            #expect(
                change.peers.map { $0.endpoint?.description }
                    == file.tunnel.peers.map { $0.endpoint?.description })
            #expect(change.peers.map(\.persistentKeepalive) == [25, nil])
            #expect(change.peers.map(\.replacesAllowedIPs) == [true, true])
        }
        guard case .clear = changes[2].privateKey else {
            Issue.record("the private key is not cleared")
            return
        }
        #expect(changes[2].peers.map(\.isRemoval) == [false, true])
        #expect(changes[2].peers[0].presharedKey?.isZero == true)
        #expect(changes[2].peers[0].persistentKeepalive == 0)
    }

    @Test("the answer for a device is that of wireguard-go, byte for byte")
    func getOfWireGuardGo() throws {
        let tunnel = try ConfigurationFile(parsing: try Fixtures.text("configuration/good/showconf.conf"))
            .tunnel
        let peers = try tunnel.peers.map { peer in
            var snapshot = PeerSnapshot(publicKey: peer.publicKey)
            snapshot.presharedKey = peer.presharedKey
            snapshot.persistentKeepalive = peer.persistentKeepalive
            snapshot.allowedIPs = peer.allowedIPs
            if let endpoint = peer.endpoint, case .address(let address, _) = endpoint.host {
                snapshot.endpoint = SocketAddress(address: address, port: endpoint.port)
            }
            try #require(snapshot.endpoint != nil)
            return snapshot
        }
        var answer = UAPIGetWriter.write(
            DeviceSnapshot(
                privateKey: tunnel.privateKey, listenPort: tunnel.listenPort,
                firewallMark: tunnel.firewallMark,
                peers: peers))
        UAPIReply.append(.success, to: &answer)
        let text = Samples.text(answer)
        let expected = try Fixtures.text("uapi/get-from-wireguard-go.txt")
        #expect(text == expected)
    }
}
