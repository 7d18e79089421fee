// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP

/// Why a request to the control server failed, as the state machine takes it.
package typealias ServiceFailure = AgentMachine.Failure

extension AgentMachine.Failure: Error {}

extension AgentMachine.Failure {
    /// What kind of request it was, for the words of an error.
    enum Purpose {
        /// For an identity.
        case provisioning
        /// For everything else.
        case heartbeat

        func error(_ reason: String) -> AgentError {
            switch self {
            case .provisioning: .provisioningFailed(reason)
            case .heartbeat: .heartbeatFailed(reason)
            }
        }
    }

    /// The failure of an exchange that brought no answer.
    init(_ error: HTTPError, _ purpose: Purpose, isOnline: Bool) {
        switch error {
        case .tls(let reason): self.init(.tls(reason))
        case .resolve, .connect:
            self.init(isOnline ? purpose.error(error.description) : .networkOffline)
        case .timedOut: self.init(isOnline ? purpose.error(error.description) : .networkOffline)
        case .tooLarge, .truncated: self.init(purpose.error(error.description), isMalformed: true)
        case .invalidURL: self.init(.configInvalid(field: "serverURL", reason: error.description))
        case .cancelled, .other: self.init(purpose.error(error.description))
        }
    }
}
