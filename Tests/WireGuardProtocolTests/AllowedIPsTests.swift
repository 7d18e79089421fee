// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardProtocol

@Suite("AllowedIPs")
struct AllowedIPsTests {
    private struct File: Decodable {
        struct Script: Decodable {
            let name: String
            let ops: [Operation]
        }
        struct Operation: Decodable {
            let op: String
            let cidr: String?
            let ip: String?
            let peer: UInt32?
            let expect: Expectation?
        }
        enum Expectation: Decodable {
            case peer(UInt32)
            case prefixes([String])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let peer = try? container.decode(UInt32.self) {
                    self = .peer(peer)
                } else {
                    self = .prefixes(try container.decode([String].self))
                }
            }
        }
        let scripts: [Script]
    }

    @Test("the known scripts get the known answers")
    func knownScripts() throws {
        let file = try Fixture.load("vectors/allowed_ips.json", as: File.self)
        var lookups = 0
        for script in file.scripts {
            var table = AllowedIPs()
            for (step, operation) in script.ops.enumerated() {
                let place: Comment = "script '\(script.name)', step \(step)"
                switch operation.op {
                case "insert":
                    let prefix = try IPPrefix(#require(operation.cidr))
                    table.insert(prefix, peer: try #require(operation.peer))
                case "remove":
                    let prefix = try IPPrefix(#require(operation.cidr))
                    table.remove(prefix, peer: try #require(operation.peer))
                case "remove_peer":
                    table.removeAll(peer: try #require(operation.peer))
                case "lookup":
                    let address = try IPAddress(#require(operation.ip))
                    let found = table.lookup(address)
                    var expected: UInt32?
                    if case .peer(let peer) = operation.expect { expected = peer }
                    #expect(found == expected, place)
                    #expect(Self.lookup(address, in: table) == expected, place)
                    lookups += 1
                case "list":
                    let prefixes = table.prefixes(of: try #require(operation.peer))
                    var expected: [String]?
                    if case .prefixes(let list) = operation.expect { expected = list }
                    #expect(prefixes.map(\.description).sorted() == expected, place)
                default:
                    Issue.record("unknown operation \(operation.op)")
                }
            }
        }
        #expect(lookups > 500)
    }

    @Test("the longest prefix wins, and a shorter one answers when it goes")
    func longestMatch() throws {
        var table = AllowedIPs()
        let all = try IPPrefix("0.0.0.0/0")
        let wide = try IPPrefix("10.0.0.0/8")
        let narrow = try IPPrefix("10.1.0.0/16")
        table.insert(narrow, peer: 2)
        table.insert(all, peer: 0)
        table.insert(wide, peer: 1)
        let address = try IPAddress("10.1.2.3")
        let first = table.lookup(address)
        let wrongOwner = table.remove(narrow, peer: 1)
        let owner = table.remove(narrow, peer: 2)
        let second = table.lookup(address)
        table.removeAll(peer: 1)
        let third = table.lookup(address)
        let other = table.lookup(try IPAddress("::"))
        #expect(first == 2)
        #expect(!wrongOwner)
        #expect(owner)
        #expect(second == 1)
        #expect(third == 0)
        #expect(other == nil)
    }

    @Test("a prefix belongs to one peer at a time")
    func moves() throws {
        var table = AllowedIPs()
        let prefix = try IPPrefix("2001:db8::/32")
        table.insert(prefix, peer: 1)
        table.insert(prefix, peer: 2)
        table.insert(prefix, peer: 2)
        let first = table.prefixes(of: 1)
        let second = table.prefixes(of: 2)
        table.removeAll(peer: 1)
        let count = table.count
        #expect(first.isEmpty)
        #expect(second == [prefix])
        #expect(count == 1)
    }

    @Test("prefixes are listed with IPv4 first, by address and then by length")
    func listing() throws {
        var table = AllowedIPs()
        let sorted = [
            "0.0.0.0/0", "9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/9", "192.168.0.1/32", "::/0", "2001:db8::/32",
            "2001:db8::/64", "2001:db8::1/128", "fe80::/10",
        ]
        for text in sorted.reversed() { table.insert(try IPPrefix(text), peer: 3) }
        let listed = table.prefixes(of: 3)
        let unknown = table.prefixes(of: 1_000)
        #expect(listed.map(\.description) == sorted)
        #expect(unknown.isEmpty)
    }

    @Test("random changes get the answers of a list", arguments: [UInt64(1), 2, 3, 4, 5, 6])
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = AllowedIPs()
        var list: [Entry] = []
        var mismatches = 0
        for step in 0..<4_000 {
            let entry = Entry(randomFrom: &random)
            let place = list.firstIndex { $0.isSamePrefix(as: entry) }
            switch random.below(step / 1_000 % 2 == 0 ? 8 : 12) {
            case 0..<4:
                table.insert(entry.prefix, peer: entry.peer)
                if let place { list[place].peer = entry.peer } else { list.append(entry) }
            case 4..<7:
                let answer = entry.lookup(in: list)
                if table.lookup(entry.address) != answer { mismatches += 1 }
                if Self.lookup(entry.address, in: table) != answer { mismatches += 1 }
            case 7 where random.below(30) == 0:
                table.removeAll(peer: entry.peer)
                list.removeAll { $0.peer == entry.peer }
            default:
                // Of a prefix that is there most of the time, and by its owner most of the time.
                var target = entry
                if !list.isEmpty, random.below(4) > 0 { target = list[random.below(list.count)] }
                if random.below(8) == 0 { target.peer = entry.peer }
                let place = list.firstIndex { $0.isSamePrefix(as: target) && $0.peer == target.peer }
                if table.remove(target.prefix, peer: target.peer) != (place != nil) { mismatches += 1 }
                if let place { list.remove(at: place) }
            }
            if table.count != list.count { mismatches += 1 }
            if step % 400 == 399 {
                for peer: UInt32 in 0..<8 {
                    let expected = list.filter { $0.peer == peer }.map(\.prefix)
                    let listed = table.prefixes(of: peer)
                    if listed.count != expected.count || Set(listed) != Set(expected) { mismatches += 1 }
                }
                // A table that went through removals has the nodes of one that never held more.
                var fresh = AllowedIPs()
                for entry in list.shuffled(using: &random) { fresh.insert(entry.prefix, peer: entry.peer) }
                if table.nodeCount != fresh.nodeCount { mismatches += 1 }
            }
        }
        #expect(mismatches == 0, "seed \(seed)")
        for peer: UInt32 in 0..<8 { table.removeAll(peer: peer) }
        let nodeCount = table.nodeCount
        #expect(nodeCount == 0, "seed \(seed)")
    }

    @Test("130,561 prefixes on one peer are inserted, listed and removed, three times over")
    func manyOnOnePeer() throws {
        var expected: [IPPrefix] = [try IPPrefix("10.0.0.0/8")]
        for number: UInt32 in 0..<65_280 {
            let address = IPAddress(ipv4: 0x0A00_0000 + number * 256)
            expected.append(try #require(IPPrefix(address: address, length: 24 + Int(number % 9))))
        }
        for number: UInt64 in 0..<65_280 {
            let address = IPAddress(ipv6High: 0x2001_0DB8_0000_0000 + number, low: 1)
            expected.append(try #require(IPPrefix(address: address, length: 64 + Int(number % 65))))
        }
        var table = AllowedIPs()
        for round in 0..<3 {
            for prefix in expected { table.insert(prefix, peer: 5) }
            let listed = table.prefixes(of: 5)
            let (count, nodeCount) = (table.count, table.nodeCount)
            #expect(listed == expected)
            #expect(count == 130_561)
            #expect(nodeCount < 2 * count)
            if round == 1 {
                var refused = 0
                for prefix in expected where !table.remove(prefix, peer: 5) { refused += 1 }
                #expect(refused == 0)
            } else {
                table.removeAll(peer: 5)
            }
            let (left, nodesLeft) = (table.count, table.nodeCount)
            let found = table.lookup(try IPAddress("10.0.0.0"))
            #expect(left == 0)
            #expect(nodesLeft == 0)
            #expect(found == nil)
        }
    }

    @Test(
        "100,000 random prefixes get the answers of a dictionary asked for each length",
        arguments: [UInt64(9)])
    func manyRandom(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var table = AllowedIPs()
        var model: [IPPrefix: UInt32] = [:]
        var prefixes: [IPPrefix] = []
        for number in 0..<100_000 {
            let address =
                number % 2 == 0
                ? IPAddress(ipv4: UInt32(truncatingIfNeeded: random.next()))
                : IPAddress(ipv6High: random.next(), low: random.next())
            let length = 8 + random.below(address.bitCount - 7)
            let prefix = try #require(IPPrefix(address: address, length: length))
            let peer = UInt32(random.below(5_000))
            table.insert(prefix, peer: peer)
            if model.updateValue(peer, forKey: prefix) == nil { prefixes.append(prefix) }
        }
        var mismatches = 0
        if table.count != model.count { mismatches += 1 }
        for round in 0..<2 {
            for number in 0..<1_000 {
                var address = prefixes[random.below(prefixes.count)].address
                if number % 4 == 0 { address = IPAddress(ipv4: UInt32(truncatingIfNeeded: random.next())) }
                var expected: UInt32?
                for length in stride(from: address.bitCount, through: 0, by: -1) where expected == nil {
                    expected = IPPrefix(address: address, length: length).flatMap { model[$0] }
                }
                if table.lookup(address) != expected { mismatches += 1 }
            }
            if round == 0 {
                for prefix in prefixes where random.below(2) == 0 {
                    let removed = model.removeValue(forKey: prefix)
                    let peer = try #require(removed)
                    if !table.remove(prefix, peer: peer) { mismatches += 1 }
                }
            }
        }
        let (count, nodeCount) = (table.count, table.nodeCount)
        #expect(mismatches == 0, "seed \(seed)")
        #expect(count == model.count, "seed \(seed)")
        #expect(nodeCount < 2 * count)
    }

    /// Looks an address up as the packet path does: by the bytes of a header, at an odd address.
    private static func lookup(_ address: IPAddress, in table: borrowing AllowedIPs) -> UInt32? {
        let number = ModelAddress(address)
        let bytes = [0] + number.bytes
        return bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return nil }
            return address.isIPv6 ? table.lookup(ipv6: start + 1) : table.lookup(ipv4: start + 1)
        }
    }

    /// A prefix in the list of the naive model.
    private struct Entry {
        var isIPv6: Bool
        /// The address from its first bit on, in the top bits for IPv4.
        var bits: UInt128
        var length: Int
        var peer: UInt32

        /// A prefix in a crowded part of the address space, so that many hold each other.
        init(randomFrom random: inout SeededGenerator) {
            isIPv6 = random.below(2) == 0
            let width = isIPv6 ? 128 : 32
            length = random.below(width + 1)
            bits = UInt128(random.next()) << 64 | UInt128(random.next())
            // Most bits are 0; those that may be 1 lie all over the address.
            let sparse: UInt128 = 0x8100_0018_0000_0001_8000_0000_0000_0003
            bits &= random.below(4) == 0 ? .max : sparse
            bits &= .max << UInt128(128 - width)
            peer = UInt32(random.below(8))
        }

        var address: IPAddress {
            isIPv6
                ? IPAddress(ipv6High: UInt64(bits >> 64), low: UInt64(truncatingIfNeeded: bits))
                : IPAddress(ipv4: UInt32(bits >> 96))
        }

        var prefix: IPPrefix {
            guard let prefix = IPPrefix(address: address, length: length) else {
                preconditionFailure("the length is one of the family")
            }
            return prefix
        }

        func isSamePrefix(as other: Entry) -> Bool {
            length == other.length && holds(other)
        }

        func holds(_ other: Entry) -> Bool {
            isIPv6 == other.isIPv6 && (bits ^ other.bits) >> UInt128(128 - length) == 0
        }

        func lookup(in list: [Entry]) -> UInt32? {
            list.filter { $0.holds(self) }.max { $0.length < $1.length }?.peer
        }
    }
}
