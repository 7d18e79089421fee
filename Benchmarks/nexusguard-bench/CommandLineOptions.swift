// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct CommandLineOptions {
    /// What the tool is to do.
    enum Action {
        /// Run benchmarks.
        case measure
        /// Print the names of all benchmarks.
        case list
        /// Print how the tool is used.
        case help
        /// Send exactly so many packets through the engine.
        case send(packets: Int)
    }

    /// Why a command line is refused.
    struct Refusal: Error {
        let reason: String

        /// A refusal that names the option for help.
        init(reason: String) {
            self.reason = reason + "; --help shows what there is"
        }

        /// A refusal of a name that no benchmark has, with the names that there are.
        init(unknownName name: String) {
            let names = Benchmark.all.map { "    \($0.name)" }.joined(separator: "\n")
            reason = "there is no benchmark or group '\(name)', only these and their groups:\n\(names)"
        }
    }

    var action = Action.measure
    /// Names of benchmarks, or of groups of them; empty means all.
    var names: [String] = []
    /// Whether fewer and shorter rounds are run.
    var isQuick = false
    /// The file that the results are written to.
    var outputFile: String?
    /// The file with results to compare with.
    var comparisonFile: String?
    /// What the packets of `send` are like.
    var engine = EngineOptions()

    /// Reads the arguments, without the name of the programme.
    init(_ arguments: [String]) throws(Refusal) {
        var rest = arguments[...]
        var packets: Int?
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": action = .help
            case "--list": action = .list
            case "--quick": isQuick = true
            case "--json": outputFile = try Self.value(of: argument, &rest)
            case "--compare": comparisonFile = try Self.value(of: argument, &rest)
            case "--packets": packets = try Self.number(of: argument, &rest, in: 1...1_000_000_000)
            case "--bytes":
                let sizes = EngineOptions.smallestPacket...EngineOptions.largestPacket
                engine.packetByteCount = try Self.number(of: argument, &rest, in: sizes)
            case "--batch":
                engine.batchCount = try Self.number(of: argument, &rest, in: 1...EngineEnd.batchCapacity)
            case "--tun": engine.usesTun = true
            case "--loopback": engine.usesLoopback = true
            case let name where !name.hasPrefix("-"): names.append(name)
            default: throw Refusal(reason: "there is no option \(argument)")
            }
        }
        guard let packets else {
            guard engine == EngineOptions() else {
                throw Refusal(reason: "--bytes, --batch, --tun and --loopback go with engine --packets")
            }
            return
        }
        guard names == ["engine"] else { throw Refusal(reason: "--packets goes with engine alone") }
        guard engine.batchCount * engine.packetByteCount <= EngineEnd.byteCapacity else {
            throw Refusal(reason: "a batch has at most \(EngineEnd.byteCapacity) bytes")
        }
        if case .measure = action { action = .send(packets: packets) }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Refusal) -> String {
        guard let value = rest.popFirst() else { throw Refusal(reason: "\(option) needs a value") }
        return value
    }

    private static func number(
        of option: String, _ rest: inout ArraySlice<String>, in range: ClosedRange<Int>
    ) throws(Refusal) -> Int {
        let text = try value(of: option, &rest)
        guard let number = Int(text), range.contains(number) else {
            throw Refusal(
                reason: "\(option) takes \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    /// How the tool is used.
    static let help = """
        nexusguard-bench [NAME...] [--quick] [--json FILE] [--compare FILE]
            Measures the named benchmarks, or all. A name may be that of a group, such as aead.
              --quick          fewer and shorter rounds: all within 15 seconds
              --json FILE      also write the results to a file
              --compare FILE   also print the ratio to the results in a file; above 1 is faster now
        nexusguard-bench engine --packets N [--bytes SIZE] [--batch COUNT] [--tun] [--loopback]
            Sends exactly N packets through the whole engine, both ends of a tunnel, for tools that count
            allocations or instructions.
              --bytes SIZE     size of each packet (1420)
              --batch COUNT    packets in each batch (45)
              --tun            split from and join to reads and writes of a TUN with virtio headers
              --loopback       through UDP sockets on the loopback interface
        nexusguard-bench --list
            Prints the names of all benchmarks.
        """
}
