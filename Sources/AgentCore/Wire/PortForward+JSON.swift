// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The JSON form: `{"protocol", "public_port", "target_ip", "target_port"}`.
extension PortForward: Codable {
    /// The most forwards of a device.
    public static let largestCount = 512

    private enum CodingKeys: String, CodingKey {
        case transportProtocol = "protocol"
        case publicPort = "public_port"
        case targetAddress = "target_ip"
        case targetPort = "target_port"
    }

    /// Decodes the JSON form; ports of 0 and addresses that are none are refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func port(_ key: CodingKeys) throws -> UInt16 {
            let port = try container.decode(UInt16.self, forKey: key)
            guard port > 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "0 is no port")
            }
            return port
        }
        let text = try container.decode(String.self, forKey: .targetAddress)
        guard let address = try? IPAddress(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .targetAddress, in: container, debugDescription: "not an IP address")
        }
        self.init(
            transportProtocol: try container.decode(TransportProtocol.self, forKey: .transportProtocol),
            publicPort: try port(.publicPort), targetAddress: address, targetPort: try port(.targetPort))
    }

    /// Encodes the JSON form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(transportProtocol, forKey: .transportProtocol)
        try container.encode(publicPort, forKey: .publicPort)
        try container.encode(targetAddress.description, forKey: .targetAddress)
        try container.encode(targetPort, forKey: .targetPort)
    }

    /// Reads one forward.
    init(_ fields: JSONFields) throws(AgentError) {
        let name = try fields.required("protocol", fields.text("protocol", limit: 16))
        guard let transportProtocol = TransportProtocol(rawValue: name.lowercased()) else {
            throw fields.invalid("protocol", "\(ShownText.value(name)) is neither tcp nor udp")
        }
        let text = try fields.required("target_ip", fields.text("target_ip", limit: 64))
        guard let address = try? IPAddress(text) else {
            throw fields.invalid("target_ip", "\(ShownText.value(text)) is not an IP address")
        }
        guard !AddressRules.isUnspecified(address), !AddressRules.isMulticast(address) else {
            throw fields.invalid("target_ip", "\(address) is not the address of a host")
        }
        let ports = 1...65535
        let publicPort = try fields.required("public_port", fields.integer("public_port", in: ports))
        let targetPort = try fields.required("target_port", fields.integer("target_port", in: ports))
        self.init(
            transportProtocol: transportProtocol, publicPort: UInt16(publicPort), targetAddress: address,
            targetPort: UInt16(targetPort))
    }

    /// Reads the field `forwards` of an object; `nil` when it is absent.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field, also when a public port comes twice.
    package static func list(of fields: JSONFields) throws(AgentError) -> [PortForward]? {
        guard let items = try fields.array("forwards", limit: largestCount) else { return nil }
        struct PublicPort: Hashable {
            let transportProtocol: TransportProtocol
            let number: UInt16
        }
        var seen: Set<PublicPort> = []
        var forwards: [PortForward] = []
        for (index, item) in items.enumerated() {
            let forward = try PortForward(JSONFields(item, path: "forwards[\(index)]"))
            let port = PublicPort(
                transportProtocol: forward.transportProtocol, number: forward.publicPort)
            guard seen.insert(port).inserted else {
                throw fields.invalid("forwards[\(index)].public_port", "is given twice")
            }
            forwards.append(forward)
        }
        return forwards
    }

    /// Writes the member `forwards` of an object.
    package static func write(_ forwards: [PortForward], to writer: inout JSONWriter) {
        writer.name("forwards")
        writer.beginArray()
        for forward in forwards {
            writer.beginObject()
            writer.member("protocol", forward.transportProtocol.rawValue)
            writer.member("public_port", Int(forward.publicPort))
            writer.member("target_ip", forward.targetAddress.description)
            writer.member("target_port", Int(forward.targetPort))
            writer.endObject()
        }
        writer.endArray()
    }
}
