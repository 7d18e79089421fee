// SPDX-License-Identifier: MIT

internal import CSodium

/// Comparison whose duration does not depend on the bytes compared.
package enum ConstantTime {
    /// Whether both spans hold the same bytes; spans of different sizes are unequal.
    package static func areEqual(_ left: RawSpan, _ right: RawSpan) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        return unsafe left.withUnsafeBytes { leftBytes in
            unsafe right.withUnsafeBytes { rightBytes in
                guard let first = leftBytes.baseAddress, let second = rightBytes.baseAddress else {
                    return true
                }
                return unsafe sodium_memcmp(first, second, leftBytes.count) == 0
            }
        }
    }
}
