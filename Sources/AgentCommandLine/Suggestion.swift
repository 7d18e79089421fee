// SPDX-License-Identifier: MIT

/// Finds the word that was probably meant.
package enum Suggestion {
    /// The word that differs by the fewest edits, at most two, or `nil`.
    package static func closest(to word: String, among candidates: [String]) -> String? {
        let distances = candidates.map { (name: $0, distance: distance(Array(word), Array($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= min(2, word.count - 1) ? best.name : nil
    }

    /// How many insertions, removals, replacements and swaps of neighbours turn one word into the other.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
