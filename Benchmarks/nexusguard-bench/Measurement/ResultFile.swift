// SPDX-License-Identifier: MIT

internal import FoundationEssentials

/// The results of one run, as they are kept in a file.
struct ResultFile: Codable {
    /// Where they were measured.
    let machine: Machine
    /// The results in the order in which they were measured.
    let results: [BenchmarkResult]

    /// Wraps results.
    init(machine: Machine, results: [BenchmarkResult]) {
        self.machine = machine
        self.results = results
    }

    /// Reads a file.
    ///
    /// - Throws: `Failure` when there is none, or it holds something else.
    init(reading path: String) throws(Failure) {
        do {
            self = try JSONDecoder().decode(ResultFile.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw Failure(description: "'\(path)' cannot be read as a file of results")
        }
    }

    /// Writes the file.
    ///
    /// - Throws: `Failure` when it cannot be written.
    func write(to path: String) throws(Failure) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            var data = try encoder.encode(self)
            data.append(UInt8(ascii: "\n"))
            try data.write(to: URL(filePath: path))
        } catch {
            throw Failure(description: "'\(path)' cannot be written")
        }
    }

    /// Why a file is of no use.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
