// SPDX-License-Identifier: MIT

extension IPAddress {
    /// Reads the text form out of a buffer, without a `String`; `nil` when it is no address.
    package init?(bytes text: RawSpan) {
        guard let address = unsafe text.withUnsafeBytes({ unsafe AddressText.address($0) }) else {
            return nil
        }
        self = address
    }
}
