// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

/// BLAKE2s and what is made of it.
enum HashBenchmarks {
    static let all =
        [64, 1_024].map { hash($0) } + [
            Benchmark("hash.kdf") {
                var chainingKey = SecretKey(randomFrom: SystemRandomSource())
                let input = [UInt8](repeating: 7, count: 32)
                return { count in
                    for _ in 0..<count { NoiseKDF.derive(input.span.bytes, updating: &chainingKey) }
                }
            },
            Benchmark("hash.mac1-check") {
                let checker = CookieChecker()
                let party = HandshakeParties()
                let message = party.initiation()
                return { count in
                    for _ in 0..<count { keep(checker.isMAC1Valid(message.bytes, local: party.responder)) }
                }
            },
        ]

    private static func hash(_ byteCount: Int) -> Benchmark {
        Benchmark("hash.blake2s.\(byteCount)", byteCount: byteCount) {
            let message = [UInt8](repeating: 7, count: byteCount)
            var result = [UInt8](repeating: 0, count: 32)
            return { count in
                for _ in 0..<count {
                    var span = result.mutableSpan
                    var output = span.mutableBytes
                    BLAKE2s.hash(message.span.bytes, into: &output)
                }
            }
        }
    }
}
