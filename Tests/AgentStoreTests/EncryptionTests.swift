// SPDX-License-Identifier: MIT

import AgentCore
import Glibc
import NexusGuard
import Synchronization
import Testing

@testable import AgentStore

@Suite("encryption of the stores")
struct EncryptionTests {
    let folder: TemporaryDirectory
    let keyFolder: TemporaryDirectory
    let secret = NoteOne("the plain text of a secret")

    init() throws {
        folder = try TemporaryDirectory()
        keyFolder = try TemporaryDirectory()
    }

    private var keyFile: String { keyFolder.path("host.key") }

    private func open(_ keyFile: String?) throws -> AtomicFile<NoteOne> {
        noteFile(try openState(folder.path, hostKeyFile: keyFile), options: .init(isSecret: true))
    }

    private func isVisible(_ text: String) -> Bool {
        folder.names.contains { folder.text($0).contains(text) }
    }

    @Test("the key is made with the first save, only its owner can read it, and no plain text is on the disk")
    func makesKey() throws {
        #expect(try open(keyFile).load() == nil)
        #expect(keyFolder.names.isEmpty)
        try open(keyFile).save(secret)
        #expect(keyFolder.names == ["host.key"])
        #expect(keyFolder.mode("host.key") == 0o600)
        #expect(keyFolder.text("host.key").utf8.count == 65)
        #expect(!isVisible("plain text"))
        #expect(try open(keyFile).load() == secret)
    }

    @Test("what was stored in the clear is encrypted, with its older generation, once there is a key")
    func encryptsLater() throws {
        try open(nil).save(NoteOne("the older plain text"))
        try open(nil).save(secret)
        #expect(isVisible("plain text"))
        let file = try open(keyFile)
        #expect(try file.load() == secret)
        #expect(!isVisible("plain text"))
        #expect(try file.loadPrevious() == NoteOne("the older plain text"))
    }

    @Test("a lost key is an error that names its file and a way out; nothing is made, moved or overwritten")
    func lostKey() throws {
        try open(keyFile).save(secret)
        unlink(keyFile)
        let before = folder.read("note.json")
        let file = try open(keyFile)
        for attempt in [{ _ = try file.load() }, { try file.save(NoteOne("a new identity")) }] {
            let error = #expect(throws: AgentError.self) { try attempt() }
            #expect(error?.code == "store-unusable")
            #expect(error?.description.contains(keyFile) == true)
            #expect(error?.description.contains("nexusguard reset") == true)
        }
        #expect(folder.read("note.json") == before)
        #expect(folder.names == ["note.json"])
        #expect(keyFolder.names.isEmpty)
        // The way out.
        try file.clear()
        try file.save(NoteOne("after the reset"))
        #expect(try open(keyFile).load() == NoteOne("after the reset"))
    }

    @Test("a new secret is not stored under a new key while another file needs the lost one")
    func lostKeyOfAnother() throws {
        try open(keyFile).save(secret)
        unlink(keyFile)
        let state = try openState(folder.path, hostKeyFile: keyFile)
        let other = AtomicFile(
            "other.json", kind: "other", format: StoredFormat(NoteOne.self), in: state,
            options: .init(isSecret: true))
        #expect(throws: AgentError.self) { try other.save(NoteOne("x")) }
        #expect(keyFolder.names.isEmpty)
    }

    @Test("another key in the file is an error, and so is an encrypted file without a configured key")
    func otherKey() throws {
        try open(keyFile).save(secret)
        try keyFolder.write("host.key", String(repeating: "ab", count: 32) + "\n")
        #expect(throws: AgentError.self) { try open(keyFile).load() }
        let error = #expect(throws: AgentError.self) { try open(nil).load() }
        #expect(error?.description.contains("host_key_file") == true)
        #expect(folder.names == ["note.json"])
    }

    @Test(
        "a key file of another form is refused and never replaced",
        arguments: [
            "", "00", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
            String(repeating: "AB", count: 32), String(repeating: "zz", count: 32),
        ])
    func damagedKeyFile(text: String) throws {
        try keyFolder.write("host.key", text)
        let error = #expect(throws: AgentError.self) { try open(keyFile).save(secret) }
        #expect(error?.code == "store-unusable")
        #expect(keyFolder.text("host.key") == text)
        #expect(folder.names.isEmpty)
    }

    @Test("a key file that others can read is refused, and a symbolic link too")
    func openKeyFile() throws {
        let digits = String(repeating: "5a", count: 32)
        try keyFolder.write("host.key", digits, mode: 0o640)
        #expect(throws: AgentError.self) { try open(keyFile).save(secret) }
        try keyFolder.write("host.key", digits)
        try open(keyFile).save(secret)
        rename(keyFile, keyFolder.path("elsewhere"))
        symlink(keyFolder.path("elsewhere"), keyFile)
        #expect(throws: AgentError.self) { try open(keyFile).load() }
    }

    @Test("the file of one store does not open as that of another, nor one version or generation as another")
    func bound() throws {
        let cipher = AtRestCipher(key: HostKey())
        let content = NoteOne("x").content()
        guard
            case .sealed(_, let nonce, let ciphertext) = cipher.seal(
                content, kind: "tunnel", version: 1, generation: 7)
        else {
            Issue.record("not sealed")
            return
        }
        #expect(
            cipher.open(ciphertext, nonce: nonce, kind: "tunnel", version: 1, generation: 7)?.isEqual(
                to: content)
                == true)
        #expect(cipher.open(ciphertext, nonce: nonce, kind: "token", version: 1, generation: 7) == nil)
        #expect(cipher.open(ciphertext, nonce: nonce, kind: "tunnel", version: 2, generation: 7) == nil)
        #expect(cipher.open(ciphertext, nonce: nonce, kind: "tunnel", version: 1, generation: 8) == nil)
        #expect(
            AtRestCipher(key: HostKey()).open(
                ciphertext, nonce: nonce, kind: "tunnel", version: 1, generation: 7) == nil)
    }

    @Test("each save draws one nonce of 192 bits and uses it")
    func oneNonceForEachSave() {
        let drawn = Mutex<[[UInt8]]>([])
        let cipher = AtRestCipher(key: HostKey()) {
            let nonce = AtRestCipher.randomNonce()
            drawn.withLock { $0.append(nonce) }
            return nonce
        }
        for round in 1...100 {
            guard
                case .sealed(_, let nonce, _) = cipher.seal(
                    NoteOne("the same").content(), kind: "note", version: 1, generation: 1)
            else { return }
            #expect(drawn.withLock { $0.count } == round)
            #expect(drawn.withLock { $0.last } == nonce)
            #expect(nonce.count == 24)
        }
    }

    @Test("a million nonces are all different, and each of their bits is set in about half of them")
    func manyNonces() {
        // Two of n random nonces are the same with a probability of at most n² / 2^193: below 2^-153 for a million
        // saves. The sample shows that nothing but the random source decides: a counter that is reset, a nonce
        // of fewer bits or a short cycle would show.
        let count = 1_000_000
        var words = Set<UInt64>(minimumCapacity: count)
        var ones = [Int](repeating: 0, count: 24)
        for _ in 0..<count {
            let nonce = AtRestCipher.randomNonce()
            nonce.withUnsafeBytes { bytes in
                // Even the first 64 bits alone are different, but for a chance of 2^-25.
                words.insert(bytes.loadUnaligned(as: UInt64.self))
                for index in 0..<24 { ones[index] &+= bytes[index].nonzeroBitCount }
            }
        }
        #expect(words.count == count)
        // Eight million bits a byte: the standard deviation is 1,414, and 10,000 is seven of them.
        for sum in ones { #expect(abs(sum - 4 * count) < 10_000) }
    }

    @Test("a host key and a buffer of secret bytes show nothing when printed or reflected")
    func showsNothing() {
        let bytes = ErasedBuffer()
        bytes.append("secret text")
        for text in ["\(HostKey())", "\(bytes)", String(reflecting: HostKey()), String(reflecting: bytes)] {
            #expect(text.contains("hidden"))
            #expect(!text.contains("secret"))
        }
        #expect(Mirror(reflecting: bytes).children.isEmpty)
        #expect(Mirror(reflecting: HostKey()).children.isEmpty)
    }
}
