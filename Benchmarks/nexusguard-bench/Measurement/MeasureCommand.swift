// SPDX-License-Identifier: MIT

/// `nexusguard-bench [NAME...]`: measures benchmarks and prints a table.
enum MeasureCommand {
    /// Runs what the options ask for.
    ///
    /// - Throws: `CommandLineOptions.Refusal` for a name that is none, and what files and benchmarks throw.
    static func run(_ options: CommandLineOptions) throws {
        let chosen = try choose(options.names)
        // Before the measurement: a wrong name would waste it.
        let before = try options.comparisonFile.map { try ResultFile(reading: $0) }
        let machine = Machine.current()
        let measurement = options.isQuick ? Measurement.quick : Measurement.full
        print("\(machine.processor), \(machine.coreCount) cores, \(machine.kernel)\n")
        print(ResultTable.head)
        var results: [BenchmarkResult] = []
        for (index, benchmark) in chosen.enumerated() {
            if StandardError.isTerminal {
                StandardError.write("\r\u{1B}[K\(index + 1)/\(chosen.count) \(benchmark.name)")
            }
            let result = try measurement.run(benchmark)
            results.append(result)
            if StandardError.isTerminal { StandardError.write("\r\u{1B}[K") }
            StandardOutput.writeLine(ResultTable.line(result))
        }
        if let before {
            print("")
            if before.machine != machine {
                print("The results before are those of another machine: \(before.machine.processor),")
                print("\(before.machine.coreCount) cores, \(before.machine.kernel)")
            }
            for line in ResultTable.comparison(results, before: before.results) { print(line) }
        }
        if let path = options.outputFile {
            try ResultFile(machine: machine, results: results).write(to: path)
        }
    }

    /// The benchmarks that the names mean; all without a name.
    private static func choose(_ names: [String]) throws(CommandLineOptions.Refusal) -> [Benchmark] {
        guard !names.isEmpty else { return Benchmark.all }
        for name in names where !Benchmark.all.contains(where: { $0.isMeant(by: name) }) {
            throw CommandLineOptions.Refusal(unknownName: name)
        }
        return Benchmark.all.filter { benchmark in names.contains { benchmark.isMeant(by: $0) } }
    }
}
