// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentStore
internal import FoundationEssentials
internal import Glibc
internal import NexusGuard

/// What is needed to find a fault: state, settings, checks, facts about the host, and the log.
///
/// No key, token, preshared key or whole device identifier is in it: parts that could hold one are built without,
/// and every text passes the scrubber.
struct BugReport {
    /// The most bytes of one file of the host.
    private static let largestFile = 16_384

    private let api: LocalAPI

    /// Prepares a report.
    init(_ api: LocalAPI) {
        self.api = api
    }

    /// Collects everything.
    func document() async -> [UInt8] {
        let scrubber = Scrubber(
            config: await api.control.wireGuardConfig, hwid: try? await api.control.hwid)
        let snapshot = await api.control.snapshot
        let settings = await api.control.settings
        let checks = await NetCheck(api).run()
        let entries = api.log.getLogs()

        var writer = JSONWriter(capacity: 65_536)
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("kind", "nexusguard-bugreport")
        writer.member("created", RFC3339.text(Date()))
        writer.member("version", AgentVersion.current)
        write("status", snapshot.json(), to: &writer, scrubber)
        write("settings", SettingsStore.json(of: settings), to: &writer, scrubber)
        write("netcheck", checks.document, to: &writer, scrubber)
        writer.name("host")
        writer.beginObject()
        for (name, text) in Self.hostFacts() { writer.member(name, scrubber.scrub(text)) }
        writer.endObject()
        writer.name("log")
        writer.beginArray()
        for entry in entries {
            let line =
                "\(RFC3339.text(entry.timestamp)) [\(entry.level.rawValue)] \(entry.tag): \(entry.message)"
            writer.value(scrubber.scrub(line))
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    /// Writes a document of our own as a member, each of its texts scrubbed.
    private func write(
        _ name: String, _ document: [UInt8], to writer: inout JSONWriter, _ scrubber: Scrubber
    ) {
        writer.name(name)
        guard let value = try? JSONValue(parsing: document, limit: 1 << 20) else {
            writer.null()
            return
        }
        value.write(to: &writer) { scrubber.scrub($0) }
    }

    // MARK: Host

    private static func hostFacts() -> [(String, String)] {
        var name = utsname()
        uname(&name)
        var facts = [
            ("kernel", "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"),
            ("processors", "\(sysconf(Int32(_SC_NPROCESSORS_ONLN)))"),
        ]
        for (fact, path) in [
            ("os", "/etc/os-release"), ("memory", "/proc/self/statm"), ("resolver", "/etc/resolv.conf"),
            ("interfaces", "/proc/net/dev"), ("routes", "/proc/net/route"), ("tun", "/proc/misc"),
        ] {
            facts.append((fact, file(path) ?? "(not readable)"))
        }
        let environment = ["container", "INVOCATION_ID", "NOTIFY_SOCKET"].filter { (name: String) in
            getenv(name) != nil
        }
        facts.append(("environment", environment.joined(separator: ", ")))
        return facts
    }

    private static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The beginning of a file, with what is not printable replaced.
    private static func file(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: largestFile)
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        return lines.map { ShownText.plain(String($0).replacing("\t", with: " "), limit: 500) }
            .joined(separator: "\n")
    }
}
