// SPDX-License-Identifier: MIT

/// The proof in a request that its sender knows the device's provisioning key: the header `Authorization`.
///
/// The header is `NexusGuard-HMAC v=1, device="…", ts=…, nonce="…", mac="…"`. The mac is HMAC-SHA256 under the request
/// key over method, path, ts, nonce and the hexadecimal SHA-256 of the body, a line feed between them. The path is
/// without query; a server that takes a device from the query compares it with the one of the header. `ts` is in
/// seconds since 1970, nonce and mac are in hexadecimal. In `device` every byte that is not a visible ASCII
/// character, and each of `"`, `%`, `\` and `,`, is written as `%` and two hexadecimal digits.
public struct RequestAuthorization: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The largest difference between a request's time and the server's clock, in seconds.
    public static let largestSkew: Int64 = 300
    /// The number of random bytes of a nonce.
    public static let nonceByteCount = 16

    private static let scheme = "NexusGuard-HMAC"
    private static let longestHeader = 1024

    /// The device that the sender says it is.
    public let deviceID: String
    /// When the request was made, in seconds since 1970.
    public let timestamp: Int64
    /// The bytes that make the request different from every other.
    public let nonce: [UInt8]
    private let mac: [UInt8]

    /// Makes the proof for a request.
    ///
    /// - Parameters:
    ///   - path: The path without query, such as `/api/v1/heartbeat`.
    ///   - timestamp: Seconds since 1970.
    ///   - nonce: 16 random bytes, never the same twice.
    ///   - key: The provisioning key K.
    public init(
        method: String, path: String, timestamp: Int64, nonce: [UInt8], body: [UInt8], deviceID: String,
        key: ProvisioningKey
    ) {
        self.deviceID = deviceID
        self.timestamp = timestamp
        self.nonce = nonce
        mac = Self.mac(method, path, timestamp, nonce, body, key)
    }

    /// Reads the value of the header.
    ///
    /// - Returns: `nil` unless it is of this form, with each parameter once and in any order.
    public init?(header: String) {
        guard header.utf8.count <= Self.longestHeader,
            let space = header.firstIndex(of: " "), header[..<space].lowercased() == Self.scheme.lowercased()
        else { return nil }
        var values: [Substring: Substring] = [:]
        for part in header[space...].split(separator: ",", omittingEmptySubsequences: false) {
            let part = part.drop { $0 == " " }
            guard let equals = part.firstIndex(of: "=") else { return nil }
            var value = part[part.index(after: equals)...]
            while value.last == " " { value.removeLast() }
            if value.count >= 2, value.first == "\"", value.last == "\"" {
                value = value.dropFirst().dropLast()
            }
            guard !value.contains("\""), values.updateValue(value, forKey: part[..<equals]) == nil else {
                return nil
            }
        }
        guard values.count == 5, values["v"] == "1", let device = values["device"].flatMap(Self.decoded),
            (1...DeviceIDMask.longestDeviceID).contains(device.utf8.count), ShownText.isPlain(device),
            let time = values["ts"], (1...18).contains(time.utf8.count),
            time.utf8.allSatisfy({ (48...57).contains($0) }), let timestamp = Int64(time),
            let nonce = values["nonce"].flatMap({ Hexadecimal.bytes($0) }),
            nonce.count == Self.nonceByteCount,
            let mac = values["mac"].flatMap({ Hexadecimal.bytes($0) }), mac.count == 32
        else { return nil }
        deviceID = device
        self.timestamp = timestamp
        self.nonce = nonce
        self.mac = mac
    }

    /// The value of the header.
    public var header: String {
        "\(Self.scheme) v=1, device=\"\(Self.encoded(deviceID))\", ts=\(timestamp), "
            + "nonce=\"\(Hexadecimal.text(nonce))\", mac=\"\(Hexadecimal.text(mac))\""
    }

    /// Whether the proof is that of this request under the device's key, in constant time.
    ///
    /// A server checks besides that the time is right and that the nonce is new: see `isTimely` and `NonceMemory`.
    public func isValid(method: String, path: String, body: [UInt8], key: ProvisioningKey) -> Bool {
        CryptoManager.areEqual(mac, Self.mac(method, path, timestamp, nonce, body, key))
    }

    /// Whether the request was made at most 300 s from `now`, in seconds since 1970.
    public func isTimely(now: Int64) -> Bool {
        let (difference, overflows) = now.subtractingReportingOverflow(timestamp)
        return !overflows && difference.magnitude <= UInt64(Self.largestSkew)
    }

    /// Says which device this is for, masked, and no more.
    public var description: String { "RequestAuthorization(device: \(DeviceIDMask.mask(deviceID)))" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    private static func mac(
        _ method: String, _ path: String, _ timestamp: Int64, _ nonce: [UInt8], _ body: [UInt8],
        _ key: ProvisioningKey
    ) -> [UInt8] {
        let digest = Hexadecimal.text(CryptoManager.sha256(body))
        let text = "\(method)\n\(path)\n\(timestamp)\n\(Hexadecimal.text(nonce))\n\(digest)"
        return CryptoManager.requestKey(key).bytes.withUnsafeBytes { key in
            CryptoManager.hmac(Array(text.utf8), key: key).withUnsafeBytes { Array($0) }
        }
    }

    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isPlain = (0x21...0x7E).contains(byte) && !"\"%\\,".utf8.contains(byte)
            result += isPlain ? String(Unicode.Scalar(byte)) : "%" + Hexadecimal.text([byte])
        }
        return result
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard (0x21...0x7E).contains(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.digit),
                let low = rest.popFirst().flatMap(Hexadecimal.digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension CryptoManager {
    /// The value of the header `Authorization` of a request; see `RequestAuthorization`.
    ///
    /// - Parameters:
    ///   - path: The path without query.
    ///   - timestamp: Seconds since 1970.
    ///   - nonce: 16 random bytes, never the same twice; drawn when absent.
    ///   - key: The provisioning key K.
    public static func requestAuthorization(
        method: String, path: String, timestamp: Int64, nonce: [UInt8]? = nil, body: [UInt8],
        deviceID: String, key: ProvisioningKey
    ) -> String {
        RequestAuthorization(
            method: method, path: path, timestamp: timestamp,
            nonce: nonce ?? randomBytes(RequestAuthorization.nonceByteCount), body: body,
            deviceID: deviceID, key: key
        ).header
    }
}
