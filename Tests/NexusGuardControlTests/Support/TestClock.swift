// SPDX-License-Identifier: MIT

import Foundation
import NexusGuardControl
import Synchronization

/// A clock that only a test moves.
final class TestClock: Sendable {
    private struct State {
        var now = Samples.now
        var monotonic = Duration.seconds(1000)
        var waits: [Duration] = []
    }

    private let state = Mutex(State())

    /// The wall time; setting it leaves the other time alone.
    var now: Date {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    /// How long the server waited, each time.
    var waits: [Duration] { state.withLock { $0.waits } }

    /// Moves both times.
    func advance(_ seconds: Double) {
        state.withLock { state in
            state.now += seconds
            state.monotonic += .seconds(seconds)
        }
    }

    /// The clock as the server takes it; waiting takes no time.
    var clock: ControlClock {
        ControlClock(
            now: { self.now }, monotonic: { self.state.withLock { $0.monotonic } },
            sleep: { wait in self.state.withLock { $0.waits.append(wait) } })
    }
}
