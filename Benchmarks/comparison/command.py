# SPDX-License-Identifier: MIT
"""The command line."""

import argparse
import json
import os
import shutil
import signal
import sys
import time

from . import report
from .lab import Lab, LabError, split_command
from .measures import FLOOD_RATE, GROUPS, Effort, machine
from .rounds import Failure, Round, missing, order

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = os.path.join(ROOT, ".build/static/release/nexusguard-tun")
TOOLS = ["ip", "wg", "iperf3", "ping", "ss", "ethtool", "nsenter"]
USUAL_REFERENCE = "wireguard-go"


def parser():
    usual = " ".join(name for name, group in GROUPS.items() if group.usual)
    more = " ".join(name for name, group in GROUPS.items() if not group.usual)
    result = argparse.ArgumentParser(
        prog="Benchmarks/compare",
        description="Runs WireGuard daemons one after the other between two network namespaces of this machine and "
        "compares them. Rounds are interleaved, each begins with another daemon, so that a machine that changes its "
        "speed does so for all. Both ends, the traffic generator and the kernel share the processors: the ratios "
        "count, not the absolute numbers. Needs root.",
        epilog="What fails in one round is reported, and the other rounds count. Exit status: 0 everything has a "
        "sample, 1 something has none, 2 the command line is wrong.")
    result.add_argument("groups", nargs="*", help=f"what to measure: {usual} (all of these), and on request {more}")
    result.add_argument(
        "--impl", action="append", metavar="NAME=COMMAND",
        help="a daemon with the command line of wireguard-go; may be given again, and COMMAND may start with "
        "'env NAME=VALUE' (nexusguard=the static release build, wireguard-go=wireguard-go)")
    result.add_argument(
        "--reference", metavar="NAME", help=f"what the ratios refer to ({USUAL_REFERENCE}, else the second one)")
    result.add_argument("--rounds", type=int, default=5, help="interleaved rounds (%(default)s)")
    result.add_argument("--seconds", type=int, default=3, help="length of each traffic run (%(default)s)")
    result.add_argument(
        "--idle", type=int, default=60, metavar="SECONDS", help="length of the group idle (%(default)s)")
    result.add_argument("--quick", action="store_true", help="one round of one second each, without many peers")
    result.add_argument(
        "--offload", choices=("on", "off", "both"), default="on",
        help="segmentation offloads of the cable: without them each datagram crosses it alone (%(default)s)")
    result.add_argument("--json", metavar="FILE", help="write every sample")
    result.add_argument("--chart", metavar="FILE", help="write an SVG")
    return result


def arguments(words):
    """The options and, from name to command, the implementations; ends the program if they are wrong."""
    line = parser()
    options = line.parse_args(words)
    for group in options.groups:
        if group not in GROUPS:
            line.error(f"there is no group '{group}', only {' '.join(GROUPS)}")
    if options.rounds < 1 or options.seconds < 1 or options.idle < 1:
        line.error("rounds and seconds are 1 or more")
    implementations = {}
    for text in options.impl or [f"nexusguard={OWN}", f"{USUAL_REFERENCE}=wireguard-go"]:
        name, separator, command = text.partition("=")
        if not separator or not name or not command:
            line.error(f"'{text}' is not NAME=COMMAND")
        if name in implementations:
            line.error(f"'{name}' is given twice")
        implementations[name] = command
    options.reference = options.reference or usual_reference(list(implementations))
    if options.reference not in implementations:
        line.error(f"there is no implementation '{options.reference}'")
    if options.quick:
        options.rounds, options.seconds = 1, 1
    if options.groups:
        # In the order of the table, and none twice.
        options.groups = [name for name in GROUPS if name in options.groups]
    else:
        options.groups = [
            name for name, group in GROUPS.items()
            if group.usual and not (options.quick and name.startswith("peers"))
        ]
    options.offload = ["on", "off"] if options.offload == "both" else [options.offload]
    for path in (options.json, options.chart):
        if path:
            try:
                check_writable(path)
            except OSError as error:
                line.error(f"'{path}' cannot be written: {error.strerror}")
    return options, implementations


def usual_reference(names):
    if USUAL_REFERENCE in names:
        return USUAL_REFERENCE
    return names[min(1, len(names) - 1)]


def check_writable(path):
    """Throws if the file cannot be written; leaves it as it is."""
    was_there = os.path.lexists(path)
    with open(path, "a"):
        pass
    if not was_there:
        os.remove(path)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def complain(text):
    progress("")
    print(f"compare: {text}", file=sys.stderr, flush=True)


class Run:
    """All rounds with the offloads of the cable on, or all with them off."""

    def __init__(self, offload, names):
        self.offload = offload
        self.samples = {name: [] for name in names}
        self.failures = []

    @property
    def heading(self):
        return f"offloads of the cable {self.offload}"

    def add(self, number, name, command, options):
        """Measures one implementation once, and keeps what there is even if it is interrupted."""
        def failed(group, reason):
            self.failures.append(Failure(name, number + 1, group, reason))
            complain(f"{self.heading}: {self.failures[-1]}")

        round = Round(
            lambda: Lab(command, offload=self.offload == "on"), options.groups,
            Effort(options.seconds, options.idle), failed)
        self.samples[name].append(round.sample)
        round.measure()


def compare(options, implementations, runs):
    begin = time.monotonic()
    for number in range(options.rounds):
        for run in runs:
            for name in order(implementations, number):
                progress(
                    f"round {number + 1} of {options.rounds}, {run.heading}: {name} ({time.monotonic() - begin:.0f} s)")
                run.add(number, name, implementations[name], options)
    progress("")


def check_machine(options, implementations):
    if os.geteuid() != 0:
        raise LabError("network namespaces need root")
    tools = TOOLS + (["strace"] if "idle" in options.groups else [])
    absent = [tool for tool in tools if not shutil.which(tool)]
    if absent:
        raise LabError(f"missing programs: {' '.join(absent)}")
    for command in implementations.values():
        split_command(command)


def show(options, runs, note):
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else report.WIDTH
    print("\n".join(note.split("; ")))
    for run in runs:
        print(f"\n{run.heading}\n")
        print(report.table(run.samples, options.reference, width))
    spread = "±: half the distance from the least to the greatest; " if options.rounds > 1 else ""
    print(f"\n{spread}x: the ratio to {options.reference}")
    failures = [f"{run.heading}: {failure}" for run in runs for failure in run.failures]
    if failures:
        print(f"failed measurements: {len(failures)}")
        for failure in failures:
            print(f"  {failure}")


def write(options, runs, note):
    if options.json:
        content = {
            "machine": note, "reference": options.reference,
            "runs": [
                {"offload": run.offload, "samples": run.samples, "failures": [f._asdict() for f in run.failures]}
                for run in runs
            ],
        }
        with open(options.json, "w") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
    if options.chart:
        with open(options.chart, "w") as file:
            file.write(report.chart([(run.heading, run.samples) for run in runs], options.reference, note))


def main(words=None):
    options, implementations = arguments(words)
    # An end by signal clears away as an interrupt does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    runs = [Run(offload, implementations) for offload in options.offload]
    note = ""
    try:
        check_machine(options, implementations)
        rounds = f"median of {options.rounds} interleaved rounds" if options.rounds > 1 else "one round"
        note = f"{machine()}; {rounds}, traffic of {options.seconds} s each"
        if "flood" in options.groups:
            note += f"; the flood: {FLOOD_RATE:,} forged initiations a second against the receiver of the stream"
        compare(options, implementations, runs)
    except LabError as error:
        complain(str(error))
        return 1
    except KeyboardInterrupt:
        complain("interrupted; this is what was measured before")
        # Nothing is written over the files of a whole run.
        show(options, runs, note)
        return 1
    show(options, runs, note)
    write(options, runs, note)
    complete = True
    for run in runs:
        for name, metrics in missing(run.samples, options.groups).items():
            complete = False
            complain(f"{run.heading}: {name} has no sample of {', '.join(metrics)}")
    return 0 if complete else 1
