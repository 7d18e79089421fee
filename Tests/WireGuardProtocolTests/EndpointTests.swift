// SPDX-License-Identifier: MIT

import Testing
import WireGuardProtocol

@Suite("Endpoint")
struct EndpointTests {
    @Test(
        "an endpoint is read and written back the same",
        arguments: [
            "192.0.2.1:51820", "[2001:db8::1]:51820", "[fe80::1%eth0]:51820", "[fe80::1%3]:1", "[::]:65535",
            "vpn.example.com:51820", "vpn_1.example-2.com:443", "localhost:1", "b\u{FC}cher.example:51820",
            "[::ffff:192.0.2.1]:51820", "1.example:80",
        ])
    func roundTrip(text: String) throws {
        let endpoint = try Endpoint(text)
        #expect(endpoint.description == text)
        #expect(try Endpoint(endpoint.description) == endpoint)
    }

    @Test("an endpoint has its parts")
    func parts() throws {
        let scoped = try Endpoint("[FE80::1%eth0]:051820")
        #expect(scoped.host == .address(try IPAddress("fe80::1"), zone: "eth0"))
        #expect(scoped.port == 51_820)
        #expect(scoped.description == "[fe80::1%eth0]:51820")
        #expect(try Endpoint("192.0.2.1:80").host == .address(try IPAddress("192.0.2.1"), zone: nil))
        #expect(try Endpoint("Host.Example:80").host == .name("Host.Example"))
    }

    @Test(
        "an IPv6 address without brackets is refused, never read as a host and a port",
        arguments: [
            "2001:db8::1:51820", "::1:51820", "::1", "fe80::1%eth0:51820", "1:2:3:4:5:6:7:8", "[::1:80",
        ])
    func needsBrackets(text: String) {
        #expect(throws: AddressError.needsBrackets(text)) { try Endpoint(text) }
        #expect(AddressError.needsBrackets(text).description.contains("needs brackets"))
    }

    @Test(
        "an endpoint without a port is refused and named whole",
        arguments: [
            "", "192.0.2.1", "vpn.example.com", "[2001:db8::1]", "[2001:db8::1]:", "192.0.2.1:",
            "vpn.example.com:", "[2001:db8::1]51820", "[::1] :80",
        ])
    func missingPort(text: String) {
        #expect(throws: AddressError.missingPort(text)) { try Endpoint(text) }
    }

    @Test(
        "a port that is not 1 to 65535 is refused",
        arguments: ["0", "65536", "-1", "+1", "1 ", " 1", "x", "0x50", "８0"])
    func badPort(port: String) {
        #expect(throws: AddressError.invalidPort(port)) { try Endpoint("192.0.2.1:\(port)") }
        #expect(throws: AddressError.invalidPort(port)) { try Endpoint("[::1]:\(port)") }
        #expect(throws: AddressError.invalidPort(port)) { try Endpoint("host:\(port)") }
    }

    @Test(
        "brackets hold an IPv6 address and perhaps a zone, nothing else",
        arguments: [
            "192.0.2.1", "host", "", "::g", "fe80::1%", "fe80::1%a b", "fe80::1%a\nb", "fe80::1%a%b",
            "fe80::1%a/b", "fe80::1%abcdefghijklmnop", " ::1", "%eth0",
        ])
    func badBrackets(inner: String) {
        #expect(throws: AddressError.self) { try Endpoint("[\(inner)]:51820") }
    }

    @Test(
        "a host that is neither an address nor a host name is refused",
        arguments: [
            "", " ", "192.0.2", "192.0.2.256", "1.2.3.4.5", "a b", "a/b", "a,b", "user@host", "-", "..",
            "a\n",
        ])
    func badHost(host: String) {
        #expect(throws: AddressError.invalidHostName(host)) { try Endpoint("\(host):51820") }
    }

    @Test("a host name has at most 253 bytes")
    func longHost() {
        let longest = String(repeating: "a", count: 253)
        #expect(throws: Never.self) { try Endpoint("\(longest):1") }
        #expect(throws: AddressError.invalidHostName(longest + "a")) { try Endpoint("\(longest)a:1") }
    }

    @Test("a socket address is written with brackets and a numeric scope")
    func socketAddress() throws {
        let ipv4 = SocketAddress(address: try IPAddress("192.0.2.1"), port: 1)
        let ipv6 = SocketAddress(address: try IPAddress("2001:db8::1"), port: 2)
        let scoped = SocketAddress(address: try IPAddress("fe80::1"), port: 3, scopeIdentifier: 7)
        #expect(ipv4.description == "192.0.2.1:1")
        #expect(ipv6.description == "[2001:db8::1]:2")
        #expect(scoped.description == "[fe80::1%7]:3")
    }
}
