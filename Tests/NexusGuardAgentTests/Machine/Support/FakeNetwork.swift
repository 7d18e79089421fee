// SPDX-License-Identifier: MIT

import NexusGuard
import NexusGuardAgent
import Synchronization

/// A network that changes when a test says so.
final class FakeNetwork: NetworkWatching {
    private struct Model {
        var isOnline = true
        var destinations: [IPAddress] = []
        var readers: [AsyncStream<NetworkEvent>.Continuation] = []
        var readingCount = 0
    }

    private let model = Mutex(Model())

    var events: AsyncStream<NetworkEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkEvent.self)
        model.withLock { model in
            model.readers.append(continuation)
            model.readingCount += 1
        }
        continuation.onTermination = { [weak self] _ in self?.model.withLock { $0.readingCount -= 1 } }
        return stream
    }

    /// How many listen for events.
    var readingCount: Int { model.withLock { $0.readingCount } }

    var isOnline: Bool { model.withLock { $0.isOnline } }

    func hasRoute(to address: IPAddress) -> Bool { isOnline }

    func setDestinations(_ destinations: [IPAddress]) { model.withLock { $0.destinations = destinations } }

    /// What was said to be the way out.
    var destinations: [IPAddress] { model.withLock { $0.destinations } }

    /// Tells of an event.
    func tell(_ event: NetworkEvent) {
        let readers = model.withLock { model in
            if event == .online { model.isOnline = true }
            if event == .offline { model.isOnline = false }
            return model.readers
        }
        for reader in readers { reader.yield(event) }
    }
}
