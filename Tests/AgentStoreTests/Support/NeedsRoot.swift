// SPDX-License-Identifier: MIT

import Glibc
import Harness
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test that gives files to other users, unless skipping is forbidden.
    static var needsRoot: Self {
        .enabled(
            if: geteuid() == 0 || Machine.skipsNothing, "only root can give a file to another user")
    }
}
