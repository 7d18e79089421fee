// SPDX-License-Identifier: MIT

internal import CFuzzer
package import FuzzChecks
internal import Glibc

/// Runs a check on the inputs that libFuzzer makes up.
package enum FuzzDriver {
    /// What runs; set once, before the first input.
    nonisolated(unsafe) private static var check = FuzzCheck.aead

    /// Takes libFuzzer's own command line; ends the process when that says so, or at the first failure.
    package static func run(_ check: FuzzCheck) -> Never {
        self.check = check
        var count = CommandLine.argc
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &words) { start, byteCount in
                let input = UnsafeRawBufferPointer(start: start, count: byteCount)
                if let failure = FuzzDriver.check.failure(for: input) {
                    print("FuzzDriver: \(failure)")
                    fflush(nil)
                    // libFuzzer keeps the input of whatever ends the process.
                    abort()
                }
                return 0
            })
    }
}
