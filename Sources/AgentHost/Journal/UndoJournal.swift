// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc

/// What was changed on the host and not undone yet, in the order of the changes.
///
/// A change is written here before it is made, so that whoever comes after a sudden end can undo it. The changes
/// of a process hold for one boot and one network namespace: elsewhere they are forgotten, not undone.
struct UndoJournal {
    /// The file's form.
    private struct File: Codable {
        var version: Int
        var boot: String
        var namespace: String
        var changes: [JournalEntry]
    }

    /// Only the version, which every version of the file has.
    private struct Version: Codable {
        var version: Int
    }

    private static let version = 1

    /// The changes, the oldest first.
    private(set) var changes: [HostChange] = []
    private let storage: any JournalStorage

    /// A journal of no changes; `load` brings what is kept.
    init(_ storage: any JournalStorage) {
        self.storage = storage
    }

    /// What came of reading what is kept.
    enum Content: Hashable {
        /// Changes of this boot and this network namespace, perhaps none.
        case changes
        /// Changes that went with an earlier boot or belong to another network namespace.
        case elsewhere
        /// Something that is no journal; it was set aside.
        case damaged
    }

    /// Reads what is kept.
    ///
    /// - Throws: `HostError.journal`, or `.newerJournal` for the file of a newer agent, which is left alone.
    mutating func load() throws(HostError) -> Content {
        guard let bytes = try storage.load(), !bytes.isEmpty else { return .changes }
        let decoder = JSONDecoder()
        let data = Data(bytes)
        if let version = try? decoder.decode(Version.self, from: data), version.version > Self.version {
            throw .newerJournal(version: version.version)
        }
        guard let file = try? decoder.decode(File.self, from: data), file.version == Self.version else {
            storage.setAside()
            return .damaged
        }
        guard file.boot == Self.boot, file.namespace == Self.namespace else { return .elsewhere }
        let known = file.changes.compactMap(\.change)
        changes = known
        if known.count < file.changes.count { return .damaged }
        return .changes
    }

    /// Adds changes that are about to be made; when the call returns they are kept.
    ///
    /// - Throws: `HostError.journal`; nothing may then be changed.
    mutating func record(_ new: [HostChange]) throws(HostError) {
        let known = Set(changes)
        let added = new.filter { !known.contains($0) }
        guard !added.isEmpty else { return }
        try save(changes + added)
        changes += added
    }

    /// Keeps only these of the changes, in this order, because the others are undone.
    ///
    /// - Throws: `HostError.journal`; what is kept too much does no harm.
    mutating func keep(_ kept: [HostChange]) throws(HostError) {
        let known = Set(changes)
        let rest = kept.filter { known.contains($0) }
        guard rest != changes else { return }
        changes = rest
        try save(rest)
    }

    /// Forgets everything.
    ///
    /// - Throws: `HostError.journal`.
    mutating func clear() throws(HostError) {
        changes = []
        try storage.save([])
    }

    private func save(_ changes: [HostChange]) throws(HostError) {
        if changes.isEmpty {
            try storage.save([])
            return
        }
        let file = File(
            version: Self.version, boot: Self.boot, namespace: Self.namespace,
            changes: changes.map { JournalEntry($0) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(file) else {
            throw .journal(operation: "encode", errno: EINVAL)
        }
        try storage.save([UInt8](data))
    }

    /// Differs from boot to boot.
    private static var boot: String { Setting.read("/proc/sys/kernel/random/boot_id") ?? "unknown" }

    /// The network namespace of the calling thread.
    private static var namespace: String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self/ns/net", &buffer, buffer.count)
        return count > 0
            ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : "unknown"
    }
}
