// SPDX-License-Identifier: MIT

public import AgentCore
public import AgentHost
public import FoundationEssentials

/// Runs the tunnel of this device: the engine in this process, and the part of the host's network that it needs.
///
/// All that may wait happens on one thread of its own, one call after the other. An engine that ends although
/// nobody asked it to, for example because somebody removed the interface, is started anew.
public final class TunnelManager: TunnelControl {
    /// How a tunnel is run, apart from its configuration.
    public struct Options: Sendable {
        /// The name of the interface, 1 to 15 bytes.
        public var interfaceName: String
        /// A file that keeps the highest handshake timestamp over restarts; its directory must be there.
        public var timestampFile: String?
        /// A file that keeps the server's last good addresses over restarts; its directory must be there.
        public var endpointFile: String?
        /// Whether `wg show` can be used on the tunnel, by those who can read its private key.
        public var exposesControlSocket = false

        /// The usual options, without files.
        public init(interfaceName: String) {
            self.interfaceName = interfaceName
        }
    }

    let work: TunnelWork
    private let thread: HostThread

    /// Creates a manager of a tunnel that is down.
    ///
    /// - Parameters:
    ///   - options: How the tunnel is run.
    ///   - host: The host's network, whose journal has been replayed.
    ///   - resolver: Finds the server's addresses.
    ///   - log: Gets what happens.
    /// - Throws: `AgentError.tunnelInitFailed`, when there is no room for a thread.
    public init(
        options: Options, host: HostNetwork, resolver: HostResolver = HostResolver(), log: any LogSink
    ) throws(AgentError) {
        do throws(HostError) {
            thread = try HostThread(name: "tunnel-control")
        } catch {
            throw .tunnelInitFailed(error.description)
        }
        work = TunnelWork(options: options, host: host, resolver: resolver, log: log)
    }

    /// Brings the tunnel up; one that is up is changed instead.
    ///
    /// - Throws: `AgentError.tunnelInitFailed`; the host is then as it was before.
    public func startTunnel(config: WireGuardConfig) async throws(AgentError) {
        let result = await thread.perform { [work, thread] in
            Result { () throws(AgentError) in
                if work.isUp {
                    _ = try work.change(to: config)
                } else {
                    try work.start(config, on: thread)
                }
            }
        }
        try result.get()
    }

    /// Makes the tunnel that is up this configuration, in place.
    ///
    /// - Throws: `AgentError.tunnelInitFailed`; the former configuration is then back.
    public func apply(_ config: WireGuardConfig) async throws(AgentError) -> ConfigDifference {
        let result = await thread.perform { [work] in
            Result { () throws(AgentError) in try work.change(to: config) }
        }
        return try result.get()
    }

    /// Takes the tunnel down and undoes every change to the host.
    public func stopTunnel() async {
        await thread.perform { [work] in work.stop() }
    }

    /// Whether the interface is up and the engine runs.
    public func isTunnelUp() -> Bool { work.isUp }

    /// When the last handshake with the server completed.
    public func getLastHandshake() -> Date? { work.info?.lastHandshake }

    /// What there is to say of the tunnel; `nil` when it is down.
    public func info() -> TunnelInfo? { work.info }

    /// Sends at once and resolves the server's name anew.
    public func networkChanged() async {
        await thread.perform { [work] in work.networkChanged() }
    }
}
