// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuardAgent

/// Whether output has colours, and which signs it may use.
struct Style: Equatable {
    /// Colours, by what they mean.
    enum Colour: String {
        /// As it should be.
        case green = "32"
        /// On its way, or a warning.
        case yellow = "33"
        /// Needs attention.
        case red = "31"
        /// Less important.
        case dim = "2"
        /// Headings.
        case bold = "1"
    }

    /// Whether there are colours.
    var usesColour: Bool
    /// Whether the terminal shows more than ASCII.
    var usesUnicode: Bool

    /// No colours and no sign beyond ASCII.
    static let plain = Style(usesColour: false, usesUnicode: false)

    /// The style for standard output.
    ///
    /// - Parameters:
    ///   - choice: `auto`, `always` or `never`.
    ///   - isTerminal: Whether the output is shown on a terminal.
    ///   - environment: Gives the value of a variable.
    init(choice: String, isTerminal: Bool, environment: (String) -> String?) {
        let isForbidden = !(environment("NO_COLOR") ?? "").isEmpty || environment("TERM") == "dumb"
        usesColour = choice == "always" || (choice != "never" && isTerminal && !isForbidden)
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment($0) }
            .first { !$0.isEmpty }
        let folded = (locale ?? "").lowercased().filter { $0 != "-" }
        usesUnicode = folded.contains("utf8")
    }

    /// Takes both choices.
    init(usesColour: Bool, usesUnicode: Bool) {
        self.usesColour = usesColour
        self.usesUnicode = usesUnicode
    }

    /// A text in a colour, where there are colours.
    func paint(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }

    /// A text in the colour of a state.
    func paint(_ text: String, _ state: AgentState) -> String {
        switch state {
        case .connected: paint(text, .green)
        case .connecting: paint(text, .yellow)
        case .failed: paint(text, .red)
        case .disconnected: paint(text, .dim)
        }
    }

    /// The sign before a state.
    func bullet(_ state: AgentState) -> String {
        guard usesUnicode else { return paint("*", state) }
        return paint(state == .disconnected ? "○" : "●", state)
    }
}
