// SPDX-License-Identifier: MIT

internal import AgentCore

/// What of the page outlives a restart of the agent: where it listens, and the digests of links and sessions.
package struct StoredPage: Hashable, Sendable {
    /// A link that was not used.
    package struct Link: Hashable, Sendable {
        /// The SHA-256 of the link, 64 hexadecimal digits.
        package var digest: String
        /// Whether its session may only look.
        package var isReadOnly: Bool
        /// Until when it can be used, in seconds since the start of 1970.
        package var expires: Int

        /// Creates one.
        package init(digest: String, isReadOnly: Bool, expires: Int) {
            self.digest = digest
            self.isReadOnly = isReadOnly
            self.expires = expires
        }
    }

    /// A session.
    package struct Session: Hashable, Sendable {
        /// The SHA-256 of the session, 64 hexadecimal digits.
        package var digest: String
        /// Whether it may only look.
        package var isReadOnly: Bool
        /// The password's file as it was, for a session that a password opened.
        package var passwordStamp: String?
        /// When it was last used, in seconds since the start of 1970.
        package var lastUse: Int

        /// Creates one.
        package init(digest: String, isReadOnly: Bool, passwordStamp: String?, lastUse: Int) {
            self.digest = digest
            self.isReadOnly = isReadOnly
            self.passwordStamp = passwordStamp
            self.lastUse = lastUse
        }
    }

    /// The address and the port of the listener.
    package var listen: PageAddress
    /// Whether an operator chose the address for this time.
    package var isChosen: Bool
    /// The links that can still be used.
    package var links: [Link]
    /// The sessions.
    package var sessions: [Session]

    /// Creates a description.
    package init(listen: PageAddress, isChosen: Bool, links: [Link], sessions: [Session]) {
        self.listen = listen
        self.isChosen = isChosen
        self.links = links
        self.sessions = sessions
    }
}

/// The content of `ui-sessions.json` in its first version.
struct PageSessionsFormOne: StoredForm {
    static let version = 1
    /// More than there ever are of either.
    private static let largestCount = 256

    var page: StoredPage

    init(_ page: StoredPage) {
        self.page = page
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        page = try reading(content) { (fields) throws(AgentError) in
            let text = try fields.required("listen", fields.text("listen", limit: 64))
            guard let listen = PageAddress(text), listen.port != nil else {
                throw fields.invalid("listen", "is no address with a port")
            }
            var page = StoredPage(
                listen: listen, isChosen: try fields.bool("chosen") ?? false, links: [], sessions: [])
            for (index, item) in (try fields.array("links", limit: Self.largestCount) ?? []).enumerated() {
                let fields = try JSONFields(item, path: "links[\(index)]")
                page.links.append(
                    StoredPage.Link(
                        digest: try Self.digest(fields), isReadOnly: try Self.isReadOnly(fields),
                        expires: try Self.seconds("expires", fields)))
            }
            for (index, item) in (try fields.array("sessions", limit: Self.largestCount) ?? []).enumerated() {
                let fields = try JSONFields(item, path: "sessions[\(index)]")
                page.sessions.append(
                    StoredPage.Session(
                        digest: try Self.digest(fields), isReadOnly: try Self.isReadOnly(fields),
                        passwordStamp: try fields.nonEmptyText("password_stamp", limit: 64),
                        lastUse: try Self.seconds("last_use", fields)))
            }
            return page
        }
    }

    private static func digest(_ fields: JSONFields) throws(AgentError) -> String {
        let text = try fields.required("digest", fields.text("digest", limit: 64))
        guard text.utf8.count == 64, Hexadecimal.bytes(text) != nil else {
            throw fields.invalid("digest", "has not 64 hexadecimal digits")
        }
        return text
    }

    private static func isReadOnly(_ fields: JSONFields) throws(AgentError) -> Bool {
        try fields.required("read_only", fields.bool("read_only"))
    }

    private static func seconds(_ name: String, _ fields: JSONFields) throws(AgentError) -> Int {
        try fields.required(name, fields.integer(name, in: 0...253_402_300_799))
    }

    func content() -> ErasedBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("listen", page.listen.description)
        writer.member("chosen", page.isChosen)
        writer.name("links")
        writer.beginArray()
        for link in page.links {
            writer.beginObject()
            writer.member("digest", link.digest)
            writer.member("read_only", link.isReadOnly)
            writer.member("expires", link.expires)
            writer.endObject()
        }
        writer.endArray()
        writer.name("sessions")
        writer.beginArray()
        for session in page.sessions {
            writer.beginObject()
            writer.member("digest", session.digest)
            writer.member("read_only", session.isReadOnly)
            if let stamp = session.passwordStamp { writer.member("password_stamp", stamp) }
            writer.member("last_use", session.lastUse)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        var bytes = writer.finish()
        return ErasedBuffer(erasing: &bytes)
    }
}
