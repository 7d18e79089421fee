// SPDX-License-Identifier: MIT

internal import NexusGuard

do {
    let options = try CommandLineOptions(Array(CommandLine.arguments.dropFirst()))
    switch options.action {
    case .help: print(CommandLineOptions.help)
    case .list: for benchmark in Benchmark.all { print(benchmark.name) }
    case .measure: try MeasureCommand.run(options)
    case .send(let packets): try EngineCommand.run(packets: packets, options.engine)
    }
} catch let error as CommandLineOptions.Refusal {
    StandardError.fail(error.reason, status: 2)
} catch {
    StandardError.fail("\(error)", status: 1)
}
