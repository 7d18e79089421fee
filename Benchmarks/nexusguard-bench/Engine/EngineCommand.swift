// SPDX-License-Identifier: MIT

internal import CAllocationCounter
internal import NexusGuard

/// `nexusguard-bench engine --packets N`: an exact amount of work, for tools that count instructions or allocations.
enum EngineCommand {
    /// Sends the packets and prints how many there were and what was allocated meanwhile.
    ///
    /// - Throws: `SystemCallError` when no sockets can be had.
    static func run(packets: Int, _ options: EngineOptions) throws(SystemCallError) {
        var pair = try EnginePair(options)
        let before = allocation_count()
        pair.send(packets)
        let allocations = allocation_count() - before
        print("packets: \(packets)")
        // Under valgrind the allocator is valgrind's, and this programme's own counter stands still.
        if before > 0 { print("allocations: \(allocations)") }
    }
}
