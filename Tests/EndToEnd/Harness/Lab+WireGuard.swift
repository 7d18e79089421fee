// SPDX-License-Identifier: MIT

internal import Harness

extension Lab {
    /// The name of an interface, whose control socket is removed at the end.
    func interfaceName() -> String {
        let name = Self.uniqueName()
        removeAtEnd(Daemon.socketPath(of: name))
        return name
    }

    /// A fresh private key in a file of mode 0600, and its public key.
    func keyPair() async throws -> (path: String, publicKey: String) {
        let key = try await Shell.check(["wg", "genkey"]).standardOutput
        let publicKey = try await Shell.check(["wg", "pubkey"], input: key).text
        return (try file(Self.uniqueName() + ".key", key), publicKey)
    }
}
