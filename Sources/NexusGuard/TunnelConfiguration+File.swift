// SPDX-License-Identifier: MIT

internal import Glibc
public import WireGuardConfiguration
internal import WireGuardCrypto
public import WireGuardProtocol

/// Why a configuration file was not read.
public enum ConfigurationReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file can not be opened or read; the reason names the system call.
    case unreadable(path: String, reason: String)
    /// The file has a line that is refused.
    case invalid(path: String, ConfigurationFileError)

    /// One sentence that names the file and, if it is to blame, the line.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path) can not be read: \(reason)"
        case .invalid(let path, let error): "\(path), \(error)"
        }
    }
}

extension ConfigurationFile {
    /// The most bytes of a file that are read.
    private static let largestFile = 64 << 20

    /// Reads a file such as `/etc/wireguard/wg0.conf`; the bytes are erased from memory afterwards.
    ///
    /// - Throws: `ConfigurationReadError`.
    public init(contentsOf path: String) throws(ConfigurationReadError) {
        let buffer: SecretBuffer
        do {
            buffer = try Self.read(path)
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
        do {
            self = try buffer.withBytes { (bytes) throws(ConfigurationFileError) in
                try ConfigurationFile(parsing: bytes)
            }
        } catch {
            throw .invalid(path: path, error)
        }
    }

    private static func read(_ path: String) throws(SystemCallError) -> SecretBuffer {
        let descriptor = try SystemCall.run("open") { open(path, O_RDONLY | O_CLOEXEC) }
        defer { SystemCall.close(descriptor) }
        var buffer = SecretBuffer(capacity: 16_384)
        var piece: [4096 of UInt8] = .init(repeating: 0)
        defer { piece = .init(repeating: 0) }
        while true {
            var span = piece.mutableSpan
            let count = try span.withUnsafeMutableBytes { (bytes) throws(SystemCallError) -> Int in
                defer { if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) } }
                let count = try SystemCall.run("read") {
                    Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                }
                buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]).bytes)
                return count
            }
            if count == 0 { return buffer }
            guard buffer.byteCount <= largestFile else {
                throw SystemCallError(call: "read", errno: EFBIG)
            }
        }
    }
}

extension TunnelConfiguration {
    /// Reads the tunnel's part of a file such as `/etc/wireguard/wg0.conf`.
    ///
    /// What is for the host's network set-up, such as addresses and name servers, is read and left aside; use
    /// `ConfigurationFile` to get it.
    ///
    /// - Throws: `ConfigurationReadError`.
    public init(contentsOf path: String) throws(ConfigurationReadError) {
        self = try ConfigurationFile(contentsOf: path).tunnel
    }
}
