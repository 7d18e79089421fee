// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite("Endpoint resolver")
struct UDPEndpointResolverTests {
    @Test(
        "numeric endpoints become their socket addresses",
        arguments: [
            ("192.0.2.1:51820", "192.0.2.1:51820"), ("[2001:db8::1]:1", "[2001:db8::1]:1"),
            ("[::ffff:192.0.2.9]:7", "192.0.2.9:7"), ("[2001:db8::1%lo]:1", "[2001:db8::1]:1"),
            ("[fe80::1%lo]:65535", "[fe80::1%1]:65535"), ("[fe80::1%4294967295]:9", "[fe80::1%4294967295]:9"),
            ("[fe80::1]:9", "[fe80::1]:9"),
        ])
    func numeric(text: String, expected: String) throws {
        let address = try EndpointResolver.resolve(Endpoint(text))
        #expect(address.description == expected)
    }

    @Test("a zone that is no interface is an error with its name", arguments: ["nosuchif0", "0", "-1"])
    func unknownZone(zone: String) throws {
        let endpoint = try Endpoint("[fe80::1%\(zone)]:51820")
        #expect(throws: EndpointResolutionError.unknownInterface(zone)) {
            try EndpointResolver.resolve(endpoint)
        }
    }

    @Test("a host name becomes one of its addresses, with the endpoint's port")
    func name() throws {
        let address = try EndpointResolver.resolve(Endpoint("localhost:51820"))
        #expect([loopback4, loopback6].contains(address.address))
        #expect(address.port == 51_820)
    }

    @Test("a name without an address is an error that names it")
    func unknownName() throws {
        let endpoint = try Endpoint("a..b:51820")
        let error = #expect(throws: EndpointResolutionError.self) { try EndpointResolver.resolve(endpoint) }
        guard case .lookupFailed(let host, let reason, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(host == "a..b")
        #expect(!reason.isEmpty)
    }
}
