// SPDX-License-Identifier: MIT

internal import CAllocationCounter
internal import Glibc

/// How long and how often benchmarks run.
struct Measurement {
    /// The number of rounds; each gives one time.
    let roundCount: Int
    /// The least time of a round, in nanoseconds.
    let roundNanoseconds: UInt64

    /// The plan for trustworthy numbers.
    static let full = Measurement(roundCount: 9, roundNanoseconds: 60_000_000)
    /// The plan for a quick look.
    static let quick = Measurement(roundCount: 3, roundNanoseconds: 8_000_000)

    /// Runs one benchmark.
    ///
    /// - Throws: What its preparation throws.
    func run(_ benchmark: Benchmark) throws -> BenchmarkResult {
        let body = try benchmark.prepare()
        let callCount = calibrate(body)
        let operations = Double(callCount * benchmark.operationsPerCall)
        var times: [Double] = []
        times.reserveCapacity(roundCount)
        let before = allocation_count()
        for _ in 0..<roundCount { times.append(Double(Self.time(body, callCount)) / operations) }
        let allocations = Double(allocation_count() - before) / Double(roundCount) / operations
        times.sort()
        return BenchmarkResult(
            name: benchmark.name, minimum: times[0], median: times[roundCount / 2],
            maximum: times[roundCount - 1],
            allocations: allocations, byteCount: benchmark.byteCount)
    }

    /// Finds how many calls fill a round; the calls also warm everything up.
    private func calibrate(_ body: (Int) -> Void) -> Int {
        var callCount = 1
        while true {
            let time = max(Self.time(body, callCount), 1)
            if time >= roundNanoseconds { return callCount }
            if time >= roundNanoseconds / 16 {
                return max(1, Int(Double(callCount) * Double(roundNanoseconds) / Double(time)))
            }
            callCount *= 4
        }
    }

    /// The nanoseconds that so many calls take.
    private static func time(_ body: (Int) -> Void, _ callCount: Int) -> UInt64 {
        let start = now()
        body(callCount)
        return now() - start
    }

    private static func now() -> UInt64 {
        var time = timespec()
        let result = clock_gettime(CLOCK_MONOTONIC, &time)
        precondition(result == 0, "every Linux has CLOCK_MONOTONIC")
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
