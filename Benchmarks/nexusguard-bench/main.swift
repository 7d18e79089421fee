// SPDX-License-Identifier: MIT

internal import NexusGuard

do {
    let options = try CommandLineOptions(Array(CommandLine.arguments.dropFirst()))
    switch options.action {
    case .help: print(CommandLineOptions.help)
    case .list: break
    case .measure: break
    case .send(let packets): try EngineCommand.run(packets: packets, options.engine)
    }
} catch let error as CommandLineOptions.Refusal {
    StandardError.fail("\(error.reason); --help shows what there is", status: 2)
} catch {
    StandardError.fail("\(error)", status: 1)
}
