// SPDX-License-Identifier: MIT

import AgentCore
import Harness

@testable import NexusGuardAgent

/// Many agents and one server in virtual time.
struct FleetSimulation {
    /// What the server does with a heartbeat that comes at a time.
    enum Answer {
        case accept
        case fail(AgentMachine.Failure)
    }

    private enum Occasion {
        case timer
        case tunnelStarted
        case answer
    }

    private struct Entry {
        /// Nanoseconds, which are much quicker to compare than durations.
        let at: Int64
        let agent: Int
        let occasion: Occasion
    }

    private(set) var states: [AgentMachine.State]
    /// How many requests came in each second.
    private(set) var requests: [Int]
    /// The most requests of one agent that were in flight together.
    private(set) var mostInFlight = 0
    private(set) var eventCount = 0
    private var inFlight: [Int]
    /// The deadline for which an entry waits, so that each agent has one of them.
    private var planned: [Duration?]
    private var heap: [Entry] = []
    private var random: SeededGenerator

    /// Starts so many agents in the same instant, each with a stored identity.
    init(count: Int, seconds: Int, seed: UInt64) {
        states = Array(repeating: AgentMachine.State(), count: count)
        requests = Array(repeating: 0, count: seconds + 1)
        inFlight = Array(repeating: 0, count: count)
        planned = Array(repeating: nil, count: count)
        random = SeededGenerator(seed: seed)
        for agent in 0..<count {
            send(.booted(wantsUp: true, isOnline: true), to: agent, at: .zero)
            send(.loaded(.init(hasIdentity: true)), to: agent, at: .zero)
        }
    }

    /// Runs until so many seconds have passed since the start.
    mutating func run(until end: Int, server: (Duration) -> Answer) {
        let end = Int64(end) * 1_000_000_000
        while let entry = heap.first, entry.at < end {
            removeFirst()
            let agent = entry.agent
            let now = Duration.nanoseconds(entry.at)
            switch entry.occasion {
            case .timer:
                guard planned[agent] == now else { continue }
                planned[agent] = nil
                let observation = AgentMachine.Observation(isUp: true, lastHandshake: now)
                send(.timer(states[agent].tunnelIsUp ? observation : nil), to: agent, at: now)
            case .tunnelStarted: send(.tunnelStarted, to: agent, at: now)
            case .answer:
                inFlight[agent] -= 1
                switch server(now) {
                case .accept: send(.heartbeatAccepted(.init()), to: agent, at: now)
                case .fail(let failure): send(.heartbeatFailed(failure), to: agent, at: now)
                }
            }
        }
    }

    private mutating func send(_ event: AgentMachine.Event, to agent: Int, at now: Duration) {
        eventCount += 1
        let environment = AgentMachine.Environment(now: now, entropy: random.next())
        let (state, effects) = AgentMachine.reduce(states[agent], event, environment)
        states[agent] = state
        for effect in effects {
            switch effect {
            case .startTunnel: insert(.tunnelStarted, of: agent, at: now + latency())
            case .sendHeartbeat:
                requests[Int(now.components.seconds)] += 1
                inFlight[agent] += 1
                mostInFlight = max(mostInFlight, inFlight[agent])
                insert(.answer, of: agent, at: now + latency())
            default: break
            }
        }
        guard let deadline = state.nextDeadline, planned[agent].map({ deadline < $0 }) ?? true else { return }
        insert(.timer, of: agent, at: max(deadline, now))
    }

    private mutating func insert(_ occasion: Occasion, of agent: Int, at instant: Duration) {
        let (seconds, attoseconds) = instant.components
        // Rounded up: a timer must not come before its deadline.
        let at = seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
        if occasion == .timer { planned[agent] = .nanoseconds(at) }
        insert(Entry(at: at, agent: agent, occasion: occasion))
    }

    private mutating func latency() -> Duration {
        .milliseconds(20 + Int(random.next() % 100))
    }

    // MARK: A binary heap

    private mutating func insert(_ entry: Entry) {
        heap.append(entry)
        heap.withUnsafeMutableBufferPointer { heap in
            var index = heap.count - 1
            while index > 0 {
                let parent = (index - 1) / 2
                guard heap[index].at < heap[parent].at else { return }
                heap.swapAt(index, parent)
                index = parent
            }
        }
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap.withUnsafeMutableBufferPointer { heap in
            var index = 0
            while true {
                var child = 2 * index + 1
                guard child < heap.count else { break }
                if child + 1 < heap.count, heap[child + 1].at < heap[child].at { child += 1 }
                guard heap[child].at < last.at else { break }
                heap[index] = heap[child]
                index = child
            }
            heap[index] = last
        }
    }
}
