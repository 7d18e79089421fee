// SPDX-License-Identifier: MIT

internal import AgentCore
internal import NexusGuard

/// The content of `key.json` in its first version.
struct ProvisioningKeyFormOne: StoredForm {
    static let version = 1

    let key: ProvisioningKey

    init(_ key: ProvisioningKey) {
        self.key = key
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        key = try reading(content) { (fields) throws(AgentError) in
            let text = try fields.required("key", fields.secret("key"))
            guard let bytes = text.utf8.withUnsafeBytes({ ErasedBuffer.decoded(hexadecimal: $0) }) else {
                throw fields.invalid("key", "is no hexadecimal text")
            }
            return try bytes.withBytes { (bytes) throws(AgentError) in
                try ProvisioningKey(rawRepresentation: bytes.bytes)
            }
        }
    }

    func content() -> ErasedBuffer {
        let content = ErasedBuffer(capacity: 128)
        content.append("{\"key\":\"")
        key.withBytes { span in span.withUnsafeBytes { content.append(hexadecimal: $0) } }
        content.append("\"}")
        return content
    }
}

/// The content of `token.json` in its first version.
struct PendingTokenFormOne: StoredForm {
    static let version = 1

    let token: String

    init(_ token: String) {
        self.token = token
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        token = try reading(content) { (fields) throws(AgentError) in
            let text = try fields.required("token", fields.secret("token"))
            guard let bytes = text.utf8.withUnsafeBytes({ ErasedBuffer.decoded(base64: $0) }) else {
                throw fields.invalid("token", "is no base64 text")
            }
            return bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    func content() -> ErasedBuffer {
        // As base64, so that no character of a token needs an escape.
        let content = ErasedBuffer(capacity: 2 * token.utf8.count + 64)
        content.append("{\"token\":\"")
        var token = token
        token.withUTF8 { content.append(base64: UnsafeRawBufferPointer($0)) }
        content.append("\"}")
        return content
    }
}

/// The content of `addresses.json` in its first version.
struct ControlAddressesFormOne: StoredForm {
    static let version = 1
    /// More hosts than a control server can have names in the life of a device.
    static let largestHostCount = 16
    /// More addresses than are worth trying.
    static let largestAddressCount = 16
    private static let longestHost = 253

    /// The addresses by host in lowercase.
    var hosts: [String: [IPAddress]]

    init(_ hosts: [String: [IPAddress]]) {
        self.hosts = hosts
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        hosts = try reading(content) { (fields) throws(AgentError) in
            var hosts: [String: [IPAddress]] = [:]
            let items = try fields.array("hosts", limit: Self.largestHostCount) ?? []
            for (index, item) in items.enumerated() {
                let fields = try JSONFields(item, path: "hosts[\(index)]")
                let host = try fields.required("host", fields.nonEmptyText("host", limit: Self.longestHost))
                var addresses: [IPAddress] = []
                for text in try fields.texts("addresses", limit: Self.largestAddressCount) ?? [] {
                    guard let address = try? IPAddress(text) else {
                        throw fields.invalid("addresses", "has an item that is no address")
                    }
                    addresses.append(address)
                }
                hosts[host] = addresses
            }
            return hosts
        }
    }

    func content() -> ErasedBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("hosts")
        writer.beginArray()
        for (host, addresses) in hosts.sorted(by: { $0.key < $1.key }) {
            writer.beginObject()
            writer.member("host", host)
            writer.name("addresses")
            writer.beginArray()
            for address in addresses { writer.value(address.description) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        var bytes = writer.finish()
        return ErasedBuffer(erasing: &bytes)
    }
}
