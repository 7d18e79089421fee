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
from .measures import GROUPS, machine, measure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = os.path.join(ROOT, ".build/static/release/nexusguard-tun")
TOOLS = ["ip", "wg", "iperf3", "ping", "ss", "ethtool"]


def arguments():
    parser = argparse.ArgumentParser(
        prog="Benchmarks/compare",
        description="Runs WireGuard daemons one after the other between two network namespaces of this machine and "
        "compares them. Rounds are interleaved, so that a machine that changes its speed does so for all. Both ends, "
        "the traffic generator and the kernel share the processors: the ratios count, not the absolute numbers. "
        "Needs root.",
        epilog="Exit status: 0 all was measured, 1 something failed, 2 the command line is wrong.")
    parser.add_argument("groups", nargs="*", help=f"what to measure: {' '.join(GROUPS)} (all of them)")
    parser.add_argument(
        "--impl", action="append", metavar="NAME=COMMAND",
        help="a daemon with the command line of wireguard-go; may be given again, and COMMAND may start with "
        "'env NAME=VALUE' (nexusguard=the static release build, wireguard-go=wireguard-go)")
    parser.add_argument("--reference", metavar="NAME", help="what the ratios refer to (the last implementation)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (%(default)s)")
    parser.add_argument("--seconds", type=int, default=3, help="length of each traffic run (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="one round of one second each, without many peers")
    parser.add_argument("--no-offload", action="store_true", help="segmentation offloads of the cable are off")
    parser.add_argument("--json", metavar="FILE", help="write every sample")
    parser.add_argument("--chart", metavar="FILE", help="write an SVG")
    options = parser.parse_args()
    for group in options.groups:
        if group not in GROUPS:
            parser.error(f"there is no group '{group}', only {' '.join(GROUPS)}")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("rounds and seconds are 1 or more")
    implementations = {}
    for text in options.impl or [f"nexusguard={OWN}", "wireguard-go=wireguard-go"]:
        name, separator, command = text.partition("=")
        if not separator or not name or not command:
            parser.error(f"'{text}' is not NAME=COMMAND")
        if name in implementations:
            parser.error(f"'{name}' is given twice")
        implementations[name] = command
    options.reference = options.reference or list(implementations)[-1]
    if options.reference not in implementations:
        parser.error(f"there is no implementation '{options.reference}'")
    if options.quick:
        options.rounds, options.seconds = 1, 1
        options.groups = options.groups or [group for group in GROUPS if group != "peers"]
    options.groups = options.groups or list(GROUPS)
    return options, implementations


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def main():
    options, implementations = arguments()
    # An end by signal clears away as an interrupt does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        if os.geteuid() != 0:
            raise LabError("network namespaces need root")
        missing = [tool for tool in TOOLS if not shutil.which(tool)]
        if missing:
            raise LabError(f"missing programs: {' '.join(missing)}")
        for command in implementations.values():
            split_command(command)
        samples = compare(options, implementations)
    except LabError as error:
        progress("")
        print(f"compare: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress("")
        print("compare: interrupted", file=sys.stderr)
        return 1
    offload = "off" if options.no_offload else "on"
    note = (
        f"{machine()}; median of {options.rounds} interleaved rounds, {options.seconds} s each; "
        f"offloads of the cable {offload}")
    print(note, end="\n\n")
    print(report.table(samples, options.reference))
    print(f"\n± is half the distance from the least to the greatest; x is the ratio to {options.reference}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": note, "reference": options.reference, "samples": samples}, file, indent=1)
    if options.chart:
        with open(options.chart, "w") as file:
            file.write(report.chart(samples, options.reference, note))
    return 0


def compare(options, implementations):
    samples = {name: [] for name in implementations}
    begin = time.monotonic()
    for number in range(options.rounds):
        for name, command in implementations.items():
            progress(f"round {number + 1} of {options.rounds}: {name} ({time.monotonic() - begin:.0f} s)")
            with Lab(command, offload=not options.no_offload) as lab:
                samples[name].append(measure(lab, options.groups, options.seconds))
    progress("")
    return samples
