// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("Configuration file writer")
struct ConfigurationFileWriterTests {
    @Test("what is written reads the same, for random configurations", arguments: (1...40).map { UInt64($0) })
    func roundTrip(seed: UInt64) throws {
        var generator = Samples.Generator(seed: seed)
        let file = try generator.file()
        let text = file.text
        let again = try ConfigurationFile(parsing: text)
        Samples.expectSame(again, file, "seed \(seed)")
        #expect(again.text == text, "seed \(seed)")
    }

    @Test("a value with line ends inside brings no lines of its own")
    func injection() throws {
        var file = ConfigurationFile(tunnel: TunnelConfiguration(privateKey: PrivateKey()))
        file.postUp = ["true\nListenPort = 1\r\n[Peer]\0"]
        file.searchDomains = ["a\nListenPort = 2"]
        file.tunnel.peers = [
            PeerConfiguration(
                publicKey: PrivateKey().publicKey, endpoint: Endpoint(host: .name("h\n[Interface]"), port: 1))
        ]
        let text = file.text
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("[") || $0.hasPrefix("ListenPort") }.count == 2)
    }

    @Test("only what differs from the defaults is written")
    func minimal() throws {
        let key = PrivateKey()
        let file = ConfigurationFile(tunnel: TunnelConfiguration(privateKey: key))
        #expect(file.text == "[Interface]\nPrivateKey = \(key.base64)\n")
    }
}
