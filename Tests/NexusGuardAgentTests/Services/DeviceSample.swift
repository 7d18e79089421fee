// SPDX-License-Identifier: MIT

import AgentCore
import NexusGuard

@testable import NexusGuardAgent

/// A device as a server knows it, with documents as the server sends them.
enum DeviceSample {
    static let token = "a-token-of-at-least-128-bits"
    static let hwid = "794f2b59fce6d205a9e0486ea6d77009"
    static let deviceID = "d0a1b2c3-0000-4000-8000-00000000beef"
    static let key = CryptoManager.deriveKey(token: token, hwid: hwid)
    static let identity = HeartbeatService.Identity(deviceID: deviceID, key: key)
    static let privateKey = "a8e34db9706a58e12e191b26872936a975c347aef423012db391b4604ae5c05f"
    static let otherPrivateKey = "08e34db9706a58e12e191b26872936a975c347aef423012db391b4604ae5c04f"
    static let serverKey = "268c4de7e20811d0a60d56ec360a3e647650c35371fcbaaba0f680f5b9f95f2c"
    static let presharedKey = "9193c69ef3ce867dfbfe31e8fd013f7063a38edfe25c843507ce82b57108e5d1"

    /// A heartbeat response.
    static func document(
        device: String = deviceID, privateKey: String = privateKey, endpoint: String = "192.0.2.1:51820",
        status: Bool = true, more: String = ""
    ) -> [UInt8] {
        let status = status ? #""status": "ok", "# : ""
        return Array(
            """
            {\(status)"device_id": "\(device)", "internal_ip": "10.172.21.2", "private_key": "\(privateKey)",
            "preshared_key": "\(presharedKey)", "server_pub": "\(serverKey)", "endpoint": "\(endpoint)",
            "dns": "1.1.1.1", "allowed_ips": "10.172.21.0/24", "server_wg_ip": "10.172.21.1"\(more)}
            """.utf8)
    }

    /// The answer to a request for an identity.
    static func provisioned(_ document: [UInt8] = document(status: false)) -> [UInt8] {
        ProvisionResponse(encryptedConfig: CryptoManager.encrypt(document, key: key)).json()
    }

    /// An answer to a heartbeat, encrypted.
    static func sealed(_ document: [UInt8]) -> [UInt8] {
        let key = CryptoManager.heartbeatResponseKey(key)
        return ProvisionResponse(encryptedConfig: CryptoManager.encrypt(document, key: key)).json()
    }

    /// Settings for a server.
    static func settings(
        _ url: String = "https://control.example.net", _ change: (inout AgentConfig) -> Void = { _ in }
    ) throws -> ControlSettings {
        var settings = AgentConfig()
        settings.serverURL = url
        change(&settings)
        return try ControlSettings(settings)
    }
}
