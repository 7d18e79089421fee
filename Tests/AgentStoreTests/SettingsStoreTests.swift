// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import NexusGuard
import Testing

@Suite("the settings")
struct SettingsStoreTests {
    let folder: TemporaryDirectory
    let store: SettingsStore

    init() throws {
        folder = try TemporaryDirectory()
        store = SettingsStore(directory: try StateDirectory(path: folder.path))
    }

    /// Settings of which each differs from those of a new installation.
    private var changed: AgentConfig {
        var settings = AgentConfig()
        settings.serverURL = "https://control.example.net:8443/base/"
        settings.wantsUp = true
        settings.startsAutomatically = false
        settings.isProvisioned = true
        settings.interfaceName = "ng-test0"
        settings.certificateAuthorityFile = "/etc/ssl/own \"root\".pem"
        settings.allowsPlainHTTP = true
        settings.authenticatesHeartbeats = false
        settings.requiresEncryptedHeartbeats = true
        settings.persistsLog = true
        return settings
    }

    @Test("every setting survives; there are none before the first save and after a clearing")
    func roundTrip() throws {
        #expect(try store.loadConfig() == nil)
        for settings in [AgentConfig(), changed] {
            try store.saveConfig(settings)
            let anew = SettingsStore(directory: try StateDirectory(path: folder.path))
            #expect(try anew.loadConfig() == settings)
        }
        try store.clear()
        #expect(try store.loadConfig() == nil)
        #expect(folder.names.isEmpty)
    }

    @Test("a setting that is added to the data structure must be added to the stored form")
    func complete() throws {
        let fields = Mirror(reflecting: AgentConfig()).children.compactMap(\.label)
        guard case .object(let members) = try JSONValue(parsing: SettingsStore.json(of: changed)) else {
            Issue.record("no object")
            return
        }
        #expect(Set(members.keys) == Set(fields))
        let plain = Mirror(reflecting: AgentConfig()).children.map { "\($0.value)" }
        let other = Mirror(reflecting: changed).children.map { "\($0.value)" }
        for (index, field) in fields.enumerated() { #expect(plain[index] != other[index], "\(field)") }
    }

    @Test("a value out of range is refused with the field named, and nothing is written")
    func refused() throws {
        var settings = AgentConfig()
        settings.interfaceName = "a name with blanks"
        let error = #expect(throws: AgentError.self) { try store.saveConfig(settings) }
        guard case .configInvalid(field: "interfaceName", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(folder.names.isEmpty)
    }

    @Test("what was exported can be imported, and leaves what the agent knows itself")
    func exportAndImport() throws {
        var settings = AgentConfig()
        try SettingsStore.apply(json: SettingsStore.json(of: changed), to: &settings)
        var expected = changed
        expected.wantsUp = false
        expected.isProvisioned = false
        #expect(settings == expected)
    }

    @Test("an import changes only what it names, in either spelling; null takes a text away")
    func partial() throws {
        var settings = changed
        let json = #"{"server_url":null,"allows_plain_http":false,"persistsLog":false,"interface_name":""}"#
        try SettingsStore.apply(json: Array(json.utf8), to: &settings)
        var expected = changed
        expected.serverURL = nil
        expected.allowsPlainHTTP = false
        expected.persistsLog = false
        expected.interfaceName = AgentConfig().interfaceName
        #expect(settings == expected)
    }

    @Test(
        "a wrong import is refused with the field named and changes nothing",
        arguments: [
            (#"{"serverUrl2":"x"}"#, "(unknown field)"), (#"{"colour":1}"#, "colour"),
            (#"{"serverURL":1}"#, "serverURL"), (#"{"serverURL":"ftp://x"}"#, "serverURL"),
            (#"{"serverURL":"https://x","server_url":"https://y"}"#, "serverURL"),
            (#"{"persistsLog":"yes"}"#, "persistsLog"), (#"{"persistsLog":null}"#, "persistsLog"),
            (#"{"persistsLog":true,"interfaceName":["a"]}"#, "interfaceName"),
            (#"{"persistsLog":true,"interfaceName":"../x"}"#, "interfaceName"),
            (#"{"certificateAuthorityFile":"relative.pem"}"#, "certificateAuthorityFile"),
            (#"{"token":"abc"}"#, "token"), (#"{"registrationToken":"abc"}"#, "registrationToken"),
            (#"["serverURL"]"#, "settings"), (#"{"persistsLog":true"#, "JSON"),
            (#"{"persistsLog":true,"persistsLog":false}"#, "persistsLog"), ("", "JSON"),
        ])
    func wrongImport(json: String, field: String) throws {
        var settings = changed
        let error = #expect(throws: AgentError.self) {
            try SettingsStore.apply(json: Array(json.utf8), to: &settings)
        }
        guard case .configInvalid(let named, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(named == field)
        #expect(!reason.contains("abc"))
        #expect(settings == changed)
    }

    @Test(
        "an address of a control server is taken",
        arguments: [
            "https://control.example.net", "https://control.example.net/",
            "HTTPS://control.example.net:8443/a/b",
            "https://192.0.2.1", "https://[2001:db8::1]:443/x", "http://localhost:8080", "http://127.0.0.9",
            "http://[::1]:80/",
        ])
    func goodURL(url: String) throws {
        var settings = AgentConfig()
        settings.serverURL = url
        try SettingsStore.validate(settings)
    }

    @Test(
        "what is no address of a control server is refused",
        arguments: [
            "", "control.example.net", "https://", "https:///x", "https://:443", "https://user:pw@host",
            "https://host:0", "https://host:65536", "https://host:8x", "https://host:", "https://[::1",
            "https://[x]",
            "https://[192.0.2.1]/", "https://host/?a=b", "https://host/#a", "https://ho st", "https://host\n",
            "https://host/ü", "file:///etc/passwd", "http://control.example.net", "http://192.0.2.1",
            "http://localhost.example.net", "https://" + String(repeating: "a", count: 2048),
        ])
    func badURL(url: String) throws {
        var settings = AgentConfig()
        settings.serverURL = url
        let error = #expect(throws: AgentError.self) { try SettingsStore.validate(settings) }
        guard case .configInvalid(field: "serverURL", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("plain HTTP to another host is taken when the settings allow it")
    func plainHTTP() throws {
        var settings = AgentConfig()
        settings.serverURL = "http://192.0.2.1:8080"
        settings.allowsPlainHTTP = true
        try SettingsStore.validate(settings)
    }

    @Test(
        "a name that the kernel would refuse for an interface is refused",
        arguments: ["", ".", "..", "a/b", "a b", "a:b", "wg%d", "sixteen-bytes-xx", "ü", "a\n"])
    func interfaceName(name: String) throws {
        var settings = AgentConfig()
        settings.interfaceName = name
        #expect(throws: AgentError.self) { try SettingsStore.validate(settings) }
        settings.interfaceName = "fifteen-bytes-x"
        try SettingsStore.validate(settings)
    }
}
