// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
public import NexusGuard

/// Finds the addresses of names with packets that bypass the tunnel.
///
/// The system's resolver sends its questions into a full tunnel, where they get lost exactly when the tunnel's
/// server has moved and its name must be looked up. This one asks the host's own name servers, and its packets
/// carry our mark.
public final class HostResolver: Sendable {
    let files: NameFiles
    private let mark: UInt32
    private let port: UInt16
    /// How long one server is waited for before the next one is asked.
    private let patience: Duration

    private static let rounds = 2

    /// Creates a resolver that reads the host's files anew for each name.
    public convenience init() {
        self.init(files: NameFiles(), mark: FirewallMark.value, port: 53)
    }

    init(files: NameFiles, mark: UInt32, port: UInt16, patience: Duration = .milliseconds(1_200)) {
        self.files = files
        self.mark = mark
        self.port = port
        self.patience = patience
    }

    /// The addresses of a name, those with a route first.
    ///
    /// Waits for name servers, a few seconds at most.
    ///
    /// - Throws: `HostError.unresolved`.
    public func addresses(of name: String) throws(HostError) -> [IPAddress] {
        if let address = try? IPAddress(name) { return [address] }
        let hosts = files.hosts(name)
        if !hosts.isEmpty { return sorted(hosts) }
        let servers = files.servers
        var reason = "no name server is configured"
        for server in Array(repeating: servers, count: Self.rounds).joined() {
            switch ask(server, name) {
            case .success(let found) where found.isEmpty:
                reason = "the name does not exist or has no address"
                throw .unresolved(name: name, reason: reason, isTemporary: false)
            case .success(let found): return sorted(found)
            case .failure(let failure): reason = failure.reason
            }
        }
        throw .unresolved(name: name, reason: reason, isTemporary: !servers.isEmpty)
    }

    /// The addresses that the system's resolver knows, those with a route first; empty when it knows none.
    ///
    /// It knows more ways than name servers, but does not bypass a tunnel, and may take a minute.
    public func systemAddresses(of name: String) -> [IPAddress] { sorted(Self.lookUp(name)) }

    /// Those with a route first, and of these IPv6 first, as RFC 6724 has it.
    private func sorted(_ addresses: [IPAddress]) -> [IPAddress] {
        let routed = addresses.filter { RouteNetlink.hasRoute(to: $0, mark: mark) }
        let rest = addresses.filter { !routed.contains($0) }
        return [routed, rest].flatMap { part in
            part.filter(\.isIPv6) + part.filter { !$0.isIPv6 }
        }
    }

    /// Why a server gave no answer.
    private struct Failure: Error {
        let reason: String
    }

    /// Asks one server for both families at once.
    private func ask(_ server: IPAddress, _ name: String) -> Result<[IPAddress], Failure> {
        var random = SystemRandomNumberGenerator()
        var open: [DNSMessage.RecordType: UInt16] = [:]
        var socket: DNSSocket
        do throws(HostError) {
            socket = try DNSSocket(server, port: port, mark: mark, isStream: false)
        } catch {
            return .failure(Failure(reason: "\(error)"))
        }
        for type in [DNSMessage.RecordType.ipv4, .ipv6] {
            let identifier = UInt16.random(in: .min ... .max, using: &random)
            guard let question = DNSMessage.question(name, type, identifier: identifier) else {
                return .failure(Failure(reason: "it is no host name"))
            }
            guard socket.send(question) else {
                return .failure(Failure(reason: "the name server \(server) can not be reached"))
            }
            open[type] = identifier
        }
        var addresses: [IPAddress] = []
        var refusal: String?
        let deadline = HostClock.boot + Self.nanoseconds(patience)
        while !open.isEmpty, let bytes = socket.receive(until: deadline) {
            for (type, identifier) in open {
                guard var answer = DNSMessage.answer(bytes, to: name, type, identifier: identifier) else {
                    continue
                }
                if answer == .truncated { answer = askByStream(server, name, type, deadline) ?? answer }
                switch answer {
                case .addresses(let found): addresses += found
                case .noSuchName: break
                case .failure(let code): refusal = "the name server \(server) answers with code \(code)"
                case .truncated: refusal = "the answer of the name server \(server) is incomplete"
                }
                open[type] = nil
            }
        }
        // With one family answered the other one is not waited for: its answer may never come.
        if !addresses.isEmpty || open.isEmpty && refusal == nil { return .success(addresses) }
        return .failure(Failure(reason: refusal ?? "the name server \(server) does not answer"))
    }

    /// Asks again over TCP for what did not fit into a datagram.
    private func askByStream(
        _ server: IPAddress, _ name: String, _ type: DNSMessage.RecordType, _ deadline: Int64
    ) -> DNSMessage.Answer? {
        let identifier = UInt16.random(in: .min ... .max)
        guard var socket = try? DNSSocket(server, port: port, mark: mark, isStream: true),
            let question = DNSMessage.question(name, type, identifier: identifier),
            socket.send(question), let bytes = socket.receive(until: deadline)
        else { return nil }
        return DNSMessage.answer(bytes, to: name, type, identifier: identifier)
    }

    /// What the system's resolver knows, in its order.
    private static func lookUp(_ name: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = linux_datagram_socket_type
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [IPAddress] = []
        var entry = first
        while let current = entry?.pointee {
            if let start = current.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: start, count: Int(current.ai_addrlen))
                // The address lies behind family and port, for IPv6 also behind the flow.
                let range = current.ai_family == AF_INET6 ? 8..<24 : 4..<8
                if bytes.count >= range.upperBound, let address = IPAddress(networkBytes: Array(bytes[range]))
                {
                    addresses.append(address)
                }
            }
            entry = current.ai_next
        }
        return addresses.unique
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let parts = duration.components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }
}
