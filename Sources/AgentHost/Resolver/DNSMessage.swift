// SPDX-License-Identifier: MIT

internal import NexusGuard

/// Questions and answers of the domain name system (RFC 1035), as far as addresses need it.
enum DNSMessage {
    /// What is asked for.
    enum RecordType: UInt16 {
        /// An IPv4 address (`A`).
        case ipv4 = 1
        /// An IPv6 address (`AAAA`).
        case ipv6 = 28
    }

    /// What an answer says.
    enum Answer: Hashable {
        /// These addresses, perhaps none.
        case addresses([IPAddress])
        /// The name does not exist.
        case noSuchName
        /// The server can or will not tell.
        case failure(code: UInt8)
        /// The answer did not fit into a datagram.
        case truncated
    }

    private static let aliasType: UInt16 = 5
    private static let internetClass: UInt16 = 1
    private static let headerByteCount = 12
    private static let mostAliases = 16

    /// The question for the addresses of a name; `nil` when it is no host name.
    static func question(_ name: String, _ type: RecordType, identifier: UInt16) -> [UInt8]? {
        guard let encoded = encode(name) else { return nil }
        // One question, recursion desired.
        var bytes: [UInt8] = big(identifier) + [0x01, 0x00] + big(1) + big(0) + big(0) + big(0)
        bytes += encoded + big(type.rawValue) + big(internetClass)
        return bytes
    }

    /// Reads an answer.
    ///
    /// - Returns: `nil` when it is not one to this question.
    static func answer(_ bytes: [UInt8], to name: String, _ type: RecordType, identifier: UInt16) -> Answer? {
        var reader = Reader(bytes: bytes)
        guard let asked = encode(name), reader.number() == identifier, let flags = reader.number(),
            flags & 0x8000 != 0, let questionCount = reader.number(), let answerCount = reader.number(),
            reader.skip(4), questionCount == 1, let repeated = reader.name(), repeated == folded(asked),
            reader.number() == type.rawValue, reader.number() == internetClass
        else { return nil }
        if flags & 0x0200 != 0 { return .truncated }
        switch flags & 0xf {
        case 0: break
        case 3: return .noSuchName
        default: return .failure(code: UInt8(flags & 0xf))
        }
        var aliases: [[UInt8]: [UInt8]] = [:]
        var found: [(owner: [UInt8], address: IPAddress)] = []
        for _ in 0..<answerCount {
            guard let owner = reader.name(), let kind = reader.number(), let group = reader.number(),
                reader.skip(4), let count = reader.number(), let data = reader.peek(Int(count))
            else { return nil }
            let end = reader.position + Int(count)
            if group == internetClass, kind == aliasType {
                guard let target = reader.name() else { return nil }
                aliases[owner] = target
            } else if group == internetClass, kind == type.rawValue,
                let address = IPAddress(networkBytes: data), address.isIPv6 == (type == .ipv6)
            {
                found.append((owner, address))
            }
            reader.position = end
        }
        // Only what belongs to the name or to what it stands for.
        var owners: Set<[UInt8]> = [repeated]
        var current = repeated
        for _ in 0..<mostAliases {
            guard let next = aliases[current], owners.insert(next).inserted else { break }
            current = next
        }
        return .addresses(found.filter { owners.contains($0.owner) }.map(\.address).unique)
    }

    /// The labels of a name with their lengths; `nil` when a label is empty or too long.
    private static func encode(_ name: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        let trimmed = name.hasSuffix(".") ? name.dropLast() : name[...]
        for label in trimmed.split(separator: ".", omittingEmptySubsequences: false) {
            guard (1...63).contains(label.utf8.count) else { return nil }
            bytes.append(UInt8(label.utf8.count))
            bytes += label.utf8
        }
        bytes.append(0)
        return bytes.count <= 255 ? bytes : nil
    }

    /// The same name in lowercase: names are compared without regard to case (RFC 4343).
    private static func folded(_ name: [UInt8]) -> [UInt8] {
        name.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }
    }

    private static func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xff)] }

    /// Reads a message from its start.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func number() -> UInt16? {
            guard position + 2 <= bytes.count else { return nil }
            defer { position += 2 }
            return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        }

        mutating func skip(_ count: Int) -> Bool {
            position += count
            return position <= bytes.count
        }

        func peek(_ count: Int) -> ArraySlice<UInt8>? {
            position + count <= bytes.count ? bytes[position..<position + count] : nil
        }

        /// A name in lowercase; what it points to lies before it, so that it ends.
        mutating func name() -> [UInt8]? {
            var name: [UInt8] = []
            var index = position
            var lowest = position
            var end: Int?
            while index < bytes.count {
                let length = bytes[index]
                if length & 0xc0 == 0xc0 {
                    guard index + 1 < bytes.count else { return nil }
                    let target = Int(length & 0x3f) << 8 | Int(bytes[index + 1])
                    guard target < lowest else { return nil }
                    if end == nil { end = index + 2 }
                    lowest = target
                    index = target
                } else if length == 0 {
                    position = end ?? index + 1
                    return DNSMessage.folded(name + [0])
                } else {
                    let next = index + 1 + Int(length)
                    guard length < 64, next <= bytes.count, name.count + Int(length) < 255 else { return nil }
                    name += bytes[index..<next]
                    index = next
                }
            }
            return nil
        }
    }
}
