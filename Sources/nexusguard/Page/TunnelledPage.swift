// SPDX-License-Identifier: MIT

internal import Glibc

/// How the page of a host without a display is seen from another computer.
enum TunnelledPage {
    /// The command for the other computer.
    ///
    /// Both ends have the same port: the page answers only to the names and the port that it listens on.
    ///
    /// - Parameters:
    ///   - hostName: What this host is called when nothing else is known.
    ///   - environment: Gives the value of a variable.
    static func command(for link: PageLink, hostName: String, environment: (String) -> String?) -> String {
        let host = link.host.contains(":") ? "[\(link.host)]" : link.host
        var words = ["ssh -L \(link.port):\(host):\(link.port)"]
        // SSH_CONNECTION holds the client's address and port, then this host's as the client reached it.
        let connection = (environment("SSH_CONNECTION") ?? "").split(separator: " ").map(String.init)
        let user = ["SUDO_USER", "USER", "LOGNAME"].compactMap { word(environment($0)) }.first
        var target = word(hostName) ?? "HOST"
        if connection.count == 4, let address = word(connection[2]) {
            target = address
            if let port = UInt16(connection[3]), port != 22 { words.append("-p \(port)") }
        }
        words.append("\(user ?? "USER")@\(target)")
        return words.joined(separator: " ")
    }

    /// The name of this host.
    static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A text that a shell takes as it is, or nothing.
    private static func word(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.first != "-" else { return nil }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: Array("-._:%".utf8).contains(byte)
            }
        }
        return isPlain ? text : nil
    }
}
