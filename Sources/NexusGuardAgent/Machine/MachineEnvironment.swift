// SPDX-License-Identifier: MIT

extension AgentMachine {
    /// What the world adds to an event: the time and chance.
    package struct Environment: Sendable {
        /// The time since an origin that stays the same while the agent runs; it counts while the host sleeps.
        package let now: Duration
        /// A random number of this event alone.
        package let entropy: UInt64

        /// Creates an environment.
        package init(now: Duration, entropy: UInt64) {
            self.now = now
            self.entropy = entropy
        }
    }

    /// A sequence of fractions that follows from one random number (SplitMix64).
    struct Fractions {
        private var seed: UInt64

        init(_ seed: UInt64) { self.seed = seed }

        /// The next number, 0 or more and less than 1.
        mutating func next() -> Double {
            seed &+= 0x9e37_79b9_7f4a_7c15
            var mixed = seed
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            mixed ^= mixed >> 31
            return Double(mixed >> 11) * 0x1p-53
        }
    }
}
