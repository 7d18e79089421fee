// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl

/// Values that tests start from.
enum Samples {
    /// A time without fractions of a millisecond, which the store does not keep.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The pool of the seeds' example.
    static func pool(_ text: String = "10.172.21.0/24", server: String? = nil) throws -> AddressPool {
        try AddressPool(network: IPPrefix(text), serverAddress: server.map { try IPAddress($0) })
    }

    /// Keys drawn anew.
    static func keys(generation: Int = 1, at: Date = now) -> DeviceKeys {
        DeviceKeys(
            generation: generation, privateKey: SecretBytes(randomByteCount: 32),
            presharedKey: SecretBytes(randomByteCount: 32), createdAt: at)
    }

    /// A token of the store.
    static func token(_ id: String = "aaaaaaaa", expiresAt: Date? = nil, name: String? = nil) -> TokenRecord {
        TokenRecord(
            id: id, digest: digest(of: id), name: name, createdAt: now, expiresAt: expiresAt)
    }

    /// A made-up digest that differs for each token.
    static func digest(of id: String) -> [UInt8] {
        Array((id + String(repeating: "-", count: 32)).utf8.prefix(32))
    }

    /// The provisioning key of a made-up token.
    static func provisioningKey(token: String, hwid: String) -> ProvisioningKey {
        CryptoManager.deriveKey(token: token, hwid: hwid)
    }

    /// A request for an identity.
    static func enrolment(
        token: String = "aaaaaaaa", hwid: String = "hwid-1", device: String = UUID().uuidString.lowercased(),
        pools: [AddressPool], at: Date = now
    ) -> Enrolment {
        Enrolment(
            tokenID: token, tokenDigest: digest(of: token), hwid: hwid,
            provisioningKey: provisioningKey(token: token, hwid: hwid), deviceID: device, keys: keys(at: at),
            pools: pools, at: at)
    }
}

extension Enrolment.Outcome {
    /// The device of a request that was granted.
    var device: DeviceRecord? {
        switch self {
        case .created(let device), .existing(let device): device
        case .refused, .boundElsewhere, .poolExhausted: nil
        }
    }

    /// The case as a word.
    var name: String {
        switch self {
        case .created: "created"
        case .existing: "existing"
        case .refused: "refused"
        case .boundElsewhere: "bound elsewhere"
        case .poolExhausted: "pool exhausted"
        }
    }
}
