// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// The look-up of allowed IPs, in tables of random prefixes.
enum RoutingBenchmarks {
    static let all = [false, true].flatMap { isIPv6 in
        [10, 1_000, 100_000].map { lookup(isIPv6: isIPv6, prefixCount: $0) }
    }

    /// The addresses that are looked up in turn, half of them inside a prefix.
    private static let addressCount = 4_096

    private static func lookup(isIPv6: Bool, prefixCount: Int) -> Benchmark {
        Benchmark("allowed-ips.\(isIPv6 ? "ipv6" : "ipv4").\(prefixCount)") {
            let random = SeededRandom(seed: UInt64(prefixCount))
            var table = AllowedIPs()
            var prefixes: [IPPrefix] = []
            while table.count < prefixCount {
                let length = isIPv6 ? 32 + Int(random.next(below: 33)) : 8 + Int(random.next(below: 25))
                guard let prefix = IPPrefix(address: address(isIPv6, random), length: length) else {
                    continue
                }
                table.insert(prefix, peer: UInt32(prefixes.count))
                prefixes.append(prefix)
            }
            let addresses = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * addressCount)
            for index in 0..<addressCount {
                let inside = index % 2 == 0
                let chosen =
                    inside
                    ? prefixes[Int(random.next(below: UInt64(prefixes.count)))].address
                    : address(isIPv6, random)
                addresses[2 * index] = chosen.high.bigEndian
                addresses[2 * index + 1] = chosen.low.bigEndian
            }
            return { count in
                // The addresses stay allocated to the end of the programme.
                for index in 0..<count {
                    let position = UnsafeRawPointer(addresses + 2 * (index % addressCount))
                    keep(isIPv6 ? table.lookup(ipv6: position) : table.lookup(ipv4: position))
                }
            }
        }
    }

    private static func address(_ isIPv6: Bool, _ random: SeededRandom) -> IPAddress {
        isIPv6
            ? IPAddress(ipv6High: 0x2001_0DB8_0000_0000 | random.next() >> 32, low: random.next())
            : IPAddress(ipv4: UInt32(truncatingIfNeeded: random.next()))
    }
}
