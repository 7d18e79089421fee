// SPDX-License-Identifier: MIT

/// Why a call to a thread got no answer.
enum MailboxError: Error, Hashable, Sendable {
    /// The thread has ended, or ended before it came to the call.
    case ended
    /// The thread called itself and would have waited for ever.
    case calledFromOwner
}
