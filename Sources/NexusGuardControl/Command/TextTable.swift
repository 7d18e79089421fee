// SPDX-License-Identifier: MIT

/// Rows of text under a heading, in columns as wide as their widest entry.
enum TextTable {
    /// The lines of the table; every row has as many entries as the heading.
    static func text(_ heading: [String], _ rows: [[String]]) -> String {
        let all = [heading] + rows
        let widths = heading.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, entry) in row.enumerated() {
                let isLast = column == row.count - 1
                line += entry
                if !isLast { line += String(repeating: " ", count: widths[column] - entry.count + 2) }
            }
            return line + "\n"
        }.joined()
    }
}
