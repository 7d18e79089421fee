// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

/// A WireGuard daemon that the tests can start.
struct Implementation: Sendable, Equatable, CustomTestStringConvertible {
    /// The path of the executable.
    let path: String

    var testDescription: String { String(path.split(separator: "/").last ?? "") }

    /// The daemon under test: `NEXUSGUARD_TUN`, else the one that was built beside this test bundle.
    static let tested = Implementation(
        path: ProcessInfo.processInfo.environment["NEXUSGUARD_TUN"]
            ?? Bundle.main.bundleURL.appending(path: "nexusguard-tun").path)

    /// The other daemon, for interoperation: Debian's wireguard-go.
    static let other = Implementation(path: Machine.location(of: "wireguard-go"))

    /// Whether the daemon under test is this package's.
    ///
    /// The harness itself is checked by naming wireguard-go in `NEXUSGUARD_TUN`; a few behaviours are not its.
    static let isOurs = !tested.path.hasSuffix("wireguard-go")
}
