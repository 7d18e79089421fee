// SPDX-License-Identifier: MIT

public import AgentCore
internal import NexusGuard

/// How the agent's page is reached, as the administrator says; `nil` where nothing is said.
public struct PageSettings: Hashable, Sendable {
    /// Where it listens; the key `ui_listen`.
    public var listen: PageAddress?
    /// A file with its certificate in PEM, and those that sign it; the key `ui_certificate`.
    public var certificateFile: String?
    /// A file with the certificate's private key in PEM; the key `ui_key`.
    public var keyFile: String?
    /// A file with the password that opens a session without a link; the key `ui_password_file`.
    public var passwordFile: String?
    /// Names besides those of loopback under which browsers reach it, each with or without a port; the key `ui_hosts`.
    public var hosts: [String]?
    /// Whether all of its sessions may only look; the key `ui_read_only`.
    public var isReadOnly: Bool?

    /// Settings that say nothing.
    public init() {}

    /// The settings with what others say in place of it.
    public func replaced(by others: PageSettings) -> PageSettings {
        var settings = self
        settings.listen = others.listen ?? listen
        settings.certificateFile = others.certificateFile ?? certificateFile
        settings.keyFile = others.keyFile ?? keyFile
        settings.passwordFile = others.passwordFile ?? passwordFile
        settings.hosts = others.hosts ?? hosts
        settings.isReadOnly = others.isReadOnly ?? isReadOnly
        return settings
    }

    /// Checks that the page can be served so.
    ///
    /// - Throws: `AgentError.configInvalid` with the field `ui_listen` that names what is missing for an address
    ///   that others reach, or with the field that lacks its counterpart.
    public func check() throws(AgentError) {
        if certificateFile != nil, keyFile == nil {
            throw .configInvalid(field: "ui_certificate", reason: "needs ui_key as well")
        }
        if keyFile != nil, certificateFile == nil {
            throw .configInvalid(field: "ui_key", reason: "needs ui_certificate as well")
        }
        if let listen { try check(listening: listen, field: "ui_listen") }
    }

    /// Checks that the page may listen at an address.
    ///
    /// - Throws: `AgentError.configInvalid` with the field that names what is missing.
    public func check(listening address: PageAddress, field: String) throws(AgentError) {
        guard !address.isLoopback else { return }
        var missing: [String] = []
        if certificateFile == nil { missing.append("ui_certificate") }
        if keyFile == nil { missing.append("ui_key") }
        if passwordFile == nil { missing.append("ui_password_file") }
        if address.isEveryAddress, hosts?.isEmpty ?? true { missing.append("ui_hosts") }
        guard let last = missing.popLast() else { return }
        let list = missing.isEmpty ? "\(last) is" : "\(missing.joined(separator: ", ")) and \(last) are"
        throw .configInvalid(
            field: field,
            reason: "\(address.host) is not loopback, which needs TLS and a password: \(list) missing")
    }

    /// Reads the list of `ui_hosts`, with commas or blanks between names; `nil` when an item is no name.
    public static func hosts(parsing text: String) -> [String]? {
        let items = text.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
        guard !items.isEmpty, items.count <= 64, items.allSatisfy(isHost) else { return nil }
        return items
    }

    private static func isHost(_ item: String) -> Bool {
        if let address = PageAddress(item), item != "localhost" {
            // One of IPv6 must stand in brackets, as browsers send it.
            return !address.address.isIPv6 || item.hasPrefix("[")
        }
        let parts = item.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, (1...253).contains(parts[0].utf8.count) else { return false }
        if parts.count == 2, UInt16(parts[1]) ?? 0 == 0 { return false }
        return parts[0].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
