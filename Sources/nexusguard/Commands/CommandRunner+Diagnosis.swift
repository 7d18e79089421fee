// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent

extension CommandRunner {
    /// Lists the forwarded ports.
    func forwards() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/forwards")
        guard !isJSON else { return show(document: document) }
        let fields = try fields(document)
        var lines: [String] = []
        do throws(AgentError) {
            guard let items = try fields.array("forwards", limit: 65_536) else {
                return show("the server has told of no forwards\n")
            }
            for item in items {
                let forward = try JSONFields(item)
                let name = try forward.text("protocol", limit: 16) ?? ""
                let port = try forward.integer("publicPort", in: 0...65_535) ?? 0
                let host = try forward.text("targetAddress", limit: 64) ?? ""
                let target = try forward.integer("targetPort", in: 0...65_535) ?? 0
                let shownHost = host.contains(":") ? "[\(host)]" : host
                let arrow = style.usesUnicode ? "→" : "->"
                lines.append("\(name.uppercased()) :\(port) \(arrow) \(shownHost):\(target)")
            }
        } catch {
            throw .malformed(error.description)
        }
        return show(lines: lines.isEmpty ? ["no forwards"] : lines)
    }

    /// Tests the way to the server.
    func netcheck() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/netcheck", work: .seconds(50))
        let fields = try fields(document)
        var lines: [String] = []
        let isGood: Bool
        do throws(AgentError) {
            isGood = try fields.bool("ok") ?? false
            for item in try fields.array("checks", limit: 256) ?? [] {
                let check = try JSONFields(item)
                let name = try check.text("name", limit: 64) ?? ""
                let outcome = try check.text("outcome", limit: 16) ?? ""
                let text = try check.text("text", limit: 4096) ?? ""
                let taken = try check.integer("milliseconds", in: 0...Int.max).map { " (\($0) ms)" } ?? ""
                let padding = String(repeating: " ", count: max(1, StatusText.labelWidth - name.count))
                lines.append("\(sign(outcome)) \(name)\(padding)\(Wording.safe(text))\(taken)")
            }
        } catch {
            throw .malformed(error.description)
        }
        if isJSON {
            show(document: document)
        } else {
            show(lines: lines)
        }
        return isGood ? .success : .conditionFalse
    }

    private func sign(_ outcome: String) -> String {
        switch outcome {
        case "ok": style.paint("ok  ", .green)
        case "warn": style.paint("warn", .yellow)
        case "fail": style.paint("fail", .red)
        default: style.paint("-   ", .dim)
        }
    }

    /// Collects a report into a file.
    func bugreport(output: String?) async throws(ClientError) -> ExitCode {
        let document = try await client.send("POST", "/api/v1/bugreport", work: .seconds(80))
        guard output != "-" else { return show(document: document) }
        let stamp = RFC3339.text(Date()).filter { $0.isNumber }
        let path = output ?? "nexusguard-bugreport-\(stamp).json"
        guard PrivateFile.write(document, to: path, replaces: output != nil) else {
            return fail(
                .failure, "\(path) cannot be written: \(PrivateFile.reason(errno))", code: "not-written")
        }
        guard !isJSON else {
            return show(document: JSONValue.document(file: path))
        }
        return show("written to \(path); read it before you send it to anybody\n")
    }

    /// Prints the versions.
    func version(asksDaemon: Bool) async -> ExitCode {
        let own = AgentVersion.current
        guard asksDaemon else { return show("nexusguard \(own)\n") }
        let daemon = try? await client.snapshot().version
        if isJSON {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("schema", AgentSnapshot.currentSchema)
            writer.member("command", own)
            if let daemon { writer.member("daemon", daemon) }
            writer.endObject()
            return show(document: writer.finish())
        }
        return show(
            lines: [
                "nexusguard \(own)", "nexusguard-agent \(daemon.map(Wording.safe) ?? "(does not answer)")",
            ])
    }
}

extension JSONValue {
    /// An object that names a file.
    fileprivate static func document(file: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("file", file)
        writer.endObject()
        return writer.finish()
    }
}
