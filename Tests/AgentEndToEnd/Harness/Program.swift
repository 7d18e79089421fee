// SPDX-License-Identifier: MIT

internal import Foundation

/// The programs under test: those that the environment names, else those built beside this test bundle.
enum Program {
    /// The daemon of a device.
    static let agent = path("NEXUSGUARD_AGENT", "nexusguard-agent")
    /// The daemon of a device that sends heartbeats as fast as a test wants.
    static let soak = path("NEXUSGUARD_AGENT_SOAK", "nexusguard-agent-soak")
    /// The command of a device.
    static let command = path("NEXUSGUARD_COMMAND", "nexusguard")
    /// The control server.
    static let control = path("NEXUSGUARD_CONTROL", "nexusguard-control")

    private static func path(_ variable: String, _ name: String) -> String {
        ProcessInfo.processInfo.environment[variable] ?? Bundle.main.bundleURL.appending(path: name).path
    }
}
