// SPDX-License-Identifier: MIT

import Harness

/// The content of `handshake.json`.
struct HandshakeVectors: Decodable {
    /// One whole handshake with fixed inputs.
    struct Handshake: Decodable, CustomStringConvertible {
        /// The fixed inputs of both sides.
        struct Inputs: Decodable {
            let initiator_static_private: HexBytes
            let initiator_static_public: HexBytes
            let responder_static_private: HexBytes
            let responder_static_public: HexBytes
            let initiator_ephemeral_private: HexBytes
            let responder_ephemeral_private: HexBytes
            let preshared_key: HexBytes
            let timestamp: HexBytes
            let initiator_index: UInt32
            let responder_index: UInt32
            let initiation_cookie: HexBytes
            let response_cookie: HexBytes
        }
        /// A value on the way.
        struct Step: Decodable {
            let name: String
            let value: HexBytes
        }

        let name: String
        let inputs: Inputs
        let initiation_steps: [Step]
        let response_steps: [Step]
        let initiation: HexBytes
        let response: HexBytes
        let initiator_send_key: HexBytes
        let initiator_receive_key: HexBytes
        let first_keepalive_from_initiator: HexBytes
        let inner_packet: HexBytes
        let second_packet_from_initiator: HexBytes
        let first_packet_from_responder: HexBytes

        var description: String { name }

        /// The value of a step, or nothing when there is none of that name.
        func step(_ name: String) -> [UInt8] {
            (initiation_steps + response_steps).first { $0.name == name }?.value.bytes ?? []
        }
    }

    let handshakes: [Handshake]

    /// All handshakes of the file.
    static func load() throws -> [Handshake] {
        try Fixture.load("vectors/handshake.json", as: HandshakeVectors.self).handshakes
    }
}
