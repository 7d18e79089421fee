// SPDX-License-Identifier: MIT

internal import Synchronization

/// The sessions there are, for the threads of listeners, which cannot wait for the page's actor.
final class PageSessionList: Sendable {
    private let digests = Mutex<Set<PageDigest>>([])

    /// Sets the sessions there are.
    func set(_ digests: some Sequence<PageDigest>) {
        let new = Set(digests)
        self.digests.withLock { $0 = new }
    }

    /// Whether the header of a request names one of them.
    func includeOne(in headers: [(name: String, value: String)]) -> Bool {
        guard let digest = Self.session(in: headers) else { return false }
        return digests.withLock { $0.contains(digest) }
    }

    /// The session that the header of a request names; `nil` for none and for more than one.
    static func session(in headers: [(name: String, value: String)]) -> PageDigest? {
        let fields = headers.filter { $0.name.lowercased() == "authorization" }
        guard fields.count == 1, fields[0].value.lowercased().hasPrefix("bearer ") else { return nil }
        return PageDigest(of: String(fields[0].value.dropFirst(7)))
    }
}
