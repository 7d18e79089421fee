// SPDX-License-Identifier: MIT

import AgentCore
import Glibc
import NexusGuard
import Testing

@testable import AgentStore

@Suite("the identifier of the host")
struct HostIdentifierTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func open() throws -> StateDirectory { try openState(folder.path) }

    private func machine(_ text: String = "00112233445566778899aabbccddeeff") throws -> MachineID {
        try #require(MachineID(text))
    }

    // From systemd 252: systemd-id128 machine-id --app-specific=5e1db00ac7524f7b9a3608e4d16f932c
    @Test(
        "it is what systemd makes of the machine-id for this agent",
        arguments: [
            ("00112233445566778899aabbccddeeff", "d6af84fb5e9b43f29c91e644e4a573d9"),
            ("ffffffffffffffffffffffffffffffff", "cf43d75438c2446981f02660fa88755d"),
        ])
    func applicationSpecific(text: String, expected: String) throws {
        #expect(try machine(text).applicationSpecific == expected)
        #expect(try machine(text + "\n").applicationSpecific == expected)
        #expect(try open().hwid(configured: nil, machineID: machine(text)) == expected)
    }

    @Test(
        "a machine-id of another form counts as none",
        arguments: [
            "", "\n", "uninitialized\n", "00112233445566778899aabbccddeef", String(repeating: "0", count: 32),
            "00112233-4455-6677-8899-aabbccddeeff", String(repeating: "g", count: 32),
        ])
    func noMachineID(text: String) throws {
        #expect(MachineID(text) == nil)
        try folder.write("machine-id", text)
        #expect(MachineID(contentsOf: folder.path("machine-id")) == nil)
        #expect(MachineID(contentsOf: folder.path("absent")) == nil)
    }

    @Test(
        "a configured one is taken in lowercase and not stored; another form is refused with the field named")
    func configured() throws {
        let state = try open()
        let text = "00112233445566778899AABBCCDDEEFF"
        #expect(try state.hwid(configured: text) == text.lowercased())
        #expect(folder.names.isEmpty)
        for wrong in ["", "0011", text + "00", String(repeating: "x", count: 32), text + "\n"] {
            #expect(throws: AgentError.configInvalid(field: "hwid", reason: "has not 32 hexadecimal digits"))
            {
                try state.hwid(configured: wrong)
            }
        }
    }

    @Test("it is written once, to two files, without the machine-id itself")
    func storedOnce() throws {
        let hwid = try open().hwid(configured: nil, machineID: machine())
        #expect(folder.names == ["hwid", "hwid.prev"])
        let before = folder.read("hwid")
        #expect(try open().hwid(configured: nil, machineID: machine()) == hwid)
        #expect(try open().hwid(configured: nil, machineID: nil) == hwid)
        #expect(folder.read("hwid") == before)
        for name in folder.names { #expect(!folder.text(name).contains("00112233445566778899")) }
    }

    @Test("without a machine-id it is drawn at random and stays")
    func random() throws {
        let hwid = try open().hwid(configured: nil, machineID: nil)
        #expect(hwid.utf8.count == 32)
        #expect(hwid.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) })
        #expect(try open().hwid(configured: nil, machineID: nil) == hwid)
        #expect(try open().hwid(configured: nil, machineID: machine()) == hwid)
        let other = try TemporaryDirectory()
        #expect(try openState(other.path).hwid(configured: nil, machineID: nil) != hwid)
    }

    @Test("a changed machine-id, as on a cloned disk, changes nothing and is reported")
    func cloned() throws {
        let hwid = try open().hwid(configured: nil, machineID: machine())
        let copy = try open()
        let other = try machine(String(repeating: "f", count: 32))
        #expect(try copy.hwid(configured: nil, machineID: other) == hwid)
        #expect(copy.health.map(\.code) == ["machine-id-changed"])
        let same = try open()
        #expect(try same.hwid(configured: nil, machineID: machine()) == hwid)
        #expect(same.health.isEmpty)
    }

    @Test("one damaged copy does no harm, and both are there again", arguments: ["hwid", "hwid.prev"])
    func oneDamaged(name: String) throws {
        let hwid = try open().hwid(configured: nil, machineID: nil)
        if name == "hwid" {
            try folder.write(name, "damage")
        } else {
            unlink(folder.path(name))
        }
        #expect(try open().hwid(configured: nil, machineID: nil) == hwid)
        try folder.write("hwid", "damage")
        #expect(try open().hwid(configured: nil, machineID: nil) == hwid)
    }

    @Test("when both are damaged it is made of the machine-id again, and reported")
    func remade() throws {
        let hwid = try open().hwid(configured: nil, machineID: machine())
        for name in ["hwid", "hwid.prev"] { try folder.write(name, "damage") }
        let state = try open()
        #expect(try state.hwid(configured: nil, machineID: machine()) == hwid)
        #expect(state.health.map(\.code) == ["store-damaged", "hwid-remade"])
    }

    @Test("when both are damaged and there is no machine-id, no new identity is made, now or later")
    func notRemade() throws {
        _ = try open().hwid(configured: nil, machineID: nil)
        for name in ["hwid", "hwid.prev"] { try folder.write(name, "damage") }
        for _ in 1...2 {
            let error = #expect(throws: AgentError.self) { try open().hwid(configured: nil, machineID: nil) }
            #expect(error?.code == "store-unusable")
            #expect(error?.description.contains("set hwid in /etc/nexusguard/agent.conf") == true)
        }
        #expect(!folder.names.contains("hwid"))
    }
}
