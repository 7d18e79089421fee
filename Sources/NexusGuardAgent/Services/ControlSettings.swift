// SPDX-License-Identifier: MIT

package import AgentCore
internal import AgentHTTP
internal import AgentHost
internal import AgentStore
package import NexusGuard

/// Where the control server is and how it is spoken to.
package struct ControlSettings: Sendable {
    /// The base address without a slash at its end.
    let baseURL: String
    /// The name of the host, or its address without brackets.
    package let host: String
    /// The port of the host.
    let port: UInt16
    /// A file of further certificate authorities.
    let certificateAuthorityFile: String?
    /// Whether requests carry a proof of the device's key.
    let authenticates: Bool
    /// Whether heartbeats must be answered encrypted.
    let requiresEncryption: Bool
    /// The mark of the sockets; `nil` sets none.
    package var socketMark: UInt32?
    /// Addresses of the host, so that nobody resolves its name.
    package var addresses: [IPAddress] = []

    /// Takes the settings.
    ///
    /// - Throws: `AgentError.configInvalid` for a setting out of range, such as plain HTTP to another host
    ///   where that is not allowed; `.notProvisioned` without a server.
    package init(_ settings: AgentConfig, socketMark: UInt32? = FirewallMark.value) throws(AgentError) {
        try SettingsStore.validate(settings)
        guard let url = settings.serverURL else { throw .notProvisioned }
        var base = url[...]
        while base.hasSuffix("/") { base.removeLast() }
        let isPlain = url.lowercased().hasPrefix("http://")
        // The rules above have checked the form.
        let authority = url.dropFirst(isPlain ? 7 : 8).prefix { $0 != "/" }
        var host = authority
        var port: UInt16?
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = UInt16(authority[authority.index(after: end)...].dropFirst())
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = UInt16(authority[authority.index(after: colon)...])
        }
        baseURL = String(base)
        self.host = String(host)
        self.port = port ?? (isPlain ? 80 : 443)
        certificateAuthorityFile = settings.certificateAuthorityFile
        authenticates = settings.authenticatesHeartbeats
        requiresEncryption = settings.requiresEncryptedHeartbeats
        self.socketMark = socketMark
    }

    /// Whether the host is named and not given as an address.
    package var needsResolving: Bool { (try? IPAddress(host)) == nil }

    /// The limits and the connection of one request.
    var options: HTTPClientOptions {
        var options = HTTPClientOptions(
            certificateAuthorityFile: certificateAuthorityFile, socketMark: socketMark)
        if !addresses.isEmpty, needsResolving {
            options.resolved = [(host: host, port: port, addresses: addresses.map(\.description))]
        }
        return options
    }
}
