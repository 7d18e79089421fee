# SPDX-License-Identifier: MIT
"""The order of the rounds, and what happens to a measurement that fails."""

from typing import NamedTuple

from .lab import LabError
from .measures import GROUPS, START_METRICS

# What a daemon, a tool or the kernel can make a measurement fail with.
FAILURES = (LabError, OSError, ValueError, KeyError, IndexError)


class Failure(NamedTuple):
    """One measurement that gave no number."""

    name: str
    round: int
    group: str
    reason: str

    def __str__(self):
        return f"{self.name}, round {self.round}, {self.group}: {self.reason}"


def order(names, number):
    """The order in round `number`, which begins with another name each time.

    What the machine does right after the one before it then meets each of them.
    """
    names = list(names)
    shift = number % len(names)
    return names[shift:] + names[:shift]


def expected(groups):
    """The metrics that these groups give."""
    metrics = list(START_METRICS)
    for name in groups:
        metrics += GROUPS[name].metrics
    if any(GROUPS[name].load for name in groups):
        metrics.append("memory_load")
    return metrics


def missing(samples, groups):
    """From implementation to the metrics of which it has not a single sample; who lacks none is not in it."""
    result = {}
    for name, rounds in samples.items():
        metrics = [metric for metric in expected(groups) if not any(metric in sample for sample in rounds)]
        if metrics:
            result[name] = metrics
    return result


class Round:
    """One implementation measured once.

    `make` gives a lab as a context manager, `failed` gets the group and the reason of each failure. `sample` holds
    what was measured, also when the round was interrupted.
    """

    def __init__(self, make, groups, effort, failed):
        self.make, self.groups, self.effort, self.failed = make, groups, effort, failed
        self.sample = {}

    def measure(self):
        shared = [name for name in self.groups if not GROUPS[name].alone]
        loads = [name for name in shared if GROUPS[name].load]
        left, started = self.together(shared, loads) if shared else ([], True)
        # After a failure the others get new daemons. The memory after the load counts only after all of it.
        while left and started:
            left, started = self.together(left, [])
        for name in self.groups:
            # Daemons that did not start once would only cost time.
            if GROUPS[name].alone and started:
                _, started = self.together([name], [])

    def together(self, names, loads):
        """Measures groups with the same daemons up to the first that fails.

        Gives the groups that are left, and whether the daemons started.
        """
        step, left = "start", list(names)
        try:
            with self.make() as lab:
                self.note_start(lab)
                while left:
                    step = left.pop(0)
                    self.one(step, lab)
                    if loads and step == loads[-1]:
                        step = "memory"
                        self.sample["memory_load"] = max(
                            lab.left.resident_mebibytes(), lab.right.resident_mebibytes())
        except FAILURES as error:
            self.failed(step, reason(error))
            return left, step != "start"
        return [], True

    def one(self, group, lab):
        try:
            for metric, value in GROUPS[group].measure(lab, self.effort):
                self.sample[metric] = value
        except FAILURES:
            # A daemon that has ended is the reason of whatever else went wrong.
            lab.check()
            raise
        lab.reap()
        lab.check()

    def note_start(self, lab):
        if "first_reply" not in self.sample:
            self.sample["memory_idle"] = lab.left.resident_mebibytes()
            self.sample["first_reply"] = lab.first_reply_milliseconds


def reason(error):
    if isinstance(error, LabError):
        return str(error)
    return f"{type(error).__name__}: {error}"
