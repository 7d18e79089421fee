// SPDX-License-Identifier: MIT

import Testing
import WireGuardCrypto

@Suite("Secret buffer")
struct SecretBufferTests {
    @Test(
        "it holds what a plain array would, through growth and removal",
        arguments: (1...20).map { UInt64($0) })
    func model(seed: UInt64) {
        var generator = Samples.Generator(seed: seed)
        var buffer = SecretBuffer(capacity: 0)
        var model: [UInt8] = []
        for _ in 0..<300 {
            switch Int.random(in: 0...6, using: &generator) {
            case 0:
                let bytes = generator.bytes(Int.random(in: 0...300, using: &generator))
                buffer.append(bytes.span.bytes)
                model += bytes
            case 1:
                buffer.append(byte: 7)
                model.append(7)
            case 2:
                buffer.append("literal")
                model += Array("literal".utf8)
            case 3:
                let number = generator.next() >> UInt64.random(in: 0...63, using: &generator)
                buffer.append(decimal: number)
                model += Array("\(number)".utf8)
            case 4:
                let bytes = generator.bytes(32)
                buffer.append(hexadecimal: bytes.span.bytes)
                model += bytes.flatMap { Array((($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8) }
            case 5:
                buffer.append(text: "tëxt")
                model += Array("tëxt".utf8)
            default:
                let count = Int.random(in: 0...400, using: &generator)
                buffer.removeFirst(count)
                model.removeFirst(min(count, model.count))
            }
            let content = buffer.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
            #expect(content == model, "seed \(seed)")
        }
        buffer.removeAll()
        let isEmpty = buffer.byteCount == 0
        #expect(isEmpty)
    }

    @Test("numbers at both ends of the range are written whole")
    func numbers() {
        var buffer = SecretBuffer()
        buffer.append(decimal: 0)
        buffer.append(byte: UInt8(ascii: " "))
        buffer.append(decimal: .max)
        #expect(Samples.text(buffer) == "0 18446744073709551615")
    }
}
