// SPDX-License-Identifier: MIT

// Embedders import one module: keys, addresses, configurations and their text forms come with it.
@_exported public import WireGuardConfiguration
@_exported public import WireGuardCrypto
@_exported public import WireGuardProtocol
