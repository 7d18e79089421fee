// SPDX-License-Identifier: MIT

package import AgentCore
internal import NexusGuard

/// The digest of a list of forwards, which tells devices that it changed.
package enum ForwardsHash {
    /// 32 hexadecimal digits that do not depend on the order of the list.
    package static func text(_ forwards: [PortForward]) -> String {
        let lines = forwards.map { forward in
            "\(forward.transportProtocol.rawValue) \(forward.publicPort) \(forward.targetAddress) "
                + "\(forward.targetPort)\n"
        }
        return Hexadecimal.text(CryptoManager.sha256(Array(lines.sorted().joined().utf8)).prefix(16))
    }
}
