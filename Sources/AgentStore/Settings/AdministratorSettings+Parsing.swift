// SPDX-License-Identifier: MIT

internal import AgentCore

extension AdministratorSettings {
    /// One line `key = value`.
    private struct Line {
        let number: Int
        let key: String
        let value: String
        let path: String

        func invalid(_ reason: String) -> AgentError {
            .configInvalid(field: "\(path) line \(number): \(key)", reason: reason)
        }
    }

    /// Reads the text of the file that is at `path`.
    init(parsing text: [UInt8], path: String) throws(AgentError) {
        self.init()
        var seen: [String: Line] = [:]
        for line in try Self.lines(of: text, path: path) {
            if let first = seen[line.key] {
                throw line.invalid("is set already in line \(first.number)")
            }
            seen[line.key] = line
            try set(line)
        }
        if let line = seen["server_url"],
            let reason = SettingsRules.fault(
                ofServerURL: line.value, allowsPlainHTTP: allowsPlainHTTP ?? false)
        {
            throw line.invalid(reason)
        }
    }

    private mutating func set(_ line: Line) throws(AgentError) {
        switch line.key {
        case "server_url": serverURL = line.value
        case "interface":
            if let reason = SettingsRules.fault(ofInterfaceName: line.value) { throw line.invalid(reason) }
            interfaceName = line.value
        case "hwid":
            guard let normal = HostIdentifierFormOne.normal(line.value) else {
                throw line.invalid("has not 32 hexadecimal digits")
            }
            hwid = normal
        case "ca_file": certificateAuthorityFile = try Self.path(line)
        case "token_file": tokenFile = try Self.path(line)
        case "host_key_file": hostKeyFile = try Self.path(line)
        case "allow_plain_http": allowsPlainHTTP = try Self.flag(line)
        case "authenticate_heartbeats": authenticatesHeartbeats = try Self.flag(line)
        case "require_encrypted_heartbeats": requiresEncryptedHeartbeats = try Self.flag(line)
        case "auto_start": startsAutomatically = try Self.flag(line)
        case "persist_log": persistsLog = try Self.flag(line)
        case "log_level":
            guard let level = LogLevel(rawValue: line.value.uppercased()) else {
                throw line.invalid("is none of debug, info, warn and error")
            }
            logLevel = level
        case let key where key.hasPrefix("ui_"): try setPage(line)
        case "token":
            throw line.invalid("does not belong into a file that others may read; name its file: token_file")
        default:
            throw line.invalid("is no setting")
        }
    }

    private mutating func setPage(_ line: Line) throws(AgentError) {
        switch line.key {
        case "ui_listen":
            guard let address = PageAddress(line.value) else {
                throw line.invalid("is not of the form ADDRESS:PORT with a numeric address")
            }
            page.listen = address
        case "ui_certificate": page.certificateFile = try Self.path(line)
        case "ui_key": page.keyFile = try Self.path(line)
        case "ui_password_file": page.passwordFile = try Self.path(line)
        case "ui_hosts":
            guard let hosts = PageSettings.hosts(parsing: line.value) else {
                throw line.invalid("has an item that is no name of a host")
            }
            page.hosts = hosts
        case "ui_read_only": page.isReadOnly = try Self.flag(line)
        case "ui_password":
            throw line.invalid(
                "does not belong into a file that others may read; name its file: ui_password_file")
        default: throw line.invalid("is no setting")
        }
    }

    private static func lines(of text: [UInt8], path: String) throws(AgentError) -> [Line] {
        guard let text = String(validating: text, as: UTF8.self) else {
            throw .configInvalid(field: path, reason: "is not UTF-8")
        }
        var lines: [Line] = []
        let ends: (Character) -> Bool = { $0 == "\n" || $0 == "\r\n" }
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: ends).enumerated() {
            let content = trimmed(withoutComment(raw))
            guard !content.isEmpty else { continue }
            let place = "\(path) line \(index + 1)"
            guard let sign = content.firstIndex(of: "=") else {
                throw .configInvalid(field: place, reason: "is not of the form key = value")
            }
            let key = String(trimmed(content[..<sign])).lowercased().replacing("-", with: "_")
            let isName = !key.isEmpty && key.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
            guard isName, key.utf8.count <= 40 else {
                throw .configInvalid(field: place, reason: "has no key in front of the equals sign")
            }
            var value = trimmed(content[content.index(after: sign)...])
            if value.count >= 2, value.first == "\"", value.last == "\"" {
                value = value.dropFirst().dropLast()
            }
            let line = Line(number: index + 1, key: key, value: String(value), path: path)
            guard !value.isEmpty else { throw line.invalid("has no value") }
            guard ShownText.isPlain(line.value) else { throw line.invalid("has unprintable characters") }
            lines.append(line)
        }
        return lines
    }

    /// The line up to a `#` at its start or after a blank.
    private static func withoutComment(_ line: Substring) -> Substring {
        var previous: Character = " "
        for index in line.indices {
            if line[index] == "#", previous == " " || previous == "\t" { return line[..<index] }
            previous = line[index]
        }
        return line
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    private static func flag(_ line: Line) throws(AgentError) -> Bool {
        switch line.value.lowercased() {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: throw line.invalid("is neither yes nor no")
        }
    }

    private static func path(_ line: Line) throws(AgentError) -> String {
        if let reason = SettingsRules.fault(ofPath: line.value) { throw line.invalid(reason) }
        return line.value
    }
}
