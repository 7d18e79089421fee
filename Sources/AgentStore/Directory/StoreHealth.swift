// SPDX-License-Identifier: MIT

/// One thing about the stores that needs attention though the agent goes on.
public struct StoreHealth: Hashable, Sendable {
    /// The state directory cannot be written; another one, which a restart of the host empties, stands in.
    public static let degraded = "store-degraded"
    /// Something could not be written anywhere.
    public static let failed = "store-failed"
    /// A file was damaged and an older copy of it is used.
    public static let recovered = "store-recovered"
    /// A file was damaged and there is no good copy of it.
    public static let damaged = "store-damaged"
    /// The machine-id is not the one that the hwid was made with, as on a cloned disk.
    public static let machineIDChanged = "machine-id-changed"
    /// The stored hwid was damaged and was made again from the machine-id.
    public static let hwidRemade = "hwid-remade"

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
