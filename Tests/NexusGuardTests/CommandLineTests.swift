// SPDX-License-Identifier: MIT

import Testing

@testable internal import nexusguard_tun

@Suite("Command line")
struct CommandLineTests {
    private func options(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws(CommandLineError) -> CommandLineOptions {
        try CommandLineOptions(arguments: arguments) { environment[$0] }
    }

    @Test("a name alone runs in the background with errors logged")
    func plain() throws {
        let options = try options(["wg0"])
        #expect(options.action == .run)
        #expect(options.interfaceName == "wg0")
        #expect(!options.isForeground)
        #expect(options.logLevel == .error)
        #expect(!options.keepsOutput)
        #expect(options.tunDescriptor == nil)
        #expect(options.controlDescriptor == nil)
        #expect(options.stateDirectory == "/var/lib/nexusguard-tun")
    }

    @Test(
        "options are taken before and behind the name",
        arguments: [
            ["-f", "wg0"], ["--foreground", "wg0"], ["wg0", "-f"], ["-f", "--foreground", "wg0"],
            ["-f", "--", "wg0"],
        ])
    func foreground(arguments: [String]) throws {
        let options = try options(arguments)
        #expect(options.action == .run)
        #expect(options.isForeground)
        #expect(options.interfaceName == "wg0")
    }

    @Test("a name that looks like an option is taken behind two hyphens")
    func hyphens() throws {
        #expect(try options(["--", "-wg0"]).interfaceName == "-wg0")
    }

    @Test("help and version need no name", arguments: ["-h", "--help"])
    func help(argument: String) throws {
        #expect(try options([argument]).action == .help)
        #expect(try options(["wg0", argument]).action == .help)
        #expect(try options(["--version"]).action == .version)
    }

    @Test("what makes no sense is refused with the culprit named")
    func refusals() {
        #expect(throws: CommandLineError.missingName) { try options([]) }
        #expect(throws: CommandLineError.missingName) { try options(["-f"]) }
        #expect(throws: CommandLineError.surplusArgument("wg1")) { try options(["wg0", "wg1"]) }
        #expect(throws: CommandLineError.unknownOption("-x")) { try options(["-x", "wg0"]) }
        #expect(throws: CommandLineError.unknownOption("--daemon")) { try options(["--daemon"]) }
        for text in ["x", "-1", "3x", " 3", "99999999999"] {
            for variable in ["WG_TUN_FD", "WG_UAPI_FD"] {
                #expect(throws: CommandLineError.invalidDescriptor(variable: variable, value: text)) {
                    try options(["wg0"], [variable: text])
                }
            }
        }
        for error in [
            CommandLineError.missingName, .surplusArgument("a"), .unknownOption("a"),
            .invalidDescriptor(variable: "WG_TUN_FD", value: "a"),
        ] {
            #expect(!error.description.contains("\n"))
        }
    }

    @Test(
        "LOG_LEVEL chooses what is logged, and keeps the output of a background process",
        arguments: [
            ("verbose", .verbose, true), ("debug", .verbose, true), ("error", .error, true),
            ("silent", .silent, false), ("", .error, false), ("other", .error, true),
        ] as [(String, CommandLineOptions.LogLevel, Bool)])
    func logLevel(text: String, level: CommandLineOptions.LogLevel, keepsOutput: Bool) throws {
        let options = try options(["wg0"], ["LOG_LEVEL": text])
        #expect(options.logLevel == level)
        #expect(options.keepsOutput == keepsOutput)
    }

    @Test("the environment hands over descriptors, the foreground and the state directory")
    func environment() throws {
        let options = try options(
            ["wg0"],
            [
                "WG_TUN_FD": "3", "WG_UAPI_FD": "4", "WG_PROCESS_FOREGROUND": "1",
                "NEXUSGUARD_STATE_DIRECTORY": "/run/state",
            ])
        #expect(options.tunDescriptor == 3)
        #expect(options.controlDescriptor == 4)
        #expect(options.isForeground)
        #expect(options.stateDirectory == "/run/state")
        #expect(try !self.options(["wg0"], ["WG_PROCESS_FOREGROUND": "0"]).isForeground)
        #expect(try self.options(["wg0"], ["NEXUSGUARD_STATE_DIRECTORY": ""]).stateDirectory == nil)
        #expect(try self.options(["wg0"], ["WG_TUN_FD": ""]).tunDescriptor == nil)
    }

    @Test("packets are moved ahead of other programs unless the environment says otherwise")
    func scheduling() throws {
        #expect(try options(["wg0"]).runsAhead)
        #expect(try options(["wg0"], ["NEXUSGUARD_SCHEDULING": "ahead"]).runsAhead)
        #expect(try !options(["wg0"], ["NEXUSGUARD_SCHEDULING": "shared"]).runsAhead)
        #expect(throws: CommandLineError.invalidScheduling("idle")) {
            try options(["wg0"], ["NEXUSGUARD_SCHEDULING": "idle"])
        }
    }
}
