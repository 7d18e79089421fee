// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials

extension ControlService {
    /// The header field by which a device asks for an encrypted answer, and its value.
    static let envelopeField = "X-NexusGuard-Envelope"
    static let envelopeValue = "aes-256-gcm"

    /// `POST /api/v1/heartbeat`: takes a device's news and tells it its configuration.
    func heartbeat(
        _ request: ServerRequest, _ injected: InjectedFaults
    ) async throws(RequestError) -> ServerResponse {
        let news: HeartbeatRequest
        do {
            news = try HeartbeatRequest(parsing: request.body)
        } catch {
            throw .refused(.malformed(error))
        }
        let address: String? = if case .network(let address, _) = request.peer { address } else { nil }
        let report = DeviceRecord.Report(
            status: news.status, isTunnelUp: news.tunnelUp, lastHandshake: news.lastHandshake,
            address: address)
        let (known, clockLead) = try await admit(request, from: news.deviceID, report: report)
        let wantsEnvelope = try wantsEnvelope(request)
        guard known.revocation == nil else {
            return revoked(known, wantsEnvelope: wantsEnvelope)
        }
        var device = known
        if let every = injected.rotateEvery, countHeartbeat(of: device.id).isMultiple(of: every) {
            device = try await rotated(device)
        }
        guard let keys = device.newestKeys else { throw .refused(.unknownDevice) }
        if settings.believesReports {
            try await noteUse(of: keys, by: device, news: news, clockLead: clockLead)
        }
        try await deliver(keys, to: device)
        var config = try await config(for: device, keys: keys)
        injected.alter(&config)
        let response = HeartbeatResponse(config: config, nextInterval: settings.heartbeatInterval)
        var plaintext = injected.alter(response.json())
        guard wantsEnvelope else { return .json(plaintext) }
        defer { plaintext.erase() }
        let key = CryptoManager.heartbeatResponseKey(injected.envelopeKey(device.provisioningKey))
        let envelope = injected.alter(envelope: CryptoManager.encrypt(plaintext, key: key))
        return .json(ProvisionResponse(encryptedConfig: envelope).json())
    }

    /// Makes the next generation of a device's keys, and lets the server peer accept it.
    private func rotated(_ device: DeviceRecord) async throws(RequestError) -> DeviceRecord {
        let now = clock.now()
        let presharedKey = settings.usesPresharedKeys ? SecretBytes(randomByteCount: 32) : nil
        let changed = try await stored { () async throws(StoreError) -> DeviceRecord? in
            let generation = try await store.addKeys(
                to: device.id, privateKey: SecretBytes(randomByteCount: 32), presharedKey: presharedKey,
                at: now)
            return generation == nil ? nil : try await store.device(device.id)
        }
        guard let changed else { throw .refused(.unknownDevice) }
        log.add(
            level: .info, tag: "keys", message: "device \(DeviceIDMask.mask(device.id)) gets new keys")
        await announceChange()
        return changed
    }

    /// Concludes from a device's news that it uses its newest keys: a handshake since they were delivered.
    ///
    /// - Parameter clockLead: How far the device's clock is ahead of the server's.
    private func noteUse(
        of keys: DeviceKeys, by device: DeviceRecord, news: HeartbeatRequest, clockLead: TimeInterval
    ) async throws(RequestError) {
        guard keys.usedAt == nil, news.tunnelUp, let deliveredAt = keys.deliveredAt,
            let handshake = news.lastHandshake, handshake.addingTimeInterval(-clockLead) > deliveredAt
        else { return }
        let now = clock.now()
        let isNews = try await stored { () async throws(StoreError) in
            try await store.noteUse(of: keys.generation, by: device.id, at: now)
        }
        if isNews { await announceChange() }
    }

    /// Whether a device asks for an encrypted answer.
    private func wantsEnvelope(_ request: ServerRequest) throws(RequestError) -> Bool {
        guard let value = request.header(Self.envelopeField) else {
            guard !settings.requiresEnvelope else {
                throw .refused(
                    Refusal(
                        status: 400, code: "envelope-required",
                        message: "this server answers only with \(Self.envelopeField): \(Self.envelopeValue)")
                )
            }
            return false
        }
        guard value.lowercased() == Self.envelopeValue else {
            throw .refused(
                Refusal(
                    status: 400, code: "unknown-envelope",
                    message: "\(Self.envelopeField) can only be \(Self.envelopeValue)"))
        }
        return true
    }

    /// The answer to a device that lost its identity; encrypted, it proves that the server means it.
    private func revoked(_ device: DeviceRecord, wantsEnvelope: Bool) -> ServerResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("device_id", device.id)
        writer.member("status", "revoked")
        writer.endObject()
        let statement = writer.finish()
        guard wantsEnvelope else { return .json(statement, status: 410) }
        let key = CryptoManager.heartbeatResponseKey(device.provisioningKey)
        let envelope = CryptoManager.encrypt(statement, key: key)
        return .json(ProvisionResponse(encryptedConfig: envelope).json(), status: 410)
    }
}
