// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials

/// Tells the control server how this device is, and takes what it answers.
///
/// When heartbeats are sent is decided by `AgentMachine`.
package struct HeartbeatService: Sendable {
    /// Who this device is to the server.
    package struct Identity: Sendable {
        /// The server's name for the device.
        package let deviceID: String
        /// What device and server share; `nil` when the configuration was imported.
        package let key: ProvisioningKey?

        /// Creates an identity.
        package init(deviceID: String, key: ProvisioningKey?) {
            self.deviceID = deviceID
            self.key = key
        }
    }

    /// What a heartbeat brings.
    package struct News: Sendable {
        /// The configuration that the server has for this device.
        package let config: WireGuardConfig
        /// When the server wants the next heartbeat.
        package let nextInterval: Duration?
        /// How far the clock is off, where that is worth a word.
        package let clockSkew: Duration?
        /// The address of the server.
        package let serverAddress: String?
    }

    /// What the server says of the forwards.
    package enum Forwards: Hashable, Sendable {
        /// They are these, and their digest is this.
        case changed([PortForward], hash: String?)
        /// They are what they were.
        case unchanged
        /// This server tells no forwards.
        case unavailable
    }

    private static let envelopeField = (name: "X-NexusGuard-Envelope", value: "aes-256-gcm")

    private let connection: ControlConnection

    /// Creates a service.
    package init(connection: ControlConnection) {
        self.connection = connection
    }

    /// Sends one heartbeat.
    ///
    /// - Throws: Why there is no news; `.revoked` is proven only where the answer is encrypted under the
    ///   device's key and names the device.
    package func sendHeartbeat(
        _ identity: Identity, status: AgentState, tunnelUp: Bool, lastHandshake: Date?,
        _ settings: ControlSettings
    ) async throws(ServiceFailure) -> News {
        let body = HeartbeatRequest(
            deviceID: identity.deviceID, status: status.rawValue, tunnelUp: tunnelUp,
            lastHandshake: lastHandshake
        ).json()
        var request = ControlConnection.Request(path: "/api/v1/heartbeat", body: body)
        request.mayBeGone = true
        authorize(&request, identity, settings)
        if identity.key != nil { request.headers.append(Self.envelopeField) }
        var answer = try await connection.send(request, settings)
        // A plain answer holds the keys.
        defer { answer.body.erase() }
        guard answer.status == 200 else {
            guard answer.status == 404 || answer.status == 410 else {
                throw ServiceFailure(.serverRejected(answer.status))
            }
            throw ServiceFailure(.revoked, isProven: Self.provesRevocation(answer.body, identity))
        }
        do throws(AgentError) {
            let response = try HeartbeatResponse(
                parsing: answer.body, key: identity.key, requiresEncryption: settings.requiresEncryption)
            guard response.config.deviceID == identity.deviceID else { throw .identityMismatch }
            return News(
                config: response.config, nextInterval: response.nextInterval, clockSkew: answer.clockSkew,
                serverAddress: answer.remoteAddress)
        } catch {
            throw ServiceFailure(error, isMalformed: true)
        }
    }

    /// Fetches the forwards.
    ///
    /// - Parameter known: The digest of those that are known.
    /// - Throws: Why they are not known.
    package func fetchForwards(
        _ identity: Identity, known: String?, _ settings: ControlSettings
    ) async throws(ServiceFailure) -> Forwards {
        var request = ControlConnection.Request(method: "GET", path: "/api/v1/forwards")
        request.query = "?device_id=\(Self.percentEncoded(identity.deviceID))"
        request.mayBeGone = true
        authorize(&request, identity, settings)
        if let known, !known.contains("\"") {
            request.headers.append((name: "If-None-Match", value: "\"\(known)\""))
        }
        let answer = try await connection.send(request, settings)
        switch answer.status {
        case 200:
            do throws(AgentError) {
                let response = try ForwardsResponse(parsing: answer.body)
                return .changed(response.forwards, hash: response.forwardsHash ?? answer.entityTag)
            } catch {
                throw ServiceFailure(error, isMalformed: true)
            }
        case 304: return .unchanged
        case 404: return .unavailable
        default: throw ServiceFailure(.serverRejected(answer.status))
        }
    }

    /// Tells the server that this device gives its identity back; a server that has forgotten it already
    /// agrees.
    ///
    /// - Throws: Why the server did not take note.
    package func deprovision(
        _ identity: Identity, _ settings: ControlSettings
    ) async throws(ServiceFailure) {
        var request = ControlConnection.Request(
            path: "/api/v1/deprovision", body: DeprovisionRequest(deviceID: identity.deviceID).json())
        request.mayBeGone = true
        authorize(&request, identity, settings)
        _ = try await connection.send(request, settings)
    }

    private func authorize(
        _ request: inout ControlConnection.Request, _ identity: Identity, _ settings: ControlSettings
    ) {
        guard settings.authenticates, let key = identity.key else { return }
        let header = CryptoManager.requestAuthorization(
            method: request.method, path: request.path, timestamp: connection.timestamp,
            body: request.body ?? [], deviceID: identity.deviceID, key: key)
        request.headers.append((name: "Authorization", value: header))
    }

    /// Whether only somebody who knows the device's key can have written that the device is revoked.
    private static func provesRevocation(_ body: [UInt8], _ identity: Identity) -> Bool {
        guard let key = identity.key else { return false }
        do throws(AgentError) {
            let envelope = try ProvisionResponse(parsing: body).encryptedConfig
            let plaintext = try CryptoManager.decrypt(
                encoded: envelope, key: CryptoManager.heartbeatResponseKey(key))
            let fields = try JSONFields(parsing: plaintext)
            let device = try fields.nonEmptyText("device_id", limit: DeviceIDMask.longestDeviceID)
            let status = try fields.nonEmptyText("status", limit: HeartbeatRequest.longestStatus)
            return device == identity.deviceID && status == "revoked"
        } catch {
            return false
        }
    }

    /// A text as the value of a query; everything but letters, digits and `-._~` is encoded (RFC 3986).
    private static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
