// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard

/// What the host's files say about names.
struct NameFiles: Sendable {
    /// The file of name servers that all programs use.
    var resolverFile = "/etc/resolv.conf"
    /// The same with the servers behind systemd-resolved, which itself does not mark what it sends.
    var upstreamFile = "/run/systemd/resolve/resolv.conf"
    /// The file of names with addresses.
    var hostsFile = "/etc/hosts"

    private static let mostServers = 3
    private static let mostBytes = 1 << 20

    /// The name servers in order.
    var servers: [IPAddress] {
        let servers = Self.servers(in: resolverFile)
        let isLocalStub = !servers.isEmpty && servers.allSatisfy { $0.description.hasPrefix("127.0.0.5") }
        guard isLocalStub else { return servers }
        let upstream = Self.servers(in: upstreamFile)
        return upstream.isEmpty ? servers : upstream
    }

    /// The addresses of a name in the file of hosts.
    func hosts(_ name: String) -> [IPAddress] {
        let wanted = name.lowercased()
        return Self.lines(of: hostsFile).compactMap { words in
            guard let first = words.first, words.dropFirst().contains(where: { $0.lowercased() == wanted })
            else {
                return nil
            }
            return try? IPAddress(first)
        }.unique
    }

    private static func servers(in path: String) -> [IPAddress] {
        let servers = lines(of: path).compactMap { words -> IPAddress? in
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            return try? IPAddress(words[1])
        }
        return Array(servers.unique.prefix(mostServers))
    }

    /// The words of each line, without comments.
    private static func lines(of path: String) -> [[Substring]] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < mostBytes {
            let count = read(descriptor, &block, block.count)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            line.prefix { $0 != "#" && $0 != ";" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
        }
    }
}
