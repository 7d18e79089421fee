// SPDX-License-Identifier: MIT

package import AgentCore
package import AgentHTTP
internal import FoundationEssentials
internal import Synchronization

/// Answers the requests of devices; knows nothing of sockets.
package final class ControlService: Sendable {
    let store: any ControlStore
    let settings: ControlSettings
    let clock: ControlClock
    let log: any LogSink
    private let faults: FaultPlan
    private let peersChanged: @Sendable () async -> Void
    private let limiter: Mutex<RateLimiter>
    /// How many heartbeats of each device came since the start; kept only while a fault counts them.
    private let heartbeatCounts = Mutex<[String: Int]>([:])

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - store: The state.
    ///   - settings: What devices are told and asked for.
    ///   - faults: What goes wrong on purpose.
    ///   - clock: The times.
    ///   - log: Gets a line for each change; devices are masked.
    ///   - peersChanged: Called when the devices or their keys changed, before the answer leaves.
    package init(
        store: any ControlStore, settings: ControlSettings, faults: FaultPlan = FaultPlan(),
        clock: ControlClock = .system, log: any LogSink,
        peersChanged: @escaping @Sendable () async -> Void = {}
    ) {
        self.store = store
        self.settings = settings
        self.faults = faults
        self.clock = clock
        self.log = log
        self.peersChanged = peersChanged
        limiter = Mutex(RateLimiter(limit: settings.provisionLimit))
    }

    /// Answers a request.
    package func reply(to request: ServerRequest) async -> ServerReply {
        if request.path == "/healthz" { return .response(await health(request)) }
        guard let endpoint = ControlEndpoint.allCases.first(where: { $0.path == request.path }) else {
            let refusal = Refusal(status: 404, code: "not-found", message: "there is nothing at this path")
            return .response(refusal.response)
        }
        let injected = InjectedFaults(faults.take(for: endpoint))
        if let delay = injected.delay { await clock.sleep(delay) }
        if let reply = injected.replyInPlace { return reply }
        let response = await answer(request, at: endpoint, injected)
        return injected.spoil(response)
    }

    /// Answers a request of a device.
    private func answer(
        _ request: ServerRequest, at endpoint: ControlEndpoint, _ injected: InjectedFaults
    ) async -> ServerResponse {
        guard request.method == endpoint.method else { return Self.wrongMethod(endpoint.method) }
        do throws(Refusal) {
            do throws(RequestError) {
                return switch endpoint {
                case .provision: try await provision(request, injected)
                case .heartbeat: try await heartbeat(request, injected)
                case .forwards: try await forwards(request)
                case .deprovision: try await deprovision(request)
                }
            } catch {
                throw refusal(for: error)
            }
        } catch {
            return error.response
        }
    }

    /// Makes a refusal of an error, and tells the log of those that are the server's own.
    private func refusal(for error: RequestError) -> Refusal {
        switch error {
        case .refused(let refusal): return refusal
        case .store(let error):
            log.add(level: .error, tag: "store", message: error.description)
            return .storeFailed
        }
    }

    /// Says whether the store can be read.
    private func health(_ request: ServerRequest) async -> ServerResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return Self.wrongMethod("GET, HEAD")
        }
        do {
            _ = try await store.foreignChanges()
            return ServerResponse(status: 204, headers: [(name: "Cache-Control", value: "no-store")])
        } catch {
            log.add(level: .error, tag: "store", message: error.description)
            return Refusal.storeFailed.response
        }
    }

    private static func wrongMethod(_ allowed: String) -> ServerResponse {
        var response = Refusal(
            status: 405, code: "wrong-method", message: "this path takes \(allowed)"
        ).response
        response.headers.append((name: "Allow", value: allowed))
        return response
    }

    // MARK: For the endpoints

    /// Waits until the server peer follows a change.
    func announceChange() async { await peersChanged() }

    /// Counts an attempt to get an identity; says how long to wait when there were too many.
    func admitProvision(from peer: ServerPeer) -> Duration? {
        guard case .network(let address, _) = peer else { return nil }
        return limiter.withLock { $0.admit(address, at: clock.monotonic()) }
    }

    /// Counts a heartbeat of a device; gives the count.
    func countHeartbeat(of id: String) -> Int {
        heartbeatCounts.withLock { counts in
            counts[id, default: 0] += 1
            return counts[id] ?? 1
        }
    }
}

/// Why a request is not carried out.
enum RequestError: Error {
    /// The request is not granted.
    case refused(Refusal)
    /// The store does not work.
    case store(StoreError)
}
