// SPDX-License-Identifier: MIT

extension AgentMachine {
    /// When the agent has something to do by itself; each on the clock of `Environment.now`.
    package struct Deadlines: Hashable, Sendable {
        /// The next try of what failed.
        package var retry: Duration?
        /// The next heartbeat.
        package var heartbeat: Duration?
        /// When a tunnel that must prove itself has failed to.
        package var handshake: Duration?
        /// The next look at the tunnel.
        package var poll: Duration?
        /// When the server's name is to be resolved anew.
        package var refresh: Duration?
        /// When an identity is asked for anew, because the credentials of this one are refused.
        package var reprovision: Duration?
        /// Until when the server wants no request.
        package var hold: Duration?

        /// Nothing to do.
        package init() {}

        /// The first of them.
        package var next: Duration? {
            var first: Duration?
            func consider(_ deadline: Duration?) {
                if let deadline, first.map({ deadline < $0 }) ?? true { first = deadline }
            }
            consider(retry)
            consider(heartbeat)
            consider(handshake)
            consider(poll)
            consider(refresh)
            consider(reprovision)
            consider(hold)
            return first
        }

        /// Takes a deadline away if it has come.
        ///
        /// - Returns: Whether it had.
        mutating func take(_ deadline: WritableKeyPath<Self, Duration?>, at now: Duration) -> Bool {
            guard let instant = self[keyPath: deadline], instant <= now else { return false }
            self[keyPath: deadline] = nil
            return true
        }
    }
}
