// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

extension CommandRunner {
    // MARK: Settings

    /// Shows all settings.
    func showSettings() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/settings")
        return isJSON ? show(document: document) : show(lines: try settingLines(document))
    }

    /// Shows one setting.
    func getSetting(_ name: SettingName) async throws(ClientError) -> ExitCode {
        let settings = try settings(try await client.get("/api/v1/settings"))
        let value = Self.member(name.rawValue, of: settings)
        guard !isJSON else {
            return show(
                document: JSONValue.object(["schema": .integer(1), name.rawValue: value]).document)
        }
        return show(Self.text(value) + "\n")
    }

    /// Changes settings, all of them or none.
    func changeSettings(_ changes: [SettingChange]) async throws(ClientError) -> ExitCode {
        var writer = JSONWriter()
        writer.beginObject()
        for change in changes { change.write(to: &writer) }
        writer.endObject()
        let document = try await client.send("PUT", "/api/v1/settings", body: writer.finish())
        return isJSON ? show(document: document) : show(lines: try settingLines(document))
    }

    private func settings(_ document: [UInt8]) throws(ClientError) -> JSONValue {
        guard let settings = (try? fields(document).value("settings")) ?? nil else {
            throw .malformed("there are no settings in it")
        }
        return settings
    }

    private func settingLines(_ document: [UInt8]) throws(ClientError) -> [String] {
        let settings = try settings(document)
        let width = SettingName.all.map(\.count).max() ?? 0
        return SettingName.all.map { name in
            let text = Self.text(Self.member(name, of: settings))
            let padded = name + String(repeating: " ", count: width - name.count)
            return "\(style.paint(padded, .dim))  \(text.isEmpty ? "(not set)" : Wording.safe(text))"
        }
    }

    private static func member(_ name: String, of object: JSONValue) -> JSONValue {
        guard case .object(let members) = object else { return .null }
        return members[name] ?? .null
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text.string
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .null, .array, .object: ""
        }
    }

    // MARK: Configuration

    /// Shows the configuration without secrets.
    func showConfig() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/config")
        guard !isJSON else { return show(document: document) }
        let fields = try fields(document)
        let rows = [
            ("Device", "device_id"), ("Address", "internal_ip"), ("Public key", "public_key"),
            ("Server key", "server_pub"), ("Endpoint", "endpoint"), ("Routes", "allowed_ips"),
            ("DNS", "dns"), ("MTU", "mtu"), ("Keepalive", "keepalive"), ("Preshared", "has_preshared_key"),
        ]
        return show(
            lines: rows.compactMap { label, name in
                guard let value = (try? fields.value(name)) ?? nil else { return nil }
                let text = Self.text(value)
                guard !text.isEmpty else { return nil }
                let padding = String(repeating: " ", count: StatusText.labelWidth - label.count)
                return style.paint(label + padding, .dim) + Wording.safe(text)
            })
    }

    /// Writes the configuration.
    func exportConfig(_ options: ExportOptions) async throws(ClientError) -> ExitCode {
        var document: [UInt8]
        if options.includesSecrets {
            var passphrase: [UInt8]
            do throws(InputError) {
                if let path = options.passphraseFile {
                    passphrase = try SecretInput.firstLine(ofFile: path)
                } else {
                    passphrase = try SecretInput.askTwice("Passphrase: ")
                }
            } catch {
                return fail(.failure, error.description, code: "no-passphrase")
            }
            var body = SecretInput.document("passphrase", passphrase)
            passphrase.erase()
            defer { body.erase() }
            document = try await client.send("POST", "/api/v1/config/export", body: body)
        } else {
            document = try await client.get("/api/v1/config")
        }
        guard let output = options.output, output != "-" else { return show(document: document) }
        if document.last != UInt8(ascii: "\n") { document.append(UInt8(ascii: "\n")) }
        guard PrivateFile.write(document, to: output, replaces: true) else {
            return fail(
                .failure, "\(output) cannot be written: \(PrivateFile.reason(errno))", code: "not-written")
        }
        return isJSON ? show(#"{"schema":1}"# + "\n") : show("written to \(output)\n")
    }

    /// Shows what an import changes, asks, and applies it.
    func importConfig(_ options: ImportOptions) async throws(ClientError) -> ExitCode {
        var content: [UInt8]
        var passphrase: [UInt8]?
        do throws(InputError) {
            content = try SecretInput.content(ofFile: options.file)
            if let path = options.passphraseFile { passphrase = try SecretInput.firstLine(ofFile: path) }
        } catch {
            return fail(.failure, error.description, code: "not-readable")
        }
        defer {
            content.erase()
            passphrase?.erase()
        }
        var preview: [UInt8]
        do throws(ClientError) {
            preview = try await send("POST", "/api/v1/config/preview", content, passphrase)
        } catch {
            guard case .refused(_, _, _, "passphrase") = error, passphrase == nil else { throw error }
            do throws(InputError) {
                passphrase = try SecretInput.ask("Passphrase: ")
            } catch {
                return fail(.failure, error.description, code: "no-passphrase")
            }
            preview = try await send("POST", "/api/v1/config/preview", content, passphrase)
        }
        let hasChanges = try showPreview(preview, isShown: !isJSON)
        if options.isDryRun || !hasChanges {
            return isJSON ? show(document: preview) : .success
        }
        if let refusal = confirm("Apply this?", isConfirmed: options.isConfirmed) { return refusal }
        preview = try await send("PUT", "/api/v1/config", content, passphrase)
        return isJSON ? show(document: preview) : show("applied\n")
    }

    private func send(
        _ method: String, _ path: String, _ content: [UInt8], _ passphrase: [UInt8]?
    ) async throws(ClientError) -> [UInt8] {
        var body = SecretInput.document("content", content, "passphrase", passphrase)
        defer { body.erase() }
        return try await client.send(method, path, body: body)
    }

    /// Shows a preview; returns whether there is anything to apply.
    private func showPreview(_ document: [UInt8], isShown: Bool) throws(ClientError) -> Bool {
        let fields = try fields(document)
        var lines: [String] = []
        do throws(AgentError) {
            for value in try fields.array("changes", limit: 4096) ?? [] {
                let change = try JSONFields(value)
                let name = try change.text("field", limit: 256) ?? ""
                let from = try change.text("from", limit: 65_536)
                let to = try change.text("to", limit: 65_536)
                lines.append(style.paint(name, .bold))
                if let from { lines.append("  " + style.paint("- \(Wording.safe(from))", .red)) }
                if let to { lines.append("  " + style.paint("+ \(Wording.safe(to))", .green)) }
            }
            let hasChanges = !lines.isEmpty
            if !hasChanges { lines.append("nothing differs") }
            for note in try fields.texts("notes", limit: 4096) ?? [] {
                lines.append(style.paint("note: \(Wording.safe(note))", .yellow))
            }
            if isShown { show(lines: lines) }
            return hasChanges
        } catch {
            throw .malformed(error.description)
        }
    }
}

extension SettingChange {
    /// Writes the change as a member of the settings.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .text(let name, let text): writer.member(name.rawValue, text)
        case .flag(let name, let flag): writer.member(name.rawValue, flag)
        case .unset(let name):
            writer.name(name.rawValue)
            let initial = AgentConfig()
            switch name {
            case .serverURL, .certificateAuthorityFile: writer.null()
            case .interfaceName: writer.value(initial.interfaceName)
            case .startsAutomatically: writer.value(initial.startsAutomatically)
            case .allowsPlainHTTP: writer.value(initial.allowsPlainHTTP)
            case .authenticatesHeartbeats: writer.value(initial.authenticatesHeartbeats)
            case .requiresEncryptedHeartbeats: writer.value(initial.requiresEncryptedHeartbeats)
            case .persistsLog: writer.value(initial.persistsLog)
            }
        }
    }
}
