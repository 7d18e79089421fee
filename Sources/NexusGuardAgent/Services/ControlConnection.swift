// SPDX-License-Identifier: MIT

internal import AgentCore
package import AgentHTTP
package import FoundationEssentials

/// Sends requests to the control server and sorts out every answer that is not the one asked for.
package struct ControlConnection: Sendable {
    /// Differences between the clocks below this are not worth a word.
    static let tolerableSkew: Duration = .seconds(60)
    /// Differences beyond this make a server refuse a proof.
    static let refusedSkew: Duration = .seconds(RequestAuthorization.largestSkew)

    /// An answer that keeps to the interface as far as can be seen without knowing what was asked.
    struct Answer {
        /// The status: 200, 204 or 304, or the 410 of `mayBeGone`.
        let status: Int
        /// The content; the caller erases it.
        var body: [UInt8]
        /// The field `ETag` without quotation marks.
        let entityTag: String?
        /// How far the clocks differ, where that is worth a word.
        let clockSkew: Duration?
        /// The address of the host that answered.
        let remoteAddress: String?
    }

    /// One request.
    struct Request {
        var method = "POST"
        var path: String
        var query = ""
        var body: [UInt8]?
        var headers: [(name: String, value: String)] = []
        var purpose = ServiceFailure.Purpose.heartbeat
        /// Whether the content of a 404 or 410 matters to the caller.
        var mayBeGone = false
    }

    private let transport: any HTTPTransport
    private let isOnline: @Sendable () -> Bool
    private let clock: @Sendable () -> Date

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - isOnline: Whether a route leads out of the host, which tells a server that is away from a network
    ///     that is.
    ///   - clock: The wall time.
    package init(
        transport: any HTTPTransport, isOnline: @escaping @Sendable () -> Bool = { true },
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.transport = transport
        self.isOnline = isOnline
        self.clock = clock
    }

    /// The wall time in seconds since 1970.
    var timestamp: Int64 { Int64(clock().timeIntervalSince1970.rounded(.down)) }

    /// Sends a request.
    ///
    /// - Throws: What the answer, or its absence, means.
    func send(_ request: Request, _ settings: ControlSettings) async throws(ServiceFailure) -> Answer {
        var headers = request.headers
        headers.append((name: "Accept", value: "application/json"))
        headers.append((name: "User-Agent", value: "nexusguard-agent/\(AgentVersion.current)"))
        if request.body != nil { headers.append((name: "Content-Type", value: "application/json")) }
        let url = settings.baseURL + request.path + request.query
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await transport.send(
                HTTPRequest(method: request.method, url: url, headers: headers, body: request.body),
                options: settings.options)
        } catch {
            throw ServiceFailure(error, request.purpose, isOnline: isOnline())
        }
        return try sort(response, of: request)
    }

    private func sort(_ response: HTTPResponse, of request: Request) throws(ServiceFailure) -> Answer {
        let now = clock()
        let skew = skew(of: response, now: now)
        let isPage = Self.isPage(response)
        switch response.status {
        case 200, 204, 304:
            guard !isPage else { throw ServiceFailure(.captivePortal, isMalformed: true) }
        case 511: throw ServiceFailure(.captivePortal, isMalformed: true)
        case 401, 403, 404, 410:
            // Pages come from something in between, which does not know who may do what.
            guard !isPage else { throw ServiceFailure(.captivePortal, isMalformed: true) }
            if response.status == 401 || response.status == 403 {
                if let skew, abs(skew) > Self.refusedSkew { throw ServiceFailure(.clockSkew(skew)) }
                throw ServiceFailure(.unauthorized)
            }
            guard request.mayBeGone else { throw ServiceFailure(.serverRejected(response.status)) }
        case 429, 503:
            let delay = response.header("Retry-After").flatMap { RetryAfter.delay($0, now: now) }
            guard response.status == 429 || delay != nil else { throw ServiceFailure(.serverRejected(503)) }
            throw ServiceFailure(.rateLimited(retryAfter: delay))
        case 300..<400: throw ServiceFailure(.serverRejected(response.status), isMalformed: true)
        default: throw ServiceFailure(.serverRejected(response.status))
        }
        let isNotable = skew.map { abs($0) > Self.tolerableSkew } ?? false
        return Answer(
            status: response.status, body: response.body, entityTag: Self.entityTag(response),
            clockSkew: isNotable ? skew : nil, remoteAddress: response.remoteAddress)
    }

    /// How far this host's clock is behind the server's; negative when it is ahead.
    private func skew(of response: HTTPResponse, now: Date) -> Duration? {
        guard let text = response.header("Date"), let date = HTTPDate.date(text, now: now) else { return nil }
        return .seconds(date.timeIntervalSince(now).rounded())
    }

    /// Whether an answer is a page for people.
    private static func isPage(_ response: HTTPResponse) -> Bool {
        if let type = response.header("Content-Type"), type.lowercased().hasPrefix("text/html") {
            return true
        }
        return response.body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    private static func entityTag(_ response: HTTPResponse) -> String? {
        guard var tag = response.header("ETag")?[...] else { return nil }
        if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
        guard tag.count >= 2, tag.first == "\"", tag.last == "\"" else { return nil }
        return String(tag.dropFirst().dropLast())
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
