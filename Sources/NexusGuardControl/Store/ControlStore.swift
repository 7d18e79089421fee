// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials

/// The state of the control server.
///
/// Several processes may use one store at a time: the server and the commands of the operator. Each function is
/// one transaction; what it says is kept survives a loss of power, but for contacts, of which the last seconds
/// may be lost.
package protocol ControlStore: Sendable {
    /// Adds a token.
    ///
    /// - Returns: `false` when another token has the identifier.
    func addToken(_ token: TokenRecord) async throws(StoreError) -> Bool
    /// All tokens, the oldest first.
    func tokens() async throws(StoreError) -> [TokenRecord]
    /// Takes a token back; its device, if there is one, stays.
    ///
    /// - Returns: Whether there is such a token.
    func revokeToken(_ id: String, at now: Date) async throws(StoreError) -> Bool

    /// Gives a device its identity: a new one, or the one that it got before.
    func enrol(_ enrolment: Enrolment) async throws(StoreError) -> Enrolment.Outcome
    /// A device, revoked ones too.
    func device(_ id: String) async throws(StoreError) -> DeviceRecord?
    /// All devices, revoked ones too, the oldest first.
    func devices() async throws(StoreError) -> [DeviceRecord]
    /// Takes a device's identity: its keys are erased, its addresses are free, its forwards and its token end.
    ///
    /// - Returns: Whether the device had its identity until now.
    func revokeDevice(
        _ id: String, as kind: DeviceRecord.Revocation, at now: Date
    ) async throws(StoreError) -> Bool
    /// Notes a request, and refuses a nonce that was seen before.
    func note(_ contact: Contact) async throws(StoreError) -> Contact.Outcome

    /// Adds a generation of keys, in place of one that the device never got.
    ///
    /// - Returns: The number of the generation, or `nil` when there is no such device or it is revoked.
    func addKeys(
        to id: String, privateKey: SecretBytes, presharedKey: SecretBytes?, at now: Date
    ) async throws(StoreError) -> Int?
    /// Notes that a generation was given to the device.
    func noteDelivery(of generation: Int, to id: String, at now: Date) async throws(StoreError)
    /// Notes that the device uses a generation: those before it are erased.
    ///
    /// - Returns: Whether that is news.
    func noteUse(of generation: Int, by id: String, at now: Date) async throws(StoreError) -> Bool

    /// The forwards of a device, or all, by protocol and port.
    func forwards(of id: String?) async throws(StoreError) -> [ForwardRecord]
    /// Adds a forward.
    ///
    /// - Returns: `nil`, or why it was not added.
    func addForward(_ record: ForwardRecord) async throws(StoreError) -> ForwardRefusal?
    /// Removes a forward.
    ///
    /// - Returns: Whether there was one.
    func removeForward(
        _ transportProtocol: PortForward.TransportProtocol, publicPort: UInt16
    ) async throws(StoreError) -> Bool

    /// The server's WireGuard key; `candidate` becomes it when there is none yet.
    func serverKey(orKeep candidate: SecretBytes) async throws(StoreError) -> SecretBytes
    /// A number that changes when another process changes something.
    func foreignChanges() async throws(StoreError) -> Int
}

/// Why a forward was not added.
package enum ForwardRefusal: Hashable, Sendable {
    /// There is no such device, or it is revoked.
    case unknownDevice
    /// The port is forwarded already, for this device.
    case taken(deviceID: String)
    /// The device has as many forwards as devices read.
    case tooMany
}
