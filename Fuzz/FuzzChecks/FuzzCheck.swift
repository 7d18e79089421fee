// SPDX-License-Identifier: MIT

/// What must be true for every input; the fuzzers search for one where it is not.
///
/// The inputs that were found once are in `Fixtures/Regressions`, a folder for each check.
package enum FuzzCheck: String, CaseIterable, Sendable {
    /// Each AEAD implementation does what libsodium's does.
    case aead
    /// Whatever a network does with datagrams, a device delivers only what the other one sent, and once.
    case datagram
    /// A set operation of the userspace interface is refused without a secret, or can be written and read again.
    case uapi
    /// A configuration file is refused without a secret, or can be written and read again.
    case configuration
    /// Packets that are joined for the kernel are the same after it splits them.
    case offload

    /// What is wrong with this input, or `nil`.
    package func failure(for input: UnsafeRawBufferPointer) -> String? {
        var reader = ByteReader(input)
        return switch self {
        case .aead: AEADCheck.failure(&reader)
        case .datagram: DatagramCheck.failure(&reader)
        case .uapi: UAPICheck.failure(&reader)
        case .configuration: ConfigurationCheck.failure(&reader)
        case .offload: OffloadCheck.failure(&reader)
        }
    }
}
