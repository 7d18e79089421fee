// SPDX-License-Identifier: MIT

/// Bars of characters, the highest value at full height.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let characters = Array("_.-=+*%#")

    /// Draws values in one row; unknown ones are blank.
    static func text(_ values: [Double?], usesUnicode: Bool) -> String {
        let bars = usesUnicode ? blocks : characters
        let highest = values.compactMap(\.self).max() ?? 0
        return String(
            values.map { value -> Character in
                guard let value else { return " " }
                guard highest > 0 else { return bars[0] }
                let level = Int((value / highest * Double(bars.count - 1)).rounded(.up))
                return bars[min(bars.count - 1, max(0, level))]
            })
    }

    /// Draws values in several rows, the upper ones first; terminals without block characters get one.
    static func rows(_ values: [Double?], height: Int, usesUnicode: Bool) -> [String] {
        guard usesUnicode, height > 1 else { return [text(values, usesUnicode: usesUnicode)] }
        let highest = values.compactMap(\.self).max() ?? 0
        return (0..<height).reversed().map { row in
            String(
                values.map { value -> Character in
                    guard let value else { return " " }
                    let steps = highest > 0 ? Int((value / highest * Double(height * 8)).rounded(.up)) : 0
                    // Nothing that was measured is drawn as nothing that is known.
                    let level = max(steps, 1) - row * 8
                    return level <= 0 ? " " : blocks[min(level, 8) - 1]
                })
        }
    }
}
