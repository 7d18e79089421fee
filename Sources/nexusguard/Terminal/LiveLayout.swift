// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// How the live view is laid out in a window: exactly its height, and no line wider than it.
///
/// Each line has a rank. Where there is no room for all, those of the highest rank go first and the order of the rest
/// stays; the newest entries of the log have what is left.
struct LiveLayout {
    /// The columns of the window.
    let width: Int
    /// The rows of the window.
    let height: Int
    /// How it looks.
    let style: Style
    /// The time that ages and waits are told for.
    let now: Date

    /// From this width on, and this height, there are two columns.
    private static let twoColumns = (width: 100, height: 20)

    /// A line, and how soon it is left out.
    struct Line: Equatable {
        /// What it says.
        var text: String
        /// How soon it is left out; the lowest stay longest.
        var rank: Int
        /// The sentence that it is a part of: all of a sentence is there or none of it.
        var sentence: String?
    }

    /// The lines of the screen.
    func lines(of model: LiveModel) -> [String] {
        guard width > 0, height > 0 else { return [] }
        // The last row tells how to leave.
        let room = height > 1 ? height - 1 : 1
        let logRoom = room >= 8 && !model.log.isEmpty ? min(model.log.count, max(2, height / 4)) + 1 : 0
        let isWide = width >= Self.twoColumns.width && height >= Self.twoColumns.height
        let parts = LiveParts(model: model, layout: self)
        var result: [String]
        if isWide {
            let top = [parts.heading] + parts.state
            let pair = columns(parts.facts + parts.note, parts.picture(tall: height >= 30) + parts.forwards)
            result = fit(top + [Line(text: "", rank: 9)] + pair, room - logRoom)
        } else {
            let all = [parts.heading] + parts.state + parts.facts + parts.picture(tall: false) + parts.note
            result = fit(all + [Line(text: "", rank: 9)] + parts.forwards, room - logRoom)
        }
        if logRoom > 0 { result += parts.log(rows: room - result.count) }
        result += [String](repeating: "", count: max(0, room - result.count))
        if height > 1 { result.append(style.paint("q quits", .dim)) }
        return result.map(cut)
    }

    /// A line with a name in it.
    func rule(_ title: String, width: Int) -> String {
        let line = style.usesUnicode ? "─" : "-"
        let count = max(0, width - TextWidth.columns(title) - 4)
        return style.paint("\(line)\(line) \(title) \(String(repeating: line, count: count))", .dim)
    }

    /// The columns of one side where there are two, and of the whole where there are not.
    var columnWidth: Int {
        width >= Self.twoColumns.width && height >= Self.twoColumns.height ? (width - 3) / 2 : width
    }

    private func cut(_ text: String) -> String { TextWidth.cut(text, to: width, ellipsis: ellipsis) }

    /// Stands for what is cut off.
    var ellipsis: String { style.usesUnicode ? "…" : "~" }

    /// As many lines as there is room for.
    private func fit(_ lines: [Line], _ room: Int) -> [String] {
        guard lines.count > room else { return lines.map(\.text) }
        var kept: Set<Int> = []
        for index in lines.indices.sorted(by: { (lines[$0].rank, $0) < (lines[$1].rank, $1) }) {
            let whole = lines.indices.filter { other in
                other == index
                    || (lines[other].sentence == lines[index].sentence && lines[other].sentence != nil)
            }
            if kept.union(whole).count <= room { kept.formUnion(whole) }
        }
        return kept.sorted().map { lines[$0].text }
    }

    /// Two lists side by side.
    private func columns(_ left: [Line], _ right: [Line]) -> [Line] {
        (0..<max(left.count, right.count)).map { row in
            let first = row < left.count ? left[row] : Line(text: "", rank: 9)
            guard row < right.count else { return first }
            let text = TextWidth.cut(first.text, to: columnWidth, ellipsis: ellipsis)
            let space = String(repeating: " ", count: max(0, columnWidth - TextWidth.columns(text)))
            // The place is named too: terminals do not agree on the width of every character.
            let place = "\u{1b}[\(columnWidth + 4)G"
            return Line(
                text: text + space + "   " + place + right[row].text, rank: min(first.rank, right[row].rank))
        }
    }
}
