// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import Testing

@Suite("forwards")
struct ForwardTests {
    /// The answer with one field of its one forward changed.
    private static func answer(_ changes: [String: Any], absent: String? = nil) throws -> [UInt8] {
        var forward = Sample.forward.merging(changes) { $1 }
        if let absent { forward[absent] = nil }
        return [UInt8](try JSONSerialization.data(withJSONObject: ["forwards": [forward]]))
    }

    @Test("each field of a forward is missed by its place and name", arguments: Sample.forward.keys.sorted())
    func missing(_ name: String) throws {
        let json = try Self.answer([:], absent: name)
        #expect(throws: AgentError.configInvalid(field: "forwards[0].\(name)", reason: "is missing")) {
            try ForwardsResponse(parsing: json)
        }
    }

    @Test("bad values are refused by their place and name")
    func refused() throws {
        let cases: [(String, [Any])] = [
            ("protocol", ["icmp", "", 6, "tcp ", "tcp\n", NSNull()]),
            ("public_port", [0, -1, 65536, 1.5, "80", true, 1e300]),
            ("target_port", [0, -1, 65536, 1.5, "80", true]),
            (
                "target_ip",
                ["", "10.0.0", "0.0.0.0", "::", "224.0.0.1", "10.0.0.1/32", "host", 5, "10.0.0.1\u{1B}"]
            ),
        ]
        for (name, values) in cases {
            for value in values {
                let json = try Self.answer([name: value])
                let error = #expect(throws: AgentError.self) { try ForwardsResponse(parsing: json) }
                guard case .configInvalid("forwards[0].\(name)", _)? = error else {
                    Issue.record("\(name) \(value): \(String(describing: error))")
                    continue
                }
            }
        }
    }

    @Test("lists of another kind, too long ones and ports given twice are refused")
    func lists() throws {
        for text in ["{}", "{\"forwards\":{}}", "{\"forwards\":[1]}", "{\"forwards\":[[]]}", "[]"] {
            #expect(throws: AgentError.self) { try ForwardsResponse(parsing: Array(text.utf8)) }
        }
        let many = (0..<513).map {
            ["protocol": "udp", "public_port": $0 + 1, "target_ip": "::5", "target_port": 1] as [String: Any]
        }
        let tooMany = [UInt8](try JSONSerialization.data(withJSONObject: ["forwards": many]))
        #expect(throws: AgentError.configInvalid(field: "forwards", reason: "has more than 512 items")) {
            try ForwardsResponse(parsing: tooMany)
        }
        let most = [UInt8](
            try JSONSerialization.data(withJSONObject: ["forwards": Array(many.dropLast())]))
        #expect(try ForwardsResponse(parsing: most).forwards.count == 512)
        let twice = [UInt8](
            try JSONSerialization.data(withJSONObject: ["forwards": [Sample.forward, Sample.forward]]))
        #expect(
            throws: AgentError.configInvalid(field: "forwards[1].public_port", reason: "is given twice")
        ) { try ForwardsResponse(parsing: twice) }
        var udp = Sample.forward
        udp["protocol"] = "UDP"
        let both = [UInt8](try JSONSerialization.data(withJSONObject: ["forwards": [Sample.forward, udp]]))
        #expect(try ForwardsResponse(parsing: both).forwards.map(\.transportProtocol) == [.tcp, .udp])
    }

    @Test("camel case is read too")
    func camelCase() throws {
        let text = """
            {"forwardsHash":"h","forwards":[{"protocol":"tcp","publicPort":8443,"targetIp":"10.172.21.2","targetPort":443}]}
            """
        let response = try ForwardsResponse(parsing: Array(text.utf8))
        #expect(response.forwardsHash == "h")
        #expect(response.forwards == (try Sample.config().forwards))
    }

    @Test("a forward in a snapshot has the names of the interface and is checked when it is read")
    func codable() throws {
        let forward = try #require(try Sample.config().forwards?.first)
        let data = try JSONEncoder().encode(forward)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(NSDictionary(dictionary: object) == NSDictionary(dictionary: Sample.forward))
        #expect(try JSONDecoder().decode(PortForward.self, from: data) == forward)
        for (name, value) in [("public_port", 0), ("target_port", 0), ("target_ip", "x"), ("protocol", "x")]
            as [(String, Any)]
        {
            let bad = try JSONSerialization.data(withJSONObject: Sample.forward.merging([name: value]) { $1 })
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(PortForward.self, from: bad) }
        }
    }
}
