// SPDX-License-Identifier: MIT

package import AgentCore

/// Gets this device's identity from the control server.
package struct ProvisioningService: Sendable {
    /// An identity as it came.
    package struct Identity: Sendable {
        /// The configuration of the tunnel.
        package let config: WireGuardConfig
        /// What the device and the server share from now on, in place of the token.
        package let key: ProvisioningKey
        /// How far the clock is off, where that is worth a word.
        package let clockSkew: Duration?
        /// The address of the server.
        package let serverAddress: String?
    }

    private let connection: ControlConnection

    /// Creates a service.
    package init(connection: ControlConnection) {
        self.connection = connection
    }

    /// Asks for the identity that belongs to a token and this host.
    ///
    /// Asked again with the same two, a server gives the same identity, so that no answer that gets lost
    /// makes a second one.
    ///
    /// - Parameter expected: The device that the identity must be; `nil` takes any.
    /// - Throws: Why there is none.
    package func provision(
        token: String, hwid: String, expecting expected: String?, _ settings: ControlSettings
    ) async throws(ServiceFailure) -> Identity {
        var body: [UInt8]
        do throws(AgentError) {
            body = try ProvisionRequest(token: token, hwid: hwid).json()
        } catch {
            throw ServiceFailure(error)
        }
        defer { body.erase() }
        let request = ControlConnection.Request(
            path: "/api/v1/provision", body: body, purpose: .provisioning)
        let answer = try await connection.send(request, settings)
        guard answer.status == 200 else { throw ServiceFailure(.serverRejected(answer.status)) }
        let key = CryptoManager.deriveKey(token: token, hwid: hwid)
        do throws(AgentError) {
            let config = try Self.decryptConfig(answer.body, key: key)
            if let expected, config.deviceID != expected { throw .identityMismatch }
            return Identity(
                config: config, key: key, clockSkew: answer.clockSkew, serverAddress: answer.remoteAddress)
        } catch {
            throw ServiceFailure(error, isMalformed: true)
        }
    }

    /// Opens the answer to a request for an identity.
    package static func decryptConfig(
        _ body: [UInt8], key: ProvisioningKey
    ) throws(AgentError) -> WireGuardConfig {
        let response = try ProvisionResponse(parsing: body)
        var plaintext = try CryptoManager.decrypt(encoded: response.encryptedConfig, key: key)
        defer { plaintext.erase() }
        return try WireGuardConfigCodec.parse(plaintext, requiresStatus: false)
    }
}
