// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials
internal import NexusGuard

/// Tries the way to the control server and to the tunnel's endpoint, step by step.
struct NetCheck {
    /// The age at which a handshake is stale, in seconds.
    private static let staleHandshake = 180.0
    /// The difference of clocks beyond which the server refuses signed requests, in seconds.
    private static let largestClockDifference = 300.0

    private let api: LocalAPI

    /// Prepares a run.
    init(_ api: LocalAPI) {
        self.api = api
    }

    /// Runs all checks; takes a few seconds at most.
    func run() async -> NetCheckReport {
        let snapshot = await api.control.snapshot
        let settings = await api.control.settings
        let config = await api.control.wireGuardConfig
        var results = [route(isIPv6: false), route(isIPv6: true)]
        if results.allSatisfy({ $0.outcome == .fail }) == false {
            // One family is enough.
            results = results.map { result in
                var result = result
                if result.outcome == .fail { result.outcome = .skipped }
                return result
            }
        }
        results += await server(settings)
        results += await endpoint(config)
        results.append(handshake(snapshot))
        results.append(mtu(snapshot))
        return NetCheckReport(results: results)
    }

    // MARK: Network

    /// Whether packets that bypass the tunnel have a way out, by a route to an address for documentation.
    private func route(isIPv6: Bool) -> NetCheckResult {
        let name = isIPv6 ? "route-ipv6" : "route-ipv4"
        let family = isIPv6 ? "IPv6" : "IPv4"
        let target =
            isIPv6 ? IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1) : IPAddress(ipv4: 0xc000_0201)
        guard
            let source = PathProbe.source(to: target, port: 9, mark: api.options.transportOptions.socketMark)
        else { return NetCheckResult(name: name, outcome: .fail, text: "no route for \(family)") }
        return NetCheckResult(name: name, outcome: .ok, text: "\(family) goes out from \(source)")
    }

    // MARK: Control server

    private func server(_ settings: AgentConfig) async -> [NetCheckResult] {
        guard let base = settings.serverURL else {
            return [NetCheckResult(name: "server", outcome: .skipped, text: "no control server is set")]
        }
        guard let transport = api.options.transport else { return [] }
        var options = api.options.transportOptions
        options.certificateAuthorityFile = settings.certificateAuthorityFile
        let url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/healthz"
        let start = ContinuousClock.now
        let response: HTTPResponse
        do {
            response = try await transport.send(HTTPRequest(url: url), options: options)
        } catch {
            return [
                NetCheckResult(
                    name: "server", outcome: .fail, text: error.description,
                    milliseconds: milliseconds(since: start))
            ]
        }
        let taken = milliseconds(since: start)
        var results = [answer(response, milliseconds: taken)]
        if let clock = clock(response) { results.append(clock) }
        return results
    }

    private func answer(_ response: HTTPResponse, milliseconds: Int) -> NetCheckResult {
        let peer = response.remoteAddress.map { " from \($0)" } ?? ""
        let (outcome, text): (NetCheckResult.Outcome, String) =
            switch response.status {
            case 200 where response.header("Content-Type")?.lowercased().contains("html") == true,
                300..<400, 511:
                (.fail, "something else answers in its place, such as a login page")
            case 200..<300: (.ok, "answers\(peer)")
            case 503: (.warn, "answers\(peer) that it is not available now")
            default: (.fail, "answers\(peer) with status \(response.status)")
            }
        return NetCheckResult(name: "server", outcome: outcome, text: text, milliseconds: milliseconds)
    }

    private func clock(_ response: HTTPResponse) -> NetCheckResult? {
        guard let text = response.header("Date"), let date = HTTPDate.date(text) else { return nil }
        let difference = Date().timeIntervalSince(date)
        let seconds = Int(difference.rounded().magnitude)
        guard difference.magnitude > 2 else {
            return NetCheckResult(name: "clock", outcome: .ok, text: "agrees with the server's")
        }
        return NetCheckResult(
            name: "clock", outcome: difference.magnitude > Self.largestClockDifference ? .fail : .warn,
            text: "is \(seconds) s \(difference > 0 ? "ahead of" : "behind") the server's")
    }

    // MARK: Tunnel

    private func endpoint(_ config: WireGuardConfig?) async -> [NetCheckResult] {
        guard let config else {
            return [NetCheckResult(name: "endpoint", outcome: .skipped, text: "there is no tunnel yet")]
        }
        let start = ContinuousClock.now
        let address: IPAddress
        switch config.endpoint.host {
        case .address(let known, _): address = known
        case .name(let name):
            let addresses = await NameLookup.addresses(of: name, within: .seconds(5))
            guard let first = addresses?.first else {
                let reason = addresses == nil ? "takes too long to resolve" : "has no address"
                return [NetCheckResult(name: "endpoint", outcome: .fail, text: "\(name) \(reason)")]
            }
            address = first
        }
        let mark = api.options.transportOptions.socketMark
        guard PathProbe.source(to: address, port: config.endpoint.port, mark: mark) != nil else {
            return [NetCheckResult(name: "endpoint", outcome: .fail, text: "no route to \(address)")]
        }
        let text = "\(address), port \(config.endpoint.port), has a route"
        return [
            NetCheckResult(
                name: "endpoint", outcome: .ok, text: text, milliseconds: milliseconds(since: start))
        ]
    }

    private func handshake(_ snapshot: AgentSnapshot) -> NetCheckResult {
        let name = "handshake"
        guard let tunnel = snapshot.tunnel else {
            return NetCheckResult(name: name, outcome: .skipped, text: "the tunnel is down")
        }
        guard let last = tunnel.lastHandshake else {
            return NetCheckResult(
                name: name, outcome: .fail, text: "the server has not answered a handshake yet")
        }
        let age = max(0, Date().timeIntervalSince(last))
        return NetCheckResult(
            name: name, outcome: age <= Self.staleHandshake ? .ok : .fail,
            text: "the last one completed \(Int(age)) s ago")
    }

    /// Whether the tunnel's packets fit into the network below it, as far as the kernel knows that.
    private func mtu(_ snapshot: AgentSnapshot) -> NetCheckResult {
        let name = "mtu"
        guard let tunnel = snapshot.tunnel, let text = tunnel.endpoint, let endpoint = try? Endpoint(text),
            case .address(let address, _) = endpoint.host,
            let path = PathProbe.mtu(
                to: address, port: endpoint.port, mark: api.options.transportOptions.socketMark)
        else { return NetCheckResult(name: name, outcome: .skipped, text: "the tunnel is down") }
        // The header of IP, that of UDP, and 32 bytes of WireGuard around each packet.
        let needed = tunnel.mtu + (address.isIPv6 ? 80 : 60)
        return NetCheckResult(
            name: name, outcome: needed <= path ? .ok : .warn,
            text: "the tunnel's \(tunnel.mtu) need \(needed) of \(path) bytes on the way to the server")
    }

    private func milliseconds(since start: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
