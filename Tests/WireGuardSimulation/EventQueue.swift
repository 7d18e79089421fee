// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// The future of a simulation: a binary heap by time, and by age among equals.
struct EventQueue {
    /// What happens.
    enum Kind {
        /// A datagram arrives.
        case datagram([UInt8], SocketAddress, SocketAddress)
        /// The test acts.
        case action((Simulation) -> Void)
    }

    /// Something that happens at an instant.
    struct Event {
        /// When it happens.
        let time: Instant
        /// What happens.
        let kind: Kind
        /// How many events were inserted before.
        fileprivate(set) var order = 0

        /// An event at an instant.
        init(time: Instant, kind: Kind) {
            self.time = time
            self.kind = kind
        }

        /// Whether this event comes before another.
        fileprivate func precedes(_ other: Event) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    private var heap: [Event] = []
    private var inserted = 0

    /// The time of the first event.
    var first: Instant? { heap.first?.time }

    /// Adds an event.
    mutating func insert(_ event: Event) {
        var event = event
        event.order = inserted
        inserted += 1
        heap.append(event)
        var index = heap.count - 1
        while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the first event if it is not after `limit`.
    mutating func popFirst(notAfter limit: Instant) -> Event? {
        guard let event = heap.first, event.time <= limit else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != index else { break }
            heap.swapAt(index, least)
            index = least
        }
        return event
    }
}
