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
    ],
    targets: [
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CVectorAEAD"),
        .target(
            name: "WireGuardCrypto", dependencies: ["CSodium", "CVectorAEAD"], swiftSettings: strict),
        .target(name: "WireGuardProtocol", dependencies: ["WireGuardCrypto"], swiftSettings: strict),
        .target(
            name: "WireGuardConfiguration", dependencies: ["WireGuardCrypto", "WireGuardProtocol"],
            swiftSettings: strict),
        .target(
            name: "NexusGuard",
            dependencies: ["CLinux", "WireGuardCrypto", "WireGuardProtocol", "WireGuardConfiguration"],
            swiftSettings: common),
        .executableTarget(
            name: "nexusguard-tun", dependencies: ["NexusGuard", "CLinux"], exclude: ["nexusguard-tun.8"],
            swiftSettings: common),
        .testTarget(
            name: "WireGuardCryptoTests", dependencies: ["WireGuardCrypto"], swiftSettings: common),
        .target(
            name: "WireGuardSimulation", dependencies: ["WireGuardCrypto", "WireGuardProtocol"],
            path: "Tests/WireGuardSimulation", swiftSettings: common),
        .testTarget(
            name: "WireGuardProtocolTests",
            dependencies: ["WireGuardCrypto", "WireGuardProtocol", "WireGuardSimulation"],
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
                "CLinux", "NexusGuard", "WireGuardCrypto", "WireGuardProtocol", "WireGuardConfiguration",
                "WireGuardSimulation", "nexusguard-tun",
            ],
            swiftSettings: common),
        .testTarget(
            name: "EndToEnd", dependencies: ["CLinux"], exclude: ["Scripts"], swiftSettings: common),
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
