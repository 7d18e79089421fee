// SPDX-License-Identifier: MIT

/// One thing about the stores that needs attention though the agent goes on.
public struct StoreHealth: Hashable, Sendable {
    /// A stable code for programs, such as `store-degraded`.
    public let code: String
    /// One sentence for people, without secrets.
    public let text: String

    /// Creates an item.
    public init(code: String, text: String) {
        self.code = code
        self.text = text
    }
}
