// SPDX-License-Identifier: MIT

import NexusGuard
import NexusGuardControl
import Testing

@Suite("Address pool")
struct AddressPoolTests {
    @Test(
        "the first address is the server's and the next ones are handed out",
        arguments: [
            ("10.172.21.0/24", "10.172.21.1", "10.172.21.2"), ("192.0.2.4/30", "192.0.2.5", "192.0.2.6"),
            ("fd00:1::/64", "fd00:1::1", "fd00:1::2"), ("2001:db8::8/126", "2001:db8::9", "2001:db8::a"),
            ("10.0.0.0/8", "10.0.0.1", "10.0.0.2"),
        ])
    func first(network: String, server: String, device: String) throws {
        let pool = try Samples.pool(network)
        #expect(pool.serverAddress.description == server)
        #expect(pool.firstFree(besides: [])?.description == device)
    }

    @Test("every address but network, broadcast and server is handed out once, then none")
    func exhaustion() throws {
        let pool = try Samples.pool("198.51.100.16/28", server: "198.51.100.20")
        var used: Set<IPAddress> = []
        while let address = pool.firstFree(besides: used) {
            #expect(pool.offers(address))
            #expect(used.insert(address).inserted)
            try #require(used.count <= 16)
        }
        let expected = try (17...30).filter { $0 != 20 }.map { try IPAddress("198.51.100.\($0)") }
        #expect(used == Set(expected))
    }

    @Test("an address that was given back is handed out again")
    func reuse() throws {
        let pool = try Samples.pool()
        let used = try Set((2...20).filter { $0 != 7 }.map { try IPAddress("10.172.21.\($0)") })
        #expect(pool.firstFree(besides: used)?.description == "10.172.21.7")
    }

    @Test("an IPv6 pool hands out its last address too, since there is no broadcast")
    func lastIPv6() throws {
        let pool = try Samples.pool("2001:db8::/126")
        let used = try Set(["2001:db8::2"].map { try IPAddress($0) })
        #expect(pool.firstFree(besides: used)?.description == "2001:db8::3")
        #expect(try pool.offers(IPAddress("2001:db8::3")))
    }

    @Test(
        "network, broadcast, server and strangers are not offered",
        arguments: [
            "10.172.21.0", "10.172.21.255", "10.172.21.1", "10.172.22.2", "fd00::2",
        ])
    func notOffered(address: String) throws {
        #expect(try !Samples.pool().offers(IPAddress(address)))
    }

    @Test(
        "a network without room or without end is refused",
        arguments: [
            "10.0.0.0/31", "10.0.0.0/32", "0.0.0.0/0", "fd00::/127", "fd00::/128", "::/0",
        ])
    func lengths(network: String) throws {
        let prefix = try IPPrefix(network)
        #expect(throws: AddressPoolError.unusableLength(prefix)) { try AddressPool(network: prefix) }
    }

    @Test(
        "a server's address that is none in the network is refused",
        arguments: ["10.172.21.0", "10.172.21.255", "10.172.22.1", "fd00::1"])
    func serverAddresses(address: String) throws {
        let prefix = try IPPrefix("10.172.21.0/24")
        let server = try IPAddress(address)
        #expect(throws: AddressPoolError.unusableServerAddress(server, prefix)) {
            try AddressPool(network: prefix, serverAddress: server)
        }
    }
}
