// SPDX-License-Identifier: MIT

/// One thing whose time is measured.
struct Benchmark: Sendable {
    /// Groups and the thing, with dots between, as `aead.composed.seal.1420`.
    let name: String
    /// The operations that one call does; times and allocations are those of one operation.
    let operationsPerCall: Int
    /// The bytes of payload that one operation handles; 0 when that says nothing.
    let byteCount: Int
    /// Makes everything ready, and returns what is measured: so many calls.
    let prepare: @Sendable () throws -> (_ callCount: Int) -> Void

    /// Describes a benchmark.
    init(
        _ name: String, operationsPerCall: Int = 1, byteCount: Int = 0,
        prepare: @escaping @Sendable () throws -> (_ callCount: Int) -> Void
    ) {
        self.name = name
        self.operationsPerCall = operationsPerCall
        self.byteCount = byteCount
        self.prepare = prepare
    }

    /// Whether a name from the command line means this benchmark, by itself or by a group.
    func isMeant(by text: String) -> Bool {
        name == text || name.hasPrefix(text + ".")
    }

    /// All benchmarks, in the order in which they run.
    static let all =
        HandshakeBenchmarks.all + HashBenchmarks.all + AEADBenchmarks.all + WindowBenchmarks.all
        + RoutingBenchmarks.all + TimerBenchmarks.all + ConfigurationBenchmarks.all + TunBenchmarks.all
        + EngineBenchmarks.all
}

/// Takes a value, so that the compiler cannot leave out how it came about.
@inline(never)
func keep<Value: ~Copyable>(_ value: borrowing Value) {}
