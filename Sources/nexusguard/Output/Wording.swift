// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

/// Numbers and times as people read them.
enum Wording {
    /// A span, in its two largest units: `12 s`, `3 min 5 s`, `2 h 5 min`, `4 d 3 h`.
    static func span(_ seconds: Double) -> String {
        let total = Int(max(0, min(seconds, 1e12)))
        func two(_ high: Int, _ highUnit: String, _ low: Int, _ lowUnit: String) -> String {
            low == 0 ? "\(high) \(highUnit)" : "\(high) \(highUnit) \(low) \(lowUnit)"
        }
        switch total {
        case ..<60: return "\(total) s"
        case ..<3600: return two(total / 60, "min", total % 60, "s")
        case ..<86_400: return two(total / 3600, "h", total / 60 % 60, "min")
        default: return two(total / 86_400, "d", total / 3600 % 24, "h")
        }
    }

    /// How long ago something was.
    static func age(_ date: Date, now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        return seconds < 1 ? "now" : "\(span(seconds)) ago"
    }

    /// A number of bytes with a unit: `512 B`, `1.2 MiB`.
    static func bytes(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) B" }
        var value = Double(count) / 1024
        var units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
        // What rounds to 1024 of one unit is 1.0 of the next.
        while value >= 1023.95, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units.first ?? "")"
    }

    /// Bytes a second with a unit: `512 B/s`, `1.2 kB/s`, `34 MB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        for (unit, size) in [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)]
        // What rounds to 1000 of one unit is 1.0 of the next.
        where bytesPerSecond >= size * 0.9995 {
            let value = min(bytesPerSecond, 1e15) / size
            guard value < 99.95 else { return "\(Int(value.rounded())) \(unit)" }
            let tenths = Int((value * 10).rounded())
            return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
        }
        return "\(Int(max(0, bytesPerSecond).rounded())) B/s"
    }

    /// That entries of the log are missing.
    static func lost(_ count: Int) -> String {
        count == 1
            ? "1 entry is missing: it came too fast" : "\(count) entries are missing: they came too fast"
    }

    /// The local time of day, `HH:MM:SS`.
    static func timeOfDay(_ date: Date) -> String {
        let fields = local(date)
        return [fields.tm_hour, fields.tm_min, fields.tm_sec].map { pad($0) }.joined(separator: ":")
    }

    /// The local date, `YYYY-MM-DD`.
    static func day(_ date: Date) -> String {
        let fields = local(date)
        return "\(fields.tm_year + 1900)-\(pad(fields.tm_mon + 1))-\(pad(fields.tm_mday))"
    }

    /// A text that is safe on a terminal, in one line, without piles of marks upon one character.
    static func safe(_ text: String) -> String {
        let plain = ShownText.plain(text, limit: 2000)
        guard plain.unicodeScalars.count > plain.count else { return plain }
        return String(plain.map { $0.unicodeScalars.count <= mostScalars ? $0 : "?" })
    }

    /// The most scalars of one character: more than any written language piles up.
    private static let mostScalars = 8

    private static func pad(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func local(_ date: Date) -> tm {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var fields = tm()
        localtime_r(&seconds, &fields)
        return fields
    }
}
