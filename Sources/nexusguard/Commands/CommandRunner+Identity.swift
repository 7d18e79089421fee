// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

extension CommandRunner {
    /// Gets an identity.
    func provision(_ options: ProvisionOptions) async throws(ClientError) -> ExitCode {
        var token: [UInt8]?
        do throws(InputError) {
            switch options.token {
            case .stored: break
            case .file(let path): token = try SecretInput.firstLine(ofFile: path)
            case .standardInput: token = try SecretInput.firstLineOfStandardInput()
            case .prompt: token = try SecretInput.ask("Token: ")
            }
        } catch {
            return fail(.failure, error.description, code: "no-token")
        }
        if token?.isEmpty == true { return fail(.failure, "the token is empty", code: "no-token") }
        if let server = options.server {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("serverURL", server)
            writer.endObject()
            do throws(ClientError) {
                _ = try await client.send("PUT", "/api/v1/settings", body: writer.finish())
            } catch {
                token?.erase()
                throw error
            }
        }
        var body = SecretInput.document("token", token)
        token?.erase()
        defer { body.erase() }
        let document = try await client.send(
            "POST", "/api/v1/provision", body: body, work: options.timeout ?? .seconds(50))
        guard !isJSON else { return show(document: document) }
        let snapshot = try AgentClient.snapshot(document)
        show("provisioned\(snapshot.deviceID.map { " as \(Wording.safe($0))" } ?? "")\n")
        let code = try showState(document)
        // What is left to do for whoever does this for the first time.
        if let help = Help(snapshot) { show("  \(help.sentence)\n") }
        return code
    }

    /// Gives the identity back.
    func deprovision(isConfirmed: Bool) async throws(ClientError) -> ExitCode {
        let question = "Tell the server that this device is gone, and forget its identity?"
        if let refusal = confirm(question, isConfirmed: isConfirmed) { return refusal }
        return try showState(try await client.send("POST", "/api/v1/deprovision"))
    }

    /// Forgets everything.
    func reset(isConfirmed: Bool) async throws(ClientError) -> ExitCode {
        let question = "Forget identity, tunnel and settings of this device?"
        if let refusal = confirm(question, isConfirmed: isConfirmed) { return refusal }
        return try showState(try await client.send("POST", "/api/v1/reset"))
    }

    /// Prints the identifier of this host.
    func hardwareIdentifier() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/hwid")
        guard !isJSON else { return show(document: document) }
        guard let hwid = (try? fields(document).text("hwid", limit: 256)) ?? nil else {
            throw .malformed("there is no identifier in it")
        }
        return show(hwid + "\n")
    }

    /// Asks whether to go on.
    ///
    /// - Returns: The exit status when the answer is no, or when nobody can be asked; `nil` to go on.
    func confirm(_ question: String, isConfirmed: Bool) -> ExitCode? {
        guard !isConfirmed else { return nil }
        switch Confirmation.ask(question) {
        case true?: return nil
        case false?: return fail(.failure, "nothing was changed", code: "not-confirmed")
        case nil:
            return fail(
                .usage, "this needs --yes where nobody can be asked on a terminal", code: "not-confirmed")
        }
    }
}
