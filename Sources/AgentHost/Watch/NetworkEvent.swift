// SPDX-License-Identifier: MIT

/// What a watch of the host's network tells.
public enum NetworkEvent: Hashable, Sendable {
    /// Links, addresses, routes or rules are not what they were; changes that we made ourselves do not count.
    case changed
    /// There is a way out again.
    case online
    /// There is no way out any more.
    case offline
    /// The host slept for this long and woke up.
    case resumed(after: Duration)
}
