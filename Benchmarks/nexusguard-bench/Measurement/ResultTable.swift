// SPDX-License-Identifier: MIT

/// Results as text of at most 100 columns.
enum ResultTable {
    /// The names of the columns.
    static let head =
        pad("benchmark", 36) + right("minimum", 10) + right("median", 10) + right("maximum", 10)
        + right("per second", 12) + right("bytes/s", 10) + right("allocs", 8)

    /// One line for one result.
    static func line(_ result: BenchmarkResult) -> String {
        pad(result.name, 36) + right(time(result.minimum), 10) + right(time(result.median), 10)
            + right(time(result.maximum), 10) + right(scaled(result.rate), 12)
            + right(result.byteCount > 0 ? scaled(result.rate * Double(result.byteCount)) : "", 10)
            + right(allocations(result.allocations), 8)
    }

    /// The lines of a comparison by medians; benchmarks that are in one of the two only are left out.
    static func comparison(_ results: [BenchmarkResult], before: [BenchmarkResult]) -> [String] {
        let old = Dictionary(before.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var lines = [pad("benchmark", 36) + right("before", 10) + right("now", 10) + right("ratio", 10)]
        for result in results {
            guard let former = old[result.name] else { continue }
            lines.append(
                pad(result.name, 36) + right(time(former.median), 10) + right(time(result.median), 10)
                    + right(decimal(former.median / result.median, 2) + "x", 10))
        }
        return lines
    }

    /// A time in the unit that suits it.
    private static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: threeDigits(nanoseconds) + " ns"
        case ..<1e6: threeDigits(nanoseconds / 1e3) + " us"
        case ..<1e9: threeDigits(nanoseconds / 1e6) + " ms"
        default: threeDigits(nanoseconds / 1e9) + " s"
        }
    }

    /// A number with a letter for thousands, millions or thousand millions.
    private static func scaled(_ number: Double) -> String {
        switch number {
        case ..<1e3: threeDigits(number)
        case ..<1e6: threeDigits(number / 1e3) + " k"
        case ..<1e9: threeDigits(number / 1e6) + " M"
        default: threeDigits(number / 1e9) + " G"
        }
    }

    /// A number with at least three digits that count.
    private static func threeDigits(_ number: Double) -> String {
        decimal(number, number < 10 ? 2 : number < 100 ? 1 : 0)
    }

    /// The allocations of one operation: whole ones, or a fraction that is not zero.
    private static func allocations(_ number: Double) -> String {
        if number < 0.005 { return number == 0 ? "0" : "<0.01" }
        return number < 100 ? decimal(number, 2) : decimal(number, 0)
    }

    /// A number that is not negative, with so many digits behind the point.
    private static func decimal(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite, number < 1e15 else { return "-" }
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let whole = Int((number * Double(scale)).rounded())
        guard digits > 0 else { return "\(whole)" }
        let fraction = "\(whole % scale)"
        return "\(whole / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
