// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "Embedding",
    // The name, because the identity would be that of the folder of the checkout.
    dependencies: [.package(name: "NexusGuard", path: "../..")],
    targets: [
        .executableTarget(
            name: "Embedding",
            dependencies: [.product(name: "NexusGuard", package: "NexusGuard")],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
