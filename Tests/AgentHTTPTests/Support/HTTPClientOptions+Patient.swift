// SPDX-License-Identifier: MIT

internal import AgentHTTP

extension HTTPClientOptions {
    /// The defaults with time-outs that no machine is slow enough to reach: only what a test is about ends a
    /// request.
    static let patient = patient()

    /// Patient options with changes.
    static func patient(
        responseLimit: Int = 65_536, certificateAuthorityFile: String? = nil, socketMark: UInt32? = nil,
        resolved: [(host: String, port: UInt16, addresses: [String])] = []
    ) -> HTTPClientOptions {
        HTTPClientOptions(
            connectTimeout: .seconds(600), totalTimeout: .seconds(600), idleLimit: .seconds(3_600),
            responseLimit: responseLimit, certificateAuthorityFile: certificateAuthorityFile,
            socketMark: socketMark, resolved: resolved)
    }
}
