// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

extension CommandRunner {
    /// Opens the page, or prints the link to it.
    func page(_ options: PageOptions) async throws(ClientError) -> ExitCode {
        let browser = Result { () throws(Browser.Absence) in
            try Browser(user: geteuid(), environment: Self.environment)
        }
        // Nobody has asked for a secret in whatever the output goes to.
        if !isJSON, !options.prints, case .failure(let absence) = browser,
            !StandardStream.isTerminal(STDOUT_FILENO)
        {
            return fail(.failure, "\(absence); --print prints the link", code: "no-browser")
        }
        let document = try await client.send("POST", "/api/v1/ui/session", body: options.document)
        guard !isJSON else { return show(document: document) }
        let link: PageLink
        do {
            link = try PageLink(parsing: document)
        } catch {
            throw .malformed(error.description)
        }
        guard !options.prints else { return show(link, isRemote: (try? browser.get()) == nil) }
        do throws(Browser.Absence) {
            try await browser.get().open(link)
            return show(
                "The page opens in the browser. If it does not, `nexusguard ui --print` prints a link.\n")
        } catch {
            // Where there is no desktop, nobody has expected a browser.
            if error != .noDisplay, error != .remote { StandardStream.writeError("\(error)") }
            guard StandardStream.isTerminal(STDOUT_FILENO) else {
                return fail(.failure, "--print prints the link", code: "no-browser")
            }
            return show(link, isRemote: true)
        }
    }

    /// Prints a link alone on standard output, and what to know about it on the other.
    ///
    /// - Parameter isRemote: Whether the browser is likely on another computer.
    private func show(_ link: PageLink, isRemote: Bool) -> ExitCode {
        let code = show(link.url + "\n")
        var lines = ["", "It works once, within \(Wording.span(Double(link.expiresIn)))."]
        lines.append("Until then whoever has it can do what you can: pass it to nobody.")
        if isRemote, link.isLocal {
            let command = TunnelledPage.command(
                for: link, hostName: TunnelledPage.hostName, environment: Self.environment)
            lines += [
                "", "The page is for this host alone. To see it from another computer, run there", "",
                "    \(command)", "", "and open the link in its browser.",
            ]
        }
        let text = lines.map { ($0.isEmpty ? "" : style.paint($0, .dim)) + "\n" }.joined()
        StandardStream.write(Array(text.utf8), to: STDERR_FILENO)
        return code
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension PageOptions {
    /// What the daemon is asked for.
    fileprivate var document: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("read_only", isReadOnly)
        if let listen { writer.member("listen", listen) }
        writer.endObject()
        return writer.finish()
    }
}
