// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuardControl

/// A store that fails at everything.
struct BrokenStore: ControlStore {
    let error: StoreError

    func addToken(_ token: TokenRecord) throws(StoreError) -> Bool { throw error }
    func tokens() throws(StoreError) -> [TokenRecord] { throw error }
    func revokeToken(_ id: String, at now: Date) throws(StoreError) -> Bool { throw error }
    func enrol(_ enrolment: Enrolment) throws(StoreError) -> Enrolment.Outcome { throw error }
    func device(_ id: String) throws(StoreError) -> DeviceRecord? { throw error }
    func devices() throws(StoreError) -> [DeviceRecord] { throw error }
    func revokeDevice(
        _ id: String, as kind: DeviceRecord.Revocation, at now: Date
    ) throws(StoreError) -> Bool { throw error }
    func note(_ contact: Contact) throws(StoreError) -> Contact.Outcome { throw error }
    func addKeys(
        to id: String, privateKey: SecretBytes, presharedKey: SecretBytes?, at now: Date
    ) throws(StoreError) -> Int? { throw error }
    func noteDelivery(of generation: Int, to id: String, at now: Date) throws(StoreError) { throw error }
    func noteUse(of generation: Int, by id: String, at now: Date) throws(StoreError) -> Bool { throw error }
    func forwards(of id: String?) throws(StoreError) -> [ForwardRecord] { throw error }
    func addForward(_ record: ForwardRecord) throws(StoreError) -> ForwardRefusal? { throw error }
    func removeForward(
        _ transportProtocol: PortForward.TransportProtocol, publicPort: UInt16
    ) throws(StoreError) -> Bool { throw error }
    func serverKey(orKeep candidate: SecretBytes) throws(StoreError) -> SecretBytes { throw error }
    func foreignChanges() throws(StoreError) -> Int { throw error }
}
