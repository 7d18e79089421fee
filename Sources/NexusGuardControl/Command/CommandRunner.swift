// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials
internal import NexusGuard

/// Carries out the commands that look at the state or change it.
struct CommandRunner {
    let store: any ControlStore
    let isJSON: Bool
    let clock: ControlClock
    let output: CommandOutput

    /// Carries a command out.
    ///
    /// - Throws: `CommandFailure`.
    func run(_ command: ControlCommand) async throws(CommandFailure) {
        switch command {
        case .help, .version, .completion, .serve: return
        case .tokenNew(let name, let validity): try await tokenNew(name: name, validity: validity)
        case .tokenList: try await tokenList()
        case .tokenRevoke(let id): try await tokenRevoke(id)
        case .deviceList(let includesRevoked): try await deviceList(includesRevoked: includesRevoked)
        case .deviceShow(let text): try await deviceShow(text)
        case .deviceRevoke(let text): try await deviceRevoke(text)
        case .rotateKeys(let text): try await rotateKeys(text)
        case .forwardAdd(let text, let transportProtocol, let publicPort, let address, let port):
            let device = try await find(text)
            guard let target = address ?? device.addresses.first else { throw Self.isRevoked(device) }
            try await forwardAdd(
                PortForward(
                    transportProtocol: transportProtocol, publicPort: publicPort, targetAddress: target,
                    targetPort: port), to: device)
        case .forwardRemove(let transportProtocol, let publicPort):
            try await forwardRemove(transportProtocol, publicPort)
        case .forwardList(let text): try await forwardList(text)
        }
    }

    // MARK: Tokens

    private func tokenNew(name: String?, validity: Duration?) async throws(CommandFailure) {
        let now = clock.now()
        let expiresAt = validity.map { now.addingTimeInterval(Double($0.components.seconds)) }
        // Another token with the same 32 bits of identifier is unlikely; a hundred in a row are impossible.
        for _ in 0..<100 {
            let token = RegistrationToken.make()
            let record = TokenRecord(
                id: RegistrationToken.identifier(of: token), digest: RegistrationToken.digest(of: token),
                name: name, createdAt: now, expiresAt: expiresAt)
            guard try await stored({ () async throws(StoreError) in try await store.addToken(record) }) else {
                continue
            }
            if isJSON {
                emitJSON { writer in
                    writer.member("id", record.id)
                    writer.member("token", token)
                    writer.optionalMember("name", name)
                    writer.optionalMember("expires", expiresAt)
                }
            } else {
                output.write(token + "\n")
            }
            return
        }
        throw .failed("no token with an identifier of its own was found")
    }

    private func tokenList() async throws(CommandFailure) {
        let tokens = try await stored { () async throws(StoreError) in try await store.tokens() }
        let now = clock.now()
        if isJSON {
            emitJSON { writer in
                writer.name("tokens")
                writer.beginArray()
                for token in tokens {
                    writer.beginObject()
                    writer.member("id", token.id)
                    writer.member("state", token.state(at: now).rawValue)
                    writer.optionalMember("name", token.name)
                    writer.member("created", RFC3339.text(token.createdAt))
                    writer.optionalMember("expires", token.expiresAt)
                    writer.optionalMember("revoked", token.revokedAt)
                    writer.optionalMember("device", token.deviceID)
                    writer.endObject()
                }
                writer.endArray()
            }
            return
        }
        let rows = tokens.map { token in
            [
                token.id, token.state(at: now).rawValue, RFC3339.text(token.createdAt),
                token.expiresAt.map { RFC3339.text($0) } ?? "never", token.deviceID ?? "-", token.name ?? "-",
            ]
        }
        output.write(TextTable.text(["ID", "STATE", "CREATED", "EXPIRES", "DEVICE", "NAME"], rows))
    }

    private func tokenRevoke(_ id: String) async throws(CommandFailure) {
        let now = clock.now()
        let isKnown = try await stored { () async throws(StoreError) in
            try await store.revokeToken(id, at: now)
        }
        guard isKnown else { throw .notFound("there is no token with the ID \(ShownText.value(id))") }
        emitDone("token \(id) is taken back") { $0.member("id", id) }
    }

    // MARK: Forwards

    private func forwardAdd(_ forward: PortForward, to device: DeviceRecord) async throws(CommandFailure) {
        let record = ForwardRecord(deviceID: device.id, forward: forward, createdAt: clock.now())
        switch try await stored({ () async throws(StoreError) in try await store.addForward(record) }) {
        case nil:
            let port = "\(forward.transportProtocol.rawValue) port \(forward.publicPort)"
            emitDone("\(port) is forwarded to \(Self.target(forward))") { $0.write(record) }
        case .taken(let holder):
            let port = "\(forward.transportProtocol.rawValue) port \(forward.publicPort)"
            throw .conflict("\(port) is forwarded already, for device \(holder)")
        case .tooMany:
            throw .conflict("the device has \(PortForward.largestCount) forwards, and reads no more")
        case .unknownDevice: throw Self.isRevoked(device)
        }
    }

    private func forwardRemove(
        _ transportProtocol: PortForward.TransportProtocol, _ publicPort: UInt16
    ) async throws(CommandFailure) {
        let wasThere = try await stored { () async throws(StoreError) in
            try await store.removeForward(transportProtocol, publicPort: publicPort)
        }
        let port = "\(transportProtocol.rawValue) port \(publicPort)"
        guard wasThere else { throw .notFound("\(port) is not forwarded") }
        emitDone("\(port) is no longer forwarded") { writer in
            writer.member("protocol", transportProtocol.rawValue)
            writer.member("public_port", Int(publicPort))
        }
    }

    private func forwardList(_ text: String?) async throws(CommandFailure) {
        var id: String?
        if let text { id = try await find(text).id }
        let device = id
        let records = try await stored { () async throws(StoreError) in
            try await store.forwards(of: device)
        }
        if isJSON {
            emitJSON { writer in
                writer.name("forwards")
                writer.beginArray()
                for record in records {
                    writer.beginObject()
                    writer.write(record)
                    writer.endObject()
                }
                writer.endArray()
            }
            return
        }
        let rows = records.map { record in
            [
                record.forward.transportProtocol.rawValue, "\(record.forward.publicPort)",
                Self.target(record.forward), record.deviceID,
            ]
        }
        output.write(TextTable.text(["PROTOCOL", "PORT", "TARGET", "DEVICE"], rows))
    }

    private static func target(_ forward: PortForward) -> String {
        SocketAddress(address: forward.targetAddress, port: forward.targetPort).description
    }

    // MARK: For all

    /// The device that a text names.
    func find(_ text: String) async throws(CommandFailure) -> DeviceRecord {
        let devices = try await stored { () async throws(StoreError) in try await store.devices() }
        if let device = devices.first(where: { $0.id == text }) { return device }
        let matches = devices.filter { device in
            device.name == text || (text.utf8.count >= 4 && device.id.hasPrefix(text.lowercased()))
        }
        // Of several with one name, the one that still has its identity is meant.
        let live = matches.filter { $0.revocation == nil }
        let candidates = live.isEmpty ? matches : live
        guard let device = candidates.first else {
            throw .notFound("there is no device \(ShownText.value(text))")
        }
        guard candidates.count == 1 else {
            let list = candidates.map(\.id).joined(separator: ", ")
            throw .conflict("\(ShownText.value(text)) names \(candidates.count) devices: \(list)")
        }
        return device
    }

    /// The failure of a command that needs a device with its identity.
    static func isRevoked(_ device: DeviceRecord) -> CommandFailure {
        .conflict("device \(device.id) has no identity any more")
    }

    /// Runs a call of the store.
    func stored<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(CommandFailure) -> Result {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }

    /// Says that a change was made.
    func emitDone(_ sentence: String, _ body: (inout JSONWriter) -> Void) {
        if isJSON {
            emitJSON(body)
        } else {
            output.write(sentence + "\n")
        }
    }

    /// Writes an object with the number of its schema first.
    func emitJSON(_ body: (inout JSONWriter) -> Void) {
        output.write(JSONWriter.document(body))
    }
}
