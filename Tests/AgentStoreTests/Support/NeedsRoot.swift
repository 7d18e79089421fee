// SPDX-License-Identifier: MIT

import Glibc
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test that gives files to other users, unless skipping is forbidden.
    static var needsRoot: Self {
        .enabled(
            if: geteuid() == 0 || getenv("NEXUSGUARD_SKIP_NOTHING").map { String(cString: $0) } == "1",
            "only root can give a file to another user")
    }
}
