// SPDX-License-Identifier: MIT

/// One thing that needs attention: a stable code for programs and a sentence for people.
public struct HealthItem: Codable, Hashable, Sendable {
    /// The stable code, such as `clock-skew`; those of `AgentError` and of `HealthCode`.
    public var code: String
    /// One sentence without secrets.
    public var text: String

    /// Creates an item.
    public init(code: String, text: String) {
        self.code = code
        self.text = text
    }
}
