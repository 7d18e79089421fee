// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Why the host's network could not be asked or changed.
public enum HostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel refused; `detail` is what it said beyond the error number.
    case refused(operation: String, errno: Int32, detail: String?)
    /// The interface does not exist.
    case noInterface(name: String)
    /// An interface of this name exists that we did not make.
    case interfaceTaken(name: String)
    /// The journal of changes can not be written or read; nothing is changed without it.
    case journal(operation: String, errno: Int32)
    /// A newer version of the agent wrote the journal.
    case newerJournal(version: Int)
    /// A name has no address, or, which is temporary, the name servers do not answer.
    case unresolved(name: String, reason: String, isTemporary: Bool)

    /// One sentence that names the culprit.
    public var description: String {
        switch self {
        case .refused(let operation, let number, let detail):
            "\(operation): \(Self.text(of: number))\(detail.map { " (\($0))" } ?? "")"
        case .noInterface(let name): "interface \(name) does not exist"
        case .interfaceTaken(let name): "interface \(name) exists and was not made by this agent"
        case .journal(let operation, let number):
            "the journal of changes to the host: \(operation): \(Self.text(of: number))"
        case .newerJournal(let version):
            "the journal of changes to the host has version \(version), which a newer agent wrote"
        case .unresolved(let name, let reason, _): "\(name) has no address: \(reason)"
        }
    }

    /// The number and the words of an error.
    private static func text(of number: Int32) -> String {
        guard let name = strerrorname_np(number), let words = strerrordesc_np(number) else {
            return "errno \(number)"
        }
        return "\(String(cString: words)) (\(String(cString: name)))"
    }

    /// The error number of a refusal.
    var refusal: Int32? {
        if case .refused(_, let number, _) = self { number } else { nil }
    }
}
