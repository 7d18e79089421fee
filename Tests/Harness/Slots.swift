// SPDX-License-Identifier: MIT

/// Lets a few tests run at once and the others wait: the machine may have two processors.
package actor Slots {
    /// Those of all tests.
    package static let shared = Slots(count: 3)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Slots for `count` holders at a time.
    package init(count: Int) {
        free = count
    }

    /// Returns once a slot is the caller's.
    package func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// Gives a slot back.
    package func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
