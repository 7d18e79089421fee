// SPDX-License-Identifier: MIT

package import WireGuardCrypto
package import WireGuardProtocol

/// Writes the answer to a get operation of the cross-platform userspace interface.
///
/// Order and forms are those of wireguard-go; `wg` depends on the public key coming first in a peer.
package enum UAPIGetWriter {
    /// Writes the lines of a device and its peers, without the `errno=` line that ends the answer.
    ///
    /// - Parameters:
    ///   - snapshot: What to write.
    ///   - zoneName: Gives the name of the interface with this index; without one the index is written.
    package static func write(_ snapshot: DeviceSnapshot, zoneName: (UInt32) -> String? = { _ in nil })
        -> SecretBuffer
    {
        // 360 bytes hold a peer with one allowed IP; a wrong guess costs no more than a copy.
        var buffer = SecretBuffer(capacity: 256 + 360 * snapshot.peers.count)
        if let privateKey = snapshot.privateKey {
            buffer.append("private_key=")
            privateKey.withSecret { $0.withBytes { buffer.append(hexadecimal: $0) } }
            buffer.append(byte: newline)
        }
        if snapshot.listenPort != 0 { append("listen_port=", UInt64(snapshot.listenPort), to: &buffer) }
        if snapshot.firewallMark != 0 { append("fwmark=", UInt64(snapshot.firewallMark), to: &buffer) }
        for peer in snapshot.peers { append(peer, zoneName: zoneName, to: &buffer) }
        return buffer
    }

    /// Adds the lines of one peer.
    private static func append(
        _ peer: PeerSnapshot, zoneName: (UInt32) -> String?, to buffer: inout SecretBuffer
    ) {
        buffer.append("public_key=")
        peer.publicKey.withBytes { buffer.append(hexadecimal: $0) }
        buffer.append("\npreshared_key=")
        if let presharedKey = peer.presharedKey {
            presharedKey.withSecret { $0.withBytes { buffer.append(hexadecimal: $0) } }
        } else {
            buffer.append("0000000000000000000000000000000000000000000000000000000000000000")
        }
        buffer.append("\nprotocol_version=1\n")
        if let endpoint = peer.endpoint {
            buffer.append("endpoint=")
            if endpoint.address.isIPv6, endpoint.scopeIdentifier != 0 {
                let zone = zoneName(endpoint.scopeIdentifier) ?? "\(endpoint.scopeIdentifier)"
                buffer.append(text: "[\(endpoint.address)%\(zone)]:\(endpoint.port)")
            } else {
                buffer.append(text: endpoint.description)
            }
            buffer.append(byte: newline)
        }
        // A clock before 1970 has no form here.
        append("last_handshake_time_sec=", UInt64(max(peer.latestHandshake.seconds, 0)), to: &buffer)
        append("last_handshake_time_nsec=", UInt64(peer.latestHandshake.nanoseconds), to: &buffer)
        append("tx_bytes=", peer.sentByteCount, to: &buffer)
        append("rx_bytes=", peer.receivedByteCount, to: &buffer)
        append("persistent_keepalive_interval=", UInt64(peer.persistentKeepalive), to: &buffer)
        for prefix in peer.allowedIPs {
            buffer.append("allowed_ip=")
            buffer.append(text: prefix.address.description)
            buffer.append(byte: UInt8(ascii: "/"))
            append("", UInt64(prefix.length), to: &buffer)
        }
    }

    /// Adds a line with a number.
    private static func append(_ key: StaticString, _ number: UInt64, to buffer: inout SecretBuffer) {
        buffer.append(key)
        buffer.append(decimal: number)
        buffer.append(byte: newline)
    }

    private static let newline = UInt8(ascii: "\n")
}
