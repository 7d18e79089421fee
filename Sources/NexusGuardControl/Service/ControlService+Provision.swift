// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials
internal import NexusGuard

extension ControlService {
    /// `POST /api/v1/provision`: gives a device its identity.
    func provision(
        _ request: ServerRequest, _ injected: InjectedFaults
    ) async throws(RequestError) -> ServerResponse {
        if let wait = admitProvision(from: request.peer) {
            throw .refused(
                Refusal(
                    status: 429, code: "too-many-requests",
                    message: "this address asked too often in the last minute", retryAfter: wait))
        }
        let asked: ProvisionRequest
        do {
            asked = try ProvisionRequest(parsing: request.body)
        } catch {
            throw .refused(.malformed(error))
        }
        let key = CryptoManager.deriveKey(token: asked.token, hwid: asked.hwid)
        let device = try await enrol(asked, key: key)
        guard let keys = device.newestKeys else { throw .refused(.unknownDevice) }
        try await deliver(keys, to: device)
        var config = try await config(for: device, keys: keys)
        injected.alter(&config)
        var plaintext = injected.alter(WireGuardConfigCodec.serialise(config))
        defer { plaintext.erase() }
        let envelope = injected.alter(
            envelope: CryptoManager.encrypt(plaintext, key: injected.envelopeKey(key)))
        return .json(ProvisionResponse(encryptedConfig: envelope).json())
    }

    /// Finds or makes the device of a request.
    private func enrol(
        _ asked: ProvisionRequest, key: ProvisioningKey
    ) async throws(RequestError) -> DeviceRecord {
        let now = clock.now()
        let tokenID = RegistrationToken.identifier(of: asked.token)
        let enrolment = Enrolment(
            tokenID: tokenID, tokenDigest: RegistrationToken.digest(of: asked.token), hwid: asked.hwid,
            provisioningKey: key, deviceID: UUID().uuidString.lowercased(),
            keys: DeviceKeys(
                generation: 1, privateKey: SecretBytes(randomByteCount: 32),
                presharedKey: settings.usesPresharedKeys ? SecretBytes(randomByteCount: 32) : nil,
                createdAt: now), pools: settings.pools, at: now)
        switch try await stored({ () async throws(StoreError) in try await store.enrol(enrolment) }) {
        case .created(let device):
            log.add(
                level: .info, tag: "provision",
                message: "device \(DeviceIDMask.mask(device.id)) is provisioned by token \(tokenID)")
            await announceChange()
            return device
        case .existing(let device):
            log.add(
                level: .info, tag: "provision",
                message: "device \(DeviceIDMask.mask(device.id)) asked again for its identity")
            return device
        case .refused:
            log.add(level: .warn, tag: "provision", message: "a token was refused")
            throw .refused(.unauthorized("bad-token", "the token is unknown, expired or taken back"))
        case .boundElsewhere:
            log.add(
                level: .warn, tag: "provision",
                message: "token \(tokenID) was used with another hardware identifier")
            throw .refused(
                Refusal(
                    status: 409, code: "token-bound",
                    message: "the token is bound to another hardware identifier"))
        case .poolExhausted:
            log.add(level: .error, tag: "provision", message: "the pool of addresses is exhausted")
            throw .refused(
                Refusal(
                    status: 503, code: "pool-exhausted", message: "the server has no free address",
                    retryAfter: .seconds(300)))
        }
    }

    /// Notes that keys leave for their device, before they do.
    func deliver(_ keys: DeviceKeys, to device: DeviceRecord) async throws(RequestError) {
        guard keys.deliveredAt == nil else { return }
        let now = clock.now()
        try await stored { () async throws(StoreError) in
            try await store.noteDelivery(of: keys.generation, to: device.id, at: now)
        }
        // Another process may have made them a moment ago: the server peer knows them before the device does.
        await announceChange()
    }

    /// What a device is told.
    func config(
        for device: DeviceRecord, keys: DeviceKeys
    ) async throws(RequestError) -> WireGuardConfig {
        guard let privateKey = keys.wireGuardPrivateKey, !device.addresses.isEmpty else {
            throw .refused(.storeFailed)
        }
        let forwards = try await forwards(of: device)
        var config = WireGuardConfig(
            deviceID: device.id, privateKey: privateKey, presharedKey: keys.wireGuardPresharedKey,
            addresses: device.addresses.compactMap { InterfaceAddress(address: $0, length: $0.bitCount) },
            serverPublicKey: settings.serverPublicKey, endpoint: settings.endpoint,
            nameServers: settings.nameServers, allowedIPs: settings.allowedIPs,
            serverAddress: settings.pools.first?.serverAddress, mtu: settings.mtu,
            keepalive: settings.keepalive, forwardsHash: ForwardsHash.text(forwards),
            forwards: settings.sendsForwards ? forwards : nil, adminURL: settings.adminURL)
        config.configHash = Hexadecimal.text(config.tunnelDigest)
        return config
    }

    /// Runs a call of the store.
    func stored<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(RequestError) -> Result {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }
}
