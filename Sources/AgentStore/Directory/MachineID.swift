// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc

/// The number that names this installation of the operating system (machine-id(5)).
///
/// Whoever knows it could link this host's identities in other programs, so only a form made for this agent
/// leaves the host.
struct MachineID: Sendable {
    /// Where the system keeps it.
    static let defaultPath = "/etc/machine-id"
    /// Names this agent to the derivation; drawn once at random, never to change.
    private static let application: [UInt8] = [
        0x5E, 0x1D, 0xB0, 0x0A, 0xC7, 0x52, 0x4F, 0x7B, 0x9A, 0x36, 0x08, 0xE4, 0xD1, 0x6F, 0x93, 0x2C,
    ]

    /// 16 bytes.
    private let bytes: [UInt8]

    /// Reads the file; `nil` when it is absent, not filled yet, or has another form.
    init?(contentsOf path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        guard count > 0 else { return nil }
        self.init(String(decoding: text.prefix(count), as: UTF8.self))
    }

    /// Reads 32 hexadecimal digits with or without a line feed; `nil` for any other text and for zero.
    init?(_ text: String) {
        let digits = text.hasSuffix("\n") ? text.dropLast() : text[...]
        guard digits.utf8.count == 32, let bytes = Hexadecimal.bytes(String(digits)),
            bytes.contains(where: { $0 != 0 })
        else { return nil }
        self.bytes = bytes
    }

    /// The form of it that is this agent's own: 32 lowercase hexadecimal digits.
    ///
    /// The same as `sd_id128_get_machine_app_specific`: HMAC-SHA-256 keyed with the machine-id over the
    /// application's identifier, its first half marked as a random UUID (RFC 9562 section 5.4).
    var applicationSpecific: String {
        var identifier = Array(CryptoManager.hmacSHA256(Self.application, key: bytes).prefix(16))
        identifier[6] = identifier[6] & 0x0F | 0x40
        identifier[8] = identifier[8] & 0x3F | 0x80
        return Hexadecimal.text(identifier)
    }
}
