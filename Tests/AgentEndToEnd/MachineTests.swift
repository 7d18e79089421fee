// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite(
    "The machine of the agent's end to end tests",
    .enabled(if: Machine.skipsNothing, "NEXUSGUARD_SKIP_NOTHING is not 1"))
struct MachineTests {
    @Test("it has what the tests need, where the caller says that none may be skipped")
    func complete() {
        #expect(Machine.obstacle == nil)
    }
}
