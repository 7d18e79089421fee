// SPDX-License-Identifier: MIT

internal import CVectorAEAD

/// A way to seal and open batches of packets; all give the same bytes.
package enum AEADImplementation: String, CaseIterable, Sendable {
    /// libsodium's whole AEAD, one call a packet.
    case libsodium
    /// libsodium's stream cipher and authenticator, put together so that the slow tail is avoided.
    case composed
    /// Vectors of 256 bits.
    case avx2
    /// Vectors of 512 bits, with the instructions for products of 52 bits.
    case avx512

    /// Whether this processor can run it.
    package var isAvailable: Bool {
        switch self {
        case .libsodium, .composed: true
        case .avx2: Self.layoutsAgree && vector_aead_has_avx2()
        case .avx512: Self.layoutsAgree && vector_aead_has_avx512()
        }
    }

    /// The implementation that the environment variable `NEXUSGUARD_AEAD` asks for, or else the fastest.
    ///
    /// One that the processor does not have, or whose results are not libsodium's, is passed over. A name that
    /// is none counts as `auto`.
    static func chosen() -> AEADImplementation {
        Sodium.initialize()
        let setting = unsafe vector_aead_setting().map { unsafe String(cString: $0) } ?? "auto"
        return chosen(for: setting) { $0.isAvailable && AEADSelfTest.passes($0) }
    }

    /// The first usable implementation for a setting, from the one it names on, or from the fastest on.
    ///
    /// - Parameter isUsable: Whether an implementation is available and correct; libsodium's own always are.
    package static func chosen(
        for setting: String, where isUsable: (AEADImplementation) -> Bool
    ) -> AEADImplementation {
        if let wanted = AEADImplementation(rawValue: setting) {
            if wanted == .libsodium || wanted == .composed || isUsable(wanted) { return wanted }
        }
        for candidate in [AEADImplementation.avx512, .avx2] where isUsable(candidate) { return candidate }
        return .composed
    }

    /// Whether a job of Swift and one of C have their fields at the same places.
    private static let layoutsAgree: Bool = {
        typealias Job = PacketAEADJob
        typealias CJob = vector_aead_job
        return unsafe MemoryLayout<Job>.stride == MemoryLayout<CJob>.stride
            && MemoryLayout<Job>.alignment == MemoryLayout<CJob>.alignment
            && MemoryLayout<Job>.offset(of: \.key) == MemoryLayout<CJob>.offset(of: \.key)
            && MemoryLayout<Job>.offset(of: \.source) == MemoryLayout<CJob>.offset(of: \.source)
            && MemoryLayout<Job>.offset(of: \.destination) == MemoryLayout<CJob>.offset(of: \.destination)
            && MemoryLayout<Job>.offset(of: \.counter) == MemoryLayout<CJob>.offset(of: \.counter)
            && MemoryLayout<Job>.offset(of: \.byteCount) == MemoryLayout<CJob>.offset(of: \.byte_count)
            && MemoryLayout<Job>.offset(of: \.isAuthentic)
                == MemoryLayout<CJob>.offset(of: \.is_authentic)
    }()
}
