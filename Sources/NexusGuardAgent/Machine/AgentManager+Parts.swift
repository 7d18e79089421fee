// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentHost
internal import AgentStore
internal import FoundationEssentials
internal import NexusGuard

extension AgentManager {
    /// What an agent works with.
    struct Parts: Sendable {
        var directory: StateDirectory
        var settings: SettingsStore
        var secrets: SecretStore
        var administrator: AdministratorSettings
        var tunnel: any TunnelControl
        var network: (any NetworkWatching)?
        var log: any LogSink
        var transport: any HTTPTransport
        /// A file that holds a token.
        var tokenFile: String?
        /// Finds the control server's addresses; `nil` leaves that to the transport.
        var lookup: (any ControlLookup)?
        /// Called when connections and addresses from before are of no use.
        var networkHasChanged: @Sendable () -> Void = {}
        var clock: any AgentClock = SystemAgentClock()
        /// Gives a random number.
        var entropy: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
        /// The mark of the sockets to the control server.
        var socketMark: UInt32? = FirewallMark.value

        init(
            directory: StateDirectory, settings: SettingsStore, secrets: SecretStore,
            administrator: AdministratorSettings, tunnel: any TunnelControl,
            network: (any NetworkWatching)?, log: any LogSink, transport: any HTTPTransport
        ) {
            self.directory = directory
            self.settings = settings
            self.secrets = secrets
            self.administrator = administrator
            self.tunnel = tunnel
            self.network = network
            self.log = log
            self.transport = transport
        }
    }

    /// Where the control server was found.
    struct ControlAddresses {
        /// How long what was found is used.
        private static let life: Duration = .seconds(300)

        private var host = ""
        private var found: [IPAddress] = []
        private var foundAt: Duration?
        /// The addresses that are stored, of the host that answered last.
        var stored: (host: String, addresses: [IPAddress]) = ("", [])

        /// What was found for a host a short while ago.
        func fresh(_ host: String, now: Duration) -> [IPAddress]? {
            guard self.host == host, let foundAt, now - foundAt < Self.life else { return nil }
            return found
        }

        /// Takes note of what was found.
        mutating func note(_ addresses: [IPAddress], of host: String, now: Duration) {
            self.host = host
            found = addresses
            foundAt = now
        }

        /// Has the name looked up anew.
        mutating func forget() { foundAt = nil }
    }
}
