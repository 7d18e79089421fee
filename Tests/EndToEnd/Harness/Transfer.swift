// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

/// Bulk data over TCP.
enum Transfer {
    /// Sends a file of random bytes and expects the same bytes at the other end.
    ///
    /// - Parameters:
    ///   - address: The address of `to`, of either family.
    ///   - megabytes: How many MiB.
    static func check(
        _ lab: Lab, from: Pair.End, to: Pair.End, address: String, megabytes: Int = 10,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let name = Lab.uniqueName()
        let sent = lab.path(of: "\(name).sent")
        let received = lab.path(of: "\(name).received")
        try await Shell.check(["dd", "if=/dev/urandom", "of=\(sent)", "bs=1M", "count=\(megabytes)"])
        let isV6 = address.contains(":")
        let listener = try lab.spawn(
            in: to.namespace, "socat", "-u", "TCP\(isV6 ? 6 : 4)-LISTEN:7000,reuseaddr",
            "OPEN:\(received),creat")
        try await awaitListener(in: to.namespace, port: 7000)
        let target = isV6 ? "TCP6:[\(address)]:7000" : "TCP4:\(address):7000"
        try await from.namespace.check("socat", "-u", "OPEN:\(sent)", target)
        _ = try await listener.wait(atMost: Shell.patience)
        let hashes = try await Shell.check(["sha256sum", sent, received]).lines.map { $0.prefix(64) }
        #expect(
            hashes.count == 2 && hashes[0] == hashes[1], "what arrives differs from what was sent",
            sourceLocation: sourceLocation)
        try await Shell.check(["rm", "-f", sent, received])
    }

    /// Sends zeros that nobody looks at, as fast as they go.
    ///
    /// - Parameter mebibytes: How many MiB.
    static func flow(
        _ lab: Lab, from: Pair.End, to: Pair.End, address: String, mebibytes: Int
    ) async throws {
        let listener = try lab.spawn(
            in: to.namespace, "socat", "-u", "TCP4-LISTEN:7001,reuseaddr", "OPEN:/dev/null")
        try await awaitListener(in: to.namespace, port: 7001)
        try await from.namespace.bash(
            "head -c \(mebibytes)M /dev/zero | socat -u - TCP4:\(address):7001")
        _ = try await listener.wait(atMost: Shell.patience)
    }

    /// Waits until a TCP port is listened on.
    static func awaitListener(in namespace: Namespace, port: Int) async throws {
        try await Shell.eventually("port \(port) is listened on") {
            try await !namespace.run("ss", "-Hltn", "sport = :\(port)").text.isEmpty
        }
    }
}
