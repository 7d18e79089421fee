// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore

extension LocalAPI {
    /// The settings as a document.
    func settingsDocument() async -> [UInt8] {
        Array(#"{"schema":1,"settings":"#.utf8) + SettingsStore.json(of: await control.settings)
            + [UInt8(ascii: "}")]
    }

    /// Changes some settings; a token among them is stored and used, and never shown.
    func writeSettings(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let members: [String: JSONValue]
        do throws(AgentError) {
            guard case .object(let read) = try JSONValue(parsing: request.body) else {
                throw .configInvalid(field: "settings", reason: "is not an object")
            }
            members = read
        } catch {
            throw APIError(error)
        }
        let current = await control.settings
        var settings = current
        let token = try Self.token(in: members)
        do throws(AgentError) {
            for name in ["wantsUp", "isProvisioned"] where members[name] != nil {
                throw .configInvalid(field: name, reason: "is no setting that can be changed here")
            }
            let rest = members.filter { $0.key != "token" }
            if !rest.isEmpty {
                try SettingsStore.apply(json: JSONValue.object(rest).document, to: &settings)
            }
            if settings != current {
                try await control.update(settings: settings)
                options.settingsChanged?(await control.settings)
            }
            if let token { try await control.provision(token: token) }
        } catch {
            throw APIError(error)
        }
        return APIReply.json(await settingsDocument())
    }

    private static func token(in members: [String: JSONValue]) throws(APIError) -> String? {
        switch members["token"] {
        case nil, .null?: return nil
        case .string(let text)? where (1...4096).contains(text.utf8.count): return text.string
        default: throw .badRequest(field: "token", "token: must be a text of 1 to 4096 bytes")
        }
    }

    /// The configuration without its keys.
    func readConfig() async throws(APIError) -> ServerResponse {
        guard let config = await control.wireGuardConfig else { throw APIError(.notProvisioned) }
        return APIReply.json(Self.withSchema(WireGuardConfigExport.redacted(config)))
    }

    /// Shows what an import would change.
    func previewConfig(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        APIReply.json(try await preview(request).document(isApplied: false))
    }

    /// Imports.
    func applyConfig(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let preview = try await preview(request)
        if preview.depth != .none {
            do {
                try await control.rebuildTunnel(with: preview.config)
            } catch {
                throw APIError(error)
            }
        }
        return APIReply.json(preview.document(isApplied: true))
    }

    /// Writes the configuration with its keys, encrypted under a passphrase.
    func exportConfig(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let fields = try Self.fields(request)
        let current = await control.wireGuardConfig
        do throws(AgentError) {
            let text = try fields.required("passphrase", fields.secret("passphrase"))
            guard let current else { throw .notProvisioned }
            var passphrase = Self.bytes(text)
            defer { passphrase.erase() }
            return APIReply.json(
                Self.withSchema(try WireGuardConfigExport.encrypted(current, passphrase: passphrase)))
        } catch {
            throw APIError(error)
        }
    }

    /// Makes a link to the page, which opens one session.
    func makePageLink(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let fields = try Self.fields(request)
        let (isReadOnly, address): (Bool, PageAddress?)
        do throws(AgentError) {
            isReadOnly = try fields.bool("read_only") ?? false
            let text = try fields.nonEmptyText("listen", limit: 64)
            address = text.flatMap { PageAddress($0) }
            guard text == nil || address != nil else {
                throw fields.invalid("listen", "is not of the form ADDRESS:PORT with a numeric address")
            }
        } catch {
            throw APIError(error)
        }
        guard let maker = pageLinkMaker else { throw .pageUnavailable("this agent has none") }
        let url = try await maker(isReadOnly, address)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("url", url)
        writer.member("expires_in", Int(PageTable.linkLife.components.seconds))
        writer.endObject()
        return APIReply.json(writer.finish())
    }

    private func preview(_ request: ServerRequest) async throws(APIError) -> ConfigPreview {
        let fields = try Self.fields(request)
        let current = await control.wireGuardConfig
        do throws(AgentError) {
            var content = Self.bytes(try fields.required("content", fields.secret("content")))
            var passphrase = try fields.secret("passphrase").map { Self.bytes($0) }
            defer {
                content.erase()
                passphrase?.erase()
            }
            return try ConfigPreview(content, passphrase: passphrase, current: current)
        } catch {
            throw APIError(error)
        }
    }

    /// The bytes of a text; the caller erases them.
    private static func bytes(_ text: JSONText) -> [UInt8] { text.utf8.withUnsafeBytes { Array($0) } }

    /// An object with the number of the schema as its first member.
    private static func withSchema(_ object: [UInt8]) -> [UInt8] {
        Array(#"{"schema":1,"#.utf8) + object.dropFirst()
    }
}
