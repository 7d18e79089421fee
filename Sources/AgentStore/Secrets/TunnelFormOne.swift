// SPDX-License-Identifier: MIT

internal import AgentCore

/// The content of `tunnel.json` in its first version: the fields of the heartbeat response.
struct TunnelFormOne: StoredForm {
    static let version = 1

    let config: WireGuardConfig

    init(_ config: WireGuardConfig) {
        self.config = config
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        var bytes = content.array()
        defer { bytes.erase() }
        do throws(AgentError) {
            config = try WireGuardConfigCodec.parse(bytes, requiresStatus: false)
        } catch {
            throw StoredFormError(error.description)
        }
    }

    func content() -> ErasedBuffer {
        var bytes = WireGuardConfigCodec.serialise(config)
        return ErasedBuffer(erasing: &bytes)
    }
}
