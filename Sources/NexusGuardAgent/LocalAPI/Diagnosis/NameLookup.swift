// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard
internal import Synchronization

/// Resolves names on a thread of its own, since the system's resolver blocks and cannot be cancelled.
enum NameLookup {
    /// The addresses of a host; empty when there are none, `nil` when it takes too long.
    static func addresses(of name: String, within limit: Duration) async -> [IPAddress]? {
        let answer = Answer()
        return await withCheckedContinuation { continuation in
            answer.wait(continuation)
            let thread = Unmanaged.passRetained(Question(name: name, answer: answer))
            var identifier = pthread_t()
            let result = pthread_create(
                &identifier, nil,
                { argument in
                    guard let argument else { return nil }
                    let question = Unmanaged<Question>.fromOpaque(argument).takeRetainedValue()
                    question.answer.give(NameLookup.resolve(question.name))
                    return nil
                }, thread.toOpaque())
            if result == 0 {
                pthread_detach(identifier)
            } else {
                thread.release()
                answer.give([])
            }
            Task {
                try? await Task.sleep(for: limit)
                answer.give(nil)
            }
        }
    }

    private static func resolve(_ name: String) -> [IPAddress] {
        guard let results = SocketName.lookUp(name, port: nil, flags: 0) else { return [] }
        defer { freeaddrinfo(results) }
        var addresses: [IPAddress] = []
        var next: UnsafeMutablePointer<addrinfo>? = results
        while let entry = next {
            if let address = entry.pointee.ai_addr,
                let text = SocketName.text(address, entry.pointee.ai_addrlen),
                let read = try? IPAddress(text), !addresses.contains(read)
            {
                addresses.append(read)
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    /// What a thread is to do.
    private final class Question: Sendable {
        let name: String
        let answer: Answer

        init(name: String, answer: Answer) {
            self.name = name
            self.answer = answer
        }
    }

    /// The first answer counts: that of the thread or that of the clock.
    private final class Answer: Sendable {
        private let waiting = Mutex<CheckedContinuation<[IPAddress]?, Never>?>(nil)

        func wait(_ continuation: CheckedContinuation<[IPAddress]?, Never>) {
            waiting.withLock { $0 = continuation }
        }

        func give(_ addresses: [IPAddress]?) {
            waiting.withLock { $0.take() }?.resume(returning: addresses)
        }
    }
}
