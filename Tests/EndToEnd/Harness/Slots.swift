// SPDX-License-Identifier: MIT

/// Lets a few tests run at once and the others wait: the machine may have two processors.
actor Slots {
    /// Those of all tests.
    static let shared = Slots(count: 3)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Slots for `count` holders at a time.
    init(count: Int) {
        free = count
    }

    /// Returns once a slot is the caller's.
    func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// Gives a slot back.
    func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
