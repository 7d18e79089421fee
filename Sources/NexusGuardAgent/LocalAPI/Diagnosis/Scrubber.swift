// SPDX-License-Identifier: MIT

internal import AgentCore
internal import NexusGuard

/// Takes out of texts what must not leave the host: what is known to be secret, and what looks like a key.
struct Scrubber {
    /// The least length of letters, digits and the signs of base64 in a row that counts as a key or a token.
    static let longestHarmlessRun = 31

    private let known: [(text: String, replacement: String)]

    /// Takes what is known: device and host identifiers. Keys go by their form, so that none is held as a text here.
    init(config: WireGuardConfig?, hwid: String?) {
        var known: [(text: String, replacement: String)] = []
        if let config {
            known.append((config.deviceID, DeviceIDMask.mask(config.deviceID)))
        }
        if let hwid { known.append((hwid, DeviceIDMask.mask(hwid))) }
        // A very short identifier would tear other words apart; the mask of snapshot and log covers it.
        self.known = known.filter { $0.text.utf8.count >= 6 }
    }

    /// The text without them.
    func scrub(_ text: String) -> String {
        var text = text
        for (secret, replacement) in known where text.contains(secret) {
            text = text.replacing(secret, with: replacement)
        }
        return Self.withoutLongRuns(text)
    }

    /// Replaces runs of characters that only keys, digests and tokens have in such a length.
    private static func withoutLongRuns(_ text: String) -> String {
        var result: [UInt8] = []
        var run: [UInt8] = []
        func flush() {
            if run.count > longestHarmlessRun {
                result += "(removed)".utf8
            } else {
                result += run
            }
            run.removeAll(keepingCapacity: true)
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "-"):
                run.append(byte)
            default:
                flush()
                result.append(byte)
            }
        }
        flush()
        return String(decoding: result, as: UTF8.self)
    }
}
