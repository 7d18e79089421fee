// SPDX-License-Identifier: MIT

import FoundationEssentials
import Synchronization

@testable import NexusGuardAgent

/// Clocks that go only when a test says so.
final class ManualClock: AgentClock {
    private struct Sleeper {
        let until: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Times {
        var now: Duration = .seconds(10)
        var wallOffset: TimeInterval = 1_782_464_400
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        /// How many were woken and have not had their turn yet.
        var wakingCount = 0
        var nextIdentifier: UInt64 = 0
    }

    private let times = Mutex(Times())

    var now: Duration { times.withLock { $0.now } }

    var date: Date {
        times.withLock { times in
            let (seconds, attoseconds) = times.now.components
            return Date(
                timeIntervalSince1970: times.wallOffset + Double(seconds) + Double(attoseconds) * 1e-18)
        }
    }

    /// Sets the wall time forward or, below 0, back.
    func jumpWallTime(by seconds: TimeInterval) { times.withLock { $0.wallOffset += seconds } }

    /// The first instant that somebody waits for.
    var nextWakeUp: Duration? { times.withLock { $0.sleepers.values.map(\.until).min() } }

    /// Whether nobody who was woken still waits for a turn.
    var isQuiet: Bool { times.withLock { $0.wakingCount == 0 } }

    /// Whether somebody waits for an instant that is still to come, or for an earlier one.
    func isAwaited(_ instant: Duration) -> Bool {
        times.withLock { times in
            instant > times.now && times.sleepers.values.contains { $0.until <= instant }
        }
    }

    func sleep(until instant: Duration) async -> Bool {
        let identifier = times.withLock { times in
            times.nextIdentifier += 1
            return times.nextIdentifier
        }
        return await withTaskCancellationHandler {
            let isWoken = await withCheckedContinuation { continuation in
                let answer: Bool? = times.withLock { times in
                    if times.cancelled.remove(identifier) != nil { return false }
                    if times.now >= instant {
                        times.wakingCount += 1
                        return true
                    }
                    times.sleepers[identifier] = Sleeper(until: instant, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
            if isWoken { times.withLock { $0.wakingCount -= 1 } }
            return isWoken
        } onCancel: {
            let sleeper = times.withLock { times in
                let sleeper = times.sleepers.removeValue(forKey: identifier)
                if sleeper == nil { times.cancelled.insert(identifier) }
                return sleeper
            }
            sleeper?.continuation.resume(returning: false)
        }
    }

    /// Goes to an instant, which wakes everybody who waits for it or for an earlier one.
    func advance(to instant: Duration) {
        let due = times.withLock { times in
            times.now = max(times.now, instant)
            let due = times.sleepers.filter { $0.value.until <= times.now }
            for identifier in due.keys { times.sleepers[identifier] = nil }
            times.wakingCount += due.count
            return due.values.sorted { $0.until < $1.until }
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }
}
