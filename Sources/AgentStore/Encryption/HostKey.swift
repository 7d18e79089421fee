// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium

/// The key of 256 bits under which the stores of this host are encrypted; printing it shows nothing.
final class HostKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The size of a key.
    static let byteCount = 32

    private let key: ErasedBuffer
    /// Says which key it is without telling anything about it: 16 hexadecimal digits.
    let identifier: String

    /// Takes 32 bytes; `nil` for any other size.
    convenience init?(_ key: ErasedBuffer) {
        guard key.count == Self.byteCount else { return nil }
        self.init(ofRightSize: key)
    }

    /// Draws a key.
    convenience init() {
        let key = ErasedBuffer(capacity: Self.byteCount)
        key.append(room: Self.byteCount) { room in
            randombytes_buf(room.octets, room.count)
            return room.count
        }
        self.init(ofRightSize: key)
    }

    private init(ofRightSize key: ErasedBuffer) {
        self.key = key
        let named = ErasedBuffer()
        named.append("nexusguard host key identifier")
        named.append(key)
        identifier = Hexadecimal.text(Array(named.withBytes { StoreSodium.sha256($0) }.prefix(8)))
    }

    /// Calls `body` with the 32 bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { key.withBytes(body) }

    var description: String { "HostKey(hidden)" }

    var customMirror: Mirror { Mirror(self, children: [:]) }
}
