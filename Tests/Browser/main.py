# SPDX-License-Identifier: MIT
"""Runs the browser tests in the order of ORDER; see `run`, which starts this within namespaces of its own."""

import os
import signal
import sys
import time
import traceback
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness.case import PageCase  # noqa: E402
from harness.world import World  # noqa: E402

# The judges first: what they find counts only when they are right. The newcomer's walk needs an agent that has nothing
# yet. What takes minutes comes last: it began with the first.
ORDER = [
    "test_judges", "test_newcomer", "test_conditions.IdentityConditions", "test_http", "test_conditions.Conditions",
    "test_tunnel", "test_windows", "test_config", "test_keyboard", "test_accessibility", "test_look",
    "test_conditions.LossConditions", "test_load", "test_late"]


class Result(unittest.TextTestResult):
    """Notes how long each test took, and says at once why one failed."""

    def startTest(self, test):
        self.begin = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.took()

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.explain(err)

    def addError(self, test, err):
        super().addError(test, err)
        self.explain(err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.explain(err)

    def explain(self, err):
        lines = [f"line {frame.lineno}" for frame in traceback.extract_tb(err[2]) if "test_" in frame.filename]
        self.stream.writeln(f"    {', '.join(lines)}: {str(err[1])[:600]}")
        self.took()

    def took(self):
        self.stream.writeln(f"    {time.monotonic() - self.begin:.1f} s")
        self.stream.flush()


def main():
    folder, names = sys.argv[1], sys.argv[2:] or ORDER
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    World.shared = World(folder, os.environ["BROWSER_TESTS_ROOT"], os.environ["TMPDIR"])
    try:
        if any("test_late" in name for name in names):
            World.shared.fall_silent()
        suite = unittest.defaultTestLoader.loadTestsFromNames(names)
        result = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Result).run(suite)
        if not result.wasSuccessful():
            World.shared.show_logs()
    finally:
        World.shared.close()
    if PageCase.smallest_contrast < float("inf"):
        print(f"the least contrast of any text: {PageCase.smallest_contrast:.2f}")
    bad = len(result.failures) + len(result.errors)
    print(f"browser tests took {time.monotonic() - begin:.0f} s")
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed, {len(result.skipped)} skipped")
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


sys.exit(main())
