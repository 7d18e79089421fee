// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// The replay window.
enum WindowBenchmarks {
    static let all = [
        Benchmark("window.in-order") {
            var window = ReplayWindow()
            var next: UInt64 = 0
            return { count in
                for _ in 0..<count {
                    keep(window.accept(next))
                    next += 1
                }
            }
        },
        Benchmark("window.reordered") {
            var window = ReplayWindow()
            var next: UInt64 = 0
            return { count in
                // Each block of eight arrives last one first.
                for _ in 0..<count {
                    keep(window.accept(next ^ 7))
                    next += 1
                }
            }
        },
        Benchmark("window.refused") {
            var window = ReplayWindow()
            for counter in 0..<10_000 as Range<UInt64> { keep(window.accept(counter)) }
            return { count in
                for _ in 0..<count { keep(window.accept(9_999)) }
            }
        },
    ]
}
