// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Testing

@Suite("settings and log entries")
struct SettingsTests {
    @Test("a new installation has no server, wants nothing up and proves who it is")
    func defaults() {
        let config = AgentConfig()
        #expect(config.serverURL == nil)
        #expect(!config.wantsUp)
        #expect(!config.isProvisioned)
        #expect(!config.allowsPlainHTTP)
        #expect(config.authenticatesHeartbeats)
        #expect((1...15).contains(config.interfaceName.utf8.count))
    }

    @Test("settings and entries are the same after they were encoded")
    func codable() throws {
        var config = AgentConfig()
        config.serverURL = "https://control.example.net"
        config.wantsUp = true
        let copy = try JSONDecoder().decode(AgentConfig.self, from: JSONEncoder().encode(config))
        #expect(copy == config)
        let entry = LogEntry(
            id: .max, timestamp: Date(timeIntervalSince1970: 1), level: .warn, tag: "t", message: "m")
        #expect(try JSONDecoder().decode(LogEntry.self, from: JSONEncoder().encode(entry)) == entry)
    }

    @Test("levels rise from debug to error, under the names of the seed document")
    func levels() {
        #expect(LogLevel.allCases.sorted() == [.debug, .info, .warn, .error])
        #expect(LogLevel.allCases.map(\.rawValue) == ["DEBUG", "INFO", "WARN", "ERROR"])
        let states = ["disconnected", "connecting", "connected", "failed"]
        #expect(AgentState.allCases.map(\.rawValue) == states)
    }
}
