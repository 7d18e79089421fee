// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("The machine of the agent's end to end tests")
struct MachineTests {
    @Test(
        "it has what the tests need, where the caller says that none may be skipped",
        .enabled(
            if: ProcessInfo.processInfo.environment["NEXUSGUARD_SKIP_NOTHING"] == "1",
            "NEXUSGUARD_SKIP_NOTHING is not 1"))
    func complete() {
        #expect(Machine.obstacle == nil)
    }
}
