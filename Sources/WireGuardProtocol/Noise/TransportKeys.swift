// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// What a finished handshake leaves: the keys and indices of a keypair.
package struct TransportKeys: ~Copyable, Sendable {
    /// The key that this host seals with.
    package let sendKey: SecretKey
    /// The key that this host opens with.
    package let receiveKey: SecretKey
    /// The index by which the peer addresses this host.
    package let localIndex: UInt32
    /// The index by which this host addresses the peer.
    package let remoteIndex: UInt32

    /// Takes ownership of the keys.
    package init(
        sendKey: consuming SecretKey, receiveKey: consuming SecretKey, localIndex: UInt32, remoteIndex: UInt32
    ) {
        self.sendKey = sendKey
        self.receiveKey = receiveKey
        self.localIndex = localIndex
        self.remoteIndex = remoteIndex
    }
}
