// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc

/// A packet that was captured, from its IP header on.
package struct CapturedPacket: Sendable {
    /// All of it.
    package let bytes: [UInt8]

    /// The version of IP.
    package var version: Int { bytes.isEmpty ? 0 : Int(bytes[0] >> 4) }

    /// The octet of the DSCP (upper six bits) and of ECN (lower two).
    package var trafficClass: UInt8 {
        guard bytes.count > 1 else { return 0 }
        return version == 4 ? bytes[1] : (bytes[0] << 4) | (bytes[1] >> 4)
    }

    /// The number of octets before the UDP header, without extension headers.
    private var headerLength: Int { version == 4 ? Int(bytes[0] & 0x0f) * 4 : 40 }

    /// The UDP source port.
    package var sourcePort: Int {
        let start = headerLength
        return bytes.count > start + 1 ? Int(bytes[start]) << 8 | Int(bytes[start + 1]) : 0
    }

    /// What the UDP datagram carries.
    package var payload: [UInt8] { Array(bytes.dropFirst(headerLength + 8)) }
}

/// A running capture of packets on one interface.
package struct Capture: Sendable {
    private let child: Child
    private let path: String

    /// Starts to capture; returns when packets are seen.
    ///
    /// - Parameters:
    ///   - interface: The interface, Ethernet or TUN.
    ///   - filter: What tcpdump calls an expression.
    package init(_ lab: Lab, in namespace: Namespace, on interface: String, _ filter: String) async throws {
        let path = lab.path(of: Lab.uniqueName() + ".pcap")
        let child = try lab.spawn(
            in: namespace, "tcpdump", "--immediate-mode", "-Z", "root", "-i", interface, "-s", "0", "-U",
            "-n", "-w", path, filter
        )
        self.path = path
        self.child = child
        try await Shell.eventually("tcpdump listens") {
            if let status = child.poll() {
                throw ShellError.neverTrue("tcpdump runs (\(status)): \(child.standardError)")
            }
            return child.standardError.contains("listening on")
        }
    }

    /// What tcpdump has told so far of the packets: those written, those that matched, and those lost.
    private var counts: [(written: Int, matched: Int, dropped: Int)] {
        child.standardError.split(separator: "\n").compactMap { line in
            // "tcpdump: 3 packets captured, 3 packets received by filter, 0 packets dropped by kernel"
            let numbers = line.split(separator: ",").compactMap { part in
                part.split(separator: " ").compactMap { Int($0) }.first
            }
            return numbers.count >= 3 ? (numbers[0], numbers[1], numbers[2]) : nil
        }
    }

    /// Ends the capture and returns the packets.
    package func stop() async throws -> [CapturedPacket] {
        // What is on its way arrives within a moment; then tcpdump must have had time to take it.
        try await Task.sleep(for: .milliseconds(300))
        try await Shell.eventually("tcpdump has written all that the kernel saw") {
            let known = counts.count
            child.signal(SIGUSR1)
            try await Shell.eventually("tcpdump tells its counts") { counts.count > known }
            return counts.last.map { $0.written + $0.dropped >= $0.matched } ?? false
        }
        try await child.stop(SIGTERM)
        let file = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
        guard file.count >= 24 else { return [] }
        func word(_ offset: Int) -> Int {
            Int(file[offset]) | Int(file[offset + 1]) << 8 | Int(file[offset + 2]) << 16 | Int(
                file[offset + 3]) << 24
        }
        // Link type 1 is Ethernet, with 14 octets before the packet; TUN has none.
        let skipped = word(20) == 1 ? 14 : 0
        var packets: [CapturedPacket] = []
        var offset = 24
        while offset + 16 <= file.count {
            let length = word(offset + 8)
            let start = offset + 16
            guard start + length <= file.count else { break }
            packets.append(CapturedPacket(bytes: Array(file[start..<start + length].dropFirst(skipped))))
            offset = start + length
        }
        return packets
    }
}
