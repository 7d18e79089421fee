// SPDX-License-Identifier: MIT

/// How much a packet grows before it is sealed (section 5.4.6).
package enum Padding {
    /// The size of a packet's plaintext on the wire: its own, up to the next multiple of 16.
    ///
    /// Padding never takes a packet beyond the interface's MTU. A packet that is longer than the MTU is seen as
    /// whole units of the MTU and a last one, and only the last one grows, up to the MTU.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the packet; 0 for a keepalive, which gets no padding.
    ///   - mtu: The MTU of the tunnel interface, or 0 if it is not known, which then sets no bound.
    package static func paddedByteCount(_ byteCount: Int, mtu: Int) -> Int {
        let padded = (byteCount + multiple - 1) & ~(multiple - 1)
        guard mtu > 0, padded > mtu else { return padded }
        if byteCount <= mtu { return mtu }
        let lastUnit = byteCount % mtu
        let paddedLastUnit = min(mtu, (lastUnit + multiple - 1) & ~(multiple - 1))
        return byteCount - lastUnit + paddedLastUnit
    }

    /// Plaintexts are padded to a multiple of this many bytes.
    private static let multiple = 16
}
