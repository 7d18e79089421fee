// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardProtocol

/// What the control socket asks of the tunnel. Called on the server's thread, one call at a time.
struct UAPIOperations: Sendable {
    /// The answer to a get operation.
    enum Answer: Sendable {
        /// The state of the device.
        case snapshot(DeviceSnapshot)
        /// No answer, and why.
        case refused(UAPIStatus)
    }

    /// Gives the state of the device.
    let get: @Sendable () -> Answer
    /// Applies a change that was read as a whole, or none of it.
    let apply: @Sendable (ConfigurationChange) -> UAPIStatus
    /// Tells why a request was refused.
    let note: @Sendable (String) -> Void
    /// Tells that the path of the socket is gone, which ends the tunnel.
    let end: @Sendable () -> Void

    /// Reads and applies the set operation that `reader` gave last.
    func set(with reader: borrowing UAPIRequestReader) -> UAPIStatus {
        do {
            let change = try reader.withBody { (body) throws(UAPIError) in
                try UAPISetParser.parse(body, resolvingZone: InterfaceIndex.index)
            }
            return apply(change)
        } catch {
            note("a set request was refused at \(error)")
            return error.status
        }
    }
}
