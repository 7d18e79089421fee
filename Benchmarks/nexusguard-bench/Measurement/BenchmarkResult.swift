// SPDX-License-Identifier: MIT

/// What the measurement of one benchmark gave; times are nanoseconds of one operation.
struct BenchmarkResult: Codable, Sendable {
    /// The benchmark.
    let name: String
    /// The time in the fastest round.
    let minimum: Double
    /// The time in the round in the middle.
    let median: Double
    /// The time in the slowest round.
    let maximum: Double
    /// The heap allocations of one operation.
    let allocations: Double
    /// The bytes of payload that one operation handles; 0 when that says nothing.
    let byteCount: Int

    /// The operations in one second, by the median.
    var rate: Double { 1e9 / median }
}
