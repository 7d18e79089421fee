// SPDX-License-Identifier: MIT

/// The settings that the command line may change.
enum SettingName: String, CaseIterable {
    /// The control server.
    case serverURL
    /// Whether the tunnel comes up when the host starts.
    case startsAutomatically
    /// The interface.
    case interfaceName
    /// Further certificate authorities.
    case certificateAuthorityFile
    /// Plain HTTP to other hosts.
    case allowsPlainHTTP
    /// Proof of possession in requests.
    case authenticatesHeartbeats
    /// Encrypted responses.
    case requiresEncryptedHeartbeats
    /// The log in a file.
    case persistsLog

    /// The names.
    static let all = allCases.map(\.rawValue)

    /// What the value is.
    enum Kind {
        /// Text.
        case text
        /// Yes or no.
        case flag
    }

    /// What the value is.
    var kind: Kind {
        switch self {
        case .serverURL, .interfaceName, .certificateAuthorityFile: .text
        case .startsAutomatically, .allowsPlainHTTP, .authenticatesHeartbeats, .requiresEncryptedHeartbeats,
            .persistsLog:
            .flag
        }
    }
}
