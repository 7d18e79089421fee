// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

/// The settings of every target: the language of Swift 6 and no tolerated warning.
let common: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The settings of the targets that hold the protocol: each unsafe expression is marked.
let strict = common + [.strictMemorySafety()]

let package = Package(
    name: "NexusGuard",
    products: [
        .library(name: "NexusGuard", targets: ["NexusGuard"]),
        .executable(name: "nexusguard-tun", targets: ["nexusguard-tun"]),
        .library(name: "NexusGuardAgent", targets: ["NexusGuardAgent"]),
        .executable(name: "nexusguard-agent", targets: ["nexusguard-agent"]),
        .executable(name: "nexusguard", targets: ["nexusguard"]),
        .executable(name: "nexusguard-control", targets: ["nexusguard-control"]),
    ],
    targets: [
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CChecksum"),
        .target(name: "CVectorAEAD"),
        .target(
            name: "WireGuardCrypto", dependencies: ["CSodium", "CVectorAEAD"], swiftSettings: strict),
        .target(name: "WireGuardProtocol", dependencies: ["WireGuardCrypto"], swiftSettings: strict),
        .target(
            name: "WireGuardConfiguration", dependencies: ["WireGuardCrypto", "WireGuardProtocol"],
            swiftSettings: strict),
        .target(
            name: "NexusGuard",
            dependencies: [
                "CChecksum", "CLinux", "WireGuardCrypto", "WireGuardProtocol", "WireGuardConfiguration",
            ],
            swiftSettings: common),
        .executableTarget(
            name: "nexusguard-tun", dependencies: ["NexusGuard", "CLinux"], exclude: ["nexusguard-tun.8"],
            swiftSettings: common),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-gnutls-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .target(
            name: "AgentCore", dependencies: ["CGnuTLS", "CSodium", "NexusGuard"], swiftSettings: common),
        .target(name: "AgentCommandLine", swiftSettings: common),
        .target(
            name: "AgentHTTP", dependencies: ["CCurl", "CGnuTLS", "CLinux", "CMicroHTTPD"],
            swiftSettings: common),
        .target(
            name: "AgentStore", dependencies: ["AgentCore", "CLinux", "CSodium", "CSQLite", "NexusGuard"],
            swiftSettings: common),
        .target(
            name: "AgentHost", dependencies: ["AgentCore", "CLinux", "NexusGuard"], swiftSettings: common),
        .target(name: "CAgentPage"),
        .target(
            name: "NexusGuardAgent",
            dependencies: [
                "AgentCore", "AgentHTTP", "AgentHost", "AgentStore", "CAgentPage", "CLinux", "CSodium",
                "NexusGuard",
            ],
            exclude: ["Page/Web"], swiftSettings: common),
        .target(
            name: "NexusGuardControl",
            dependencies: [
                "AgentCommandLine", "AgentCore", "AgentHTTP", "AgentHost", "CLinux", "CSodium", "CSQLite",
                "NexusGuard",
            ],
            swiftSettings: common),
        .executableTarget(
            name: "nexusguard-agent", dependencies: ["AgentCommandLine", "CLinux", "NexusGuardAgent"],
            exclude: ["nexusguard-agent.8"], swiftSettings: common),
        .executableTarget(
            name: "nexusguard",
            dependencies: ["AgentCommandLine", "AgentHTTP", "CLinux", "NexusGuardAgent"],
            exclude: ["nexusguard.1"], swiftSettings: common),
        .executableTarget(
            name: "nexusguard-control", dependencies: ["CLinux", "NexusGuardControl"],
            exclude: ["nexusguard-control.8"], swiftSettings: common),
        .testTarget(
            name: "AgentCoreTests", dependencies: ["AgentCore", "CSodium", "Harness", "NexusGuard"],
            swiftSettings: common),
        .testTarget(
            name: "AgentHTTPTests", dependencies: ["AgentHTTP", "CLinux", "Harness"], swiftSettings: common),
        .testTarget(
            name: "AgentStoreTests",
            dependencies: ["AgentCore", "AgentStore", "CLinux", "Harness", "NexusGuard"],
            swiftSettings: common),
        .testTarget(
            name: "AgentHostTests",
            dependencies: ["AgentCore", "AgentHost", "CLinux", "Harness", "NexusGuard"],
            swiftSettings: common),
        .testTarget(
            name: "NexusGuardAgentTests",
            dependencies: [
                "AgentCommandLine", "AgentCore", "AgentHTTP", "AgentHost", "AgentStore", "CLinux", "Harness",
                "NexusGuard", "NexusGuardAgent", "nexusguard", "nexusguard-agent",
            ],
            swiftSettings: common),
        .testTarget(
            name: "NexusGuardControlTests",
            dependencies: [
                "AgentCommandLine", "AgentCore", "AgentHTTP", "CLinux", "Harness", "NexusGuard",
                "NexusGuardControl",
            ],
            swiftSettings: common),
        .target(
            name: "Harness", dependencies: ["CLinux"], path: "Tests/Harness", exclude: ["Scripts"],
            swiftSettings: common),
        .executableTarget(
            name: "nexusguard-agent-soak", dependencies: ["CLinux", "NexusGuardAgent"],
            path: "Tests/AgentSoak", swiftSettings: common),
        .testTarget(
            name: "AgentEndToEnd", dependencies: ["Harness"], exclude: ["Scripts"], swiftSettings: common),
        .target(
            name: "AEADComparison", dependencies: ["WireGuardCrypto"], path: "Tests/AEADComparison",
            swiftSettings: common),
        .testTarget(
            name: "WireGuardCryptoTests", dependencies: ["AEADComparison", "Harness", "WireGuardCrypto"],
            swiftSettings: common),
        .target(
            name: "WireGuardSimulation", dependencies: ["WireGuardCrypto", "WireGuardProtocol"],
            path: "Tests/WireGuardSimulation", swiftSettings: common),
        .testTarget(
            name: "WireGuardProtocolTests",
            dependencies: ["Harness", "WireGuardCrypto", "WireGuardProtocol", "WireGuardSimulation"],
            swiftSettings: common),
        .testTarget(
            name: "WireGuardSimulationTests",
            dependencies: ["WireGuardCrypto", "WireGuardProtocol", "WireGuardSimulation"],
            swiftSettings: common),
        .testTarget(
            name: "WireGuardConfigurationTests",
            dependencies: ["WireGuardCrypto", "WireGuardProtocol", "WireGuardConfiguration"],
            swiftSettings: common),
        .testTarget(
            name: "NexusGuardTests",
            dependencies: [
                "CChecksum", "CLinux", "NexusGuard", "WireGuardCrypto", "WireGuardProtocol",
                "WireGuardConfiguration", "WireGuardSimulation", "nexusguard-tun",
            ],
            swiftSettings: common),
        .testTarget(
            name: "EndToEnd", dependencies: ["Harness"], exclude: ["Scripts"], swiftSettings: common),
        .target(
            name: "FuzzChecks",
            dependencies: [
                "AEADComparison", "CLinux", "NexusGuard", "WireGuardConfiguration", "WireGuardCrypto",
                "WireGuardProtocol", "WireGuardSimulation",
            ],
            path: "Fuzz/FuzzChecks", swiftSettings: common),
        .testTarget(name: "RegressionTests", dependencies: ["FuzzChecks"], swiftSettings: common),
        .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),
        .executableTarget(
            name: "nexusguard-bench",
            dependencies: [
                "CAllocationCounter", "CLinux", "NexusGuard", "WireGuardCrypto", "WireGuardProtocol",
                "WireGuardConfiguration", "WireGuardSimulation",
            ],
            path: "Benchmarks/nexusguard-bench", swiftSettings: common),
    ],
    swiftLanguageModes: [.v6]
)

// libFuzzer comes with the compiler's sanitizer, which ordinary builds do not ask for.
if Context.environment["NEXUSGUARD_FUZZ"] == "1" {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .target(
            name: "FuzzDriver", dependencies: ["CFuzzer", "FuzzChecks"], path: "Fuzz/FuzzDriver",
            swiftSettings: common),
    ]
    package.targets += ["AEAD", "Datagram", "UAPI", "Configuration", "Offload"].map { name in
        .executableTarget(
            name: "Fuzz\(name)", dependencies: ["FuzzChecks", "FuzzDriver"], path: "Fuzz/Fuzz\(name)",
            swiftSettings: common)
    }
}
