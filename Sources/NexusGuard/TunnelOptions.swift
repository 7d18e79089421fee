// SPDX-License-Identifier: MIT

/// How a tunnel is run, apart from what it is.
public struct TunnelOptions: Sendable {
    /// How important a line of the log is.
    public enum LogLevel: Int, Comparable, Sendable {
        /// What happens in normal operation.
        case debug
        /// What somebody should look at.
        case error

        /// Whether `left` is less important than `right`.
        public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
    }

    /// How the thread that moves packets shares the processors with other programs.
    public enum Scheduling: Hashable, Sendable {
        /// In line with all other threads.
        case shared
        /// Ahead of normal threads (`SCHED_RR`) while it is busy, as the packets of a kernel's own interface are.
        /// Under load this makes the time through the tunnel several times shorter. A thread that can not rest
        /// because most of its packets are refused, or that has the only processor, gets in line with the others,
        /// so that a flood can not take the host from its programs. Where the system does not allow it
        /// (CAP_SYS_NICE), `shared` holds.
        case ahead
    }

    /// The MTU that a new interface gets: 1500 less 80 bytes for IPv6, UDP and the protocol.
    public static let defaultMTU = 1420

    /// The MTU that a new interface gets; one that is adopted keeps its own.
    public var mtu = TunnelOptions.defaultMTU
    /// Whether `start` brings the interface up. Without that the tunnel waits for somebody to do it, for
    /// example by `ip link set up`, and opens its sockets then.
    public var bringsInterfaceUp = true
    /// The descriptor of an open TUN interface to use instead of making one; the tunnel owns it from
    /// `start` on.
    public var interfaceDescriptor: Int32?
    /// Whether `wg` and others can configure the tunnel over `/var/run/wireguard/NAME.sock`. Who can write
    /// to that socket can read the private key; removing the socket ends the tunnel.
    public var exposesControlSocket = false
    /// The directory of the control socket; made with mode 0700 when it is missing.
    public var controlSocketDirectory = "/var/run/wireguard"
    /// The descriptor of a listening socket to use as control socket; the tunnel owns it from `start` on.
    public var controlSocketDescriptor: Int32?
    /// A file that keeps the highest handshake timestamp, so that peers accept this host after a restart
    /// with a clock that is behind. Its directory must be there.
    public var timestampFile: String?
    /// How the thread that moves packets shares the processors with other programs.
    public var scheduling = Scheduling.shared
    /// The least important lines that `logHandler` gets.
    public var logLevel = LogLevel.error
    /// Gets each line of the log, on a thread of the tunnel. It must return soon, and calls of the tunnel
    /// that wait for it throw `TunnelError.calledFromHandler` here.
    public var logHandler: (@Sendable (LogLevel, String) -> Void)?

    /// The usual options: a new interface that is brought up, without control socket and log.
    public init() {}
}
