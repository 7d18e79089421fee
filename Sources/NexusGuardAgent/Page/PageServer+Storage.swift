// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentStore
internal import FoundationEssentials

/// What of the page outlives a restart of the agent.
///
/// The store has wall times, since instants of the agent's clock mean nothing to the next run. A wall time that has
/// jumped makes a session no younger than its last use and a link no longer usable than a new one.
extension PageServer {
    /// Puts links and sessions back.
    func restore() {
        guard let store = options.store else { return }
        let stored: StoredPage?
        do throws(AgentError) {
            stored = try store.load()
        } catch {
            api.log.add(level: .warn, tag: "page", message: "sessions are lost: \(error.description)")
            return
        }
        guard let stored else { return }
        let (now, date) = (now, options.clock.date.timeIntervalSince1970)
        for link in stored.links {
            guard let digest = Hexadecimal.bytes(link.digest).flatMap(PageDigest.init) else { continue }
            let rest = min(.seconds(Double(link.expires) - date), PageTable.linkLife)
            guard rest > .zero else { continue }
            table.restore(digest, PageTable.Link(isReadOnly: link.isReadOnly, expires: now + rest))
        }
        for session in stored.sessions {
            guard let digest = Hexadecimal.bytes(session.digest).flatMap(PageDigest.init) else { continue }
            if let stamp = session.passwordStamp, stamp != access?.password?.stamp { continue }
            let use = now - max(.seconds(date - Double(session.lastUse)), .zero)
            guard use + PageTable.idleLimit > now else { continue }
            table.restore(
                digest,
                PageTable.Session(
                    isReadOnly: session.isReadOnly, passwordStamp: session.passwordStamp, lastUse: use,
                    storedUse: use))
        }
        guard !table.links.isEmpty || !table.sessions.isEmpty else { return }
        place = stored.listen
        if stored.isChosen, isAllowed(stored.listen) { chosen = stored.listen }
    }

    /// Stores links and sessions as they are.
    func save() {
        // Even where it fails: trying again at once would not help.
        defer { table.noteStored() }
        guard let store = options.store else { return }
        let (now, date) = (now, options.clock.date.timeIntervalSince1970)
        func seconds(_ instant: Duration) -> Int {
            Int(date + (instant - now) / .seconds(1))
        }
        do throws(AgentError) {
            let links = table.links.filter { !$0.value.isUsed && $0.value.expires > now }
            guard let place, !links.isEmpty || !table.sessions.isEmpty else {
                try store.clear()
                return
            }
            try store.save(
                StoredPage(
                    listen: place, isChosen: chosen != nil,
                    links: links.sorted { $0.value.expires < $1.value.expires }.map { digest, link in
                        StoredPage.Link(
                            digest: digest.hexadecimal, isReadOnly: link.isReadOnly,
                            expires: seconds(link.expires))
                    },
                    sessions: table.sessions.sorted { $0.key.hexadecimal < $1.key.hexadecimal }.map {
                        StoredPage.Session(
                            digest: $0.key.hexadecimal, isReadOnly: $0.value.isReadOnly,
                            passwordStamp: $0.value.passwordStamp,
                            lastUse: seconds($0.value.streamCount > 0 ? now : $0.value.lastUse))
                    }))
        } catch {
            api.log.add(level: .warn, tag: "page", message: "sessions are not stored: \(error.description)")
        }
    }

    private func isAllowed(_ address: PageAddress) -> Bool {
        guard let settings = access?.settings, settings.listen == nil else { return false }
        do throws(AgentError) {
            try settings.check(listening: address, field: "listen")
            return true
        } catch {
            return false
        }
    }
}
