# SPDX-License-Identifier: MIT
"""What is measured. The function of each group gets a running lab and yields pairs of metric and number."""

import base64
import hashlib
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from typing import Callable, NamedTuple

from .lab import LabError, run

FLOOD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flood.py")
FLOOD_RATE = 100_000
# Not the peer's own address, so that nothing that a daemon does against the flood is done to the peer.
FLOOD_SOURCE = "192.0.2.66"
# After the last echo: the end that received it answers with a keepalive after 10 s, and then no timer is due.
SETTLING_SECONDS = 13


class Metric(NamedTuple):
    title: str
    unit: str
    less_is_better: bool
    decimals: int
    in_chart: bool = True


METRICS = {
    "tcp1": Metric("TCP, one stream", "Mbit/s", False, 0),
    "tcp1_back": Metric("TCP, one stream, other way", "Mbit/s", False, 0),
    "tcp4": Metric("TCP, four streams", "Mbit/s", False, 0),
    "tcp4_back": Metric("TCP, four streams, other way", "Mbit/s", False, 0),
    "cpu_gib": Metric("processor time, both ends", "s/GiB", True, 2),
    "udp64": Metric("UDP, 64 bytes, delivered", "packets/s", False, 0),
    "udp64_loss": Metric("  lost on the way", "%", True, 1, in_chart=False),
    "udp1280": Metric("UDP, 1,280 bytes, delivered", "packets/s", False, 0),
    "udp1280_loss": Metric("  lost on the way", "%", True, 1, in_chart=False),
    "ping_idle": Metric("ping, idle, median", "ms", True, 3),
    "ping_idle_p99": Metric("ping, idle, 99th percentile", "ms", True, 3),
    "ping_load": Metric("ping, full TCP, median", "ms", True, 3),
    "ping_load_p99": Metric("ping, full TCP, 99th perc.", "ms", True, 3),
    "flood_before": Metric("TCP before a flood", "Mbit/s", False, 0, in_chart=False),
    "flood_during": Metric("TCP during the flood", "Mbit/s", False, 0),
    "flood_kept": Metric("  of that before", "%", False, 0),
    "flood_rate": Metric("  forged initiations sent", "/s", False, 0, in_chart=False),
    "memory_idle": Metric("memory, idle", "MiB", True, 1),
    "memory_load": Metric("memory, after the load", "MiB", True, 1),
    "first_reply": Metric("start to first reply", "ms", True, 0),
    "peers1000": Metric("1,000 peers configured", "s", True, 3),
    "peers1000_memory": Metric("  memory with them", "MiB", True, 1),
    "peers10000": Metric("10,000 peers configured", "s", True, 3),
    "peers10000_memory": Metric("  memory with them", "MiB", True, 1),
    "idle_calls": Metric("system calls, idle session", "/min", True, 0),
}


class Effort(NamedTuple):
    """How long things take, in seconds."""

    traffic: int
    idle: int


def iperf_server(lab):
    """Starts iperf3 at the right end for one test, and waits until it listens."""
    server = lab.right.spawn("iperf3", "-s", "-1", "-B", lab.right.inner)
    limit = time.monotonic() + 5
    while not lab.right.run("ss", "-Hltn", "sport = :5201").strip():
        if time.monotonic() > limit:
            raise LabError("iperf3 does not listen")
        time.sleep(0.02)
    return server


def iperf(lab, seconds, *options):
    """Runs iperf3 from the left to the right end and gives the sums of its report."""
    server = iperf_server(lab)
    text = lab.left.run(
        "iperf3", "-c", lab.right.inner, "-J", "-t", str(seconds), *options, check=False, timeout=seconds + 20)
    finish(server, "the server of iperf3")
    return iperf_sums(text)


def iperf_sums(text):
    try:
        report = json.loads(text)
    except ValueError as error:
        raise LabError(f"iperf3 gave no report: {text.strip()[-100:]}") from error
    if "error" in report:
        raise LabError(f"iperf3: {report['error']}")
    if "sum_received" not in report.get("end", {}):
        raise LabError("iperf3: the report has no sum of what was received")
    return report["end"]


def finish(child, title, seconds=10):
    """Waits for a program to end by itself."""
    try:
        status = child.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{title} has not ended after {seconds} s") from error
    if status != 0:
        raise LabError(f"{title} failed with status {status}")


def processor(lab):
    return lab.left.processor_seconds() + lab.right.processor_seconds()


def megabits(end):
    return end["sum_received"]["bits_per_second"] / 1e6


def measure_tcp1(lab, effort):
    used, moved = 0.0, 0
    for metric, options in (("tcp1", ()), ("tcp1_back", ("-R",))):
        before = processor(lab)
        end = iperf(lab, effort.traffic, *options)
        used += processor(lab) - before
        moved += end["sum_received"]["bytes"]
        yield metric, megabits(end)
    if moved == 0:
        raise LabError("no byte came through the tunnel")
    yield "cpu_gib", used / (moved / 2**30)


def measure_tcp4(lab, effort):
    yield "tcp4", megabits(iperf(lab, effort.traffic, "-P", "4"))
    yield "tcp4_back", megabits(iperf(lab, effort.traffic, "-P", "4", "-R"))


def measure_udp(lab, effort):
    for size in (64, 1280):
        rate, loss = delivered(iperf(lab, effort.traffic, "-u", "-b", "0", "-l", str(size)))
        yield f"udp{size}", rate
        yield f"udp{size}_loss", loss


def delivered(end):
    """Datagrams that the receiver got in a second, and the percentage of those sent that it did not get.

    iperf3 counts as lost what is missing before the last one that arrived, and the receiver's count of packets is
    the number of that last one: what was lost after it is only in the sender's count.
    """
    sent, received = end["sum_sent"]["packets"], end["sum_received"]
    arrived = received["packets"] - received["lost_packets"]
    if sent <= 0 or received["seconds"] <= 0:
        raise LabError("iperf3 sent no datagram")
    return arrived / received["seconds"], 100 * (sent - arrived) / sent


def round_trips(lab, count):
    """Median and 99th percentile of `count` echoes, in milliseconds."""
    text = lab.left.run("ping", "-n", "-c", str(count), "-i", "0.01", lab.right.inner, check=False, timeout=60)
    times = sorted(float(line.split("time=")[1].split()[0]) for line in text.splitlines() if "time=" in line)
    if not times:
        raise LabError("no echo was answered")
    return statistics.median(times), times[math.ceil(0.99 * len(times)) - 1]


def measure_ping(lab, effort):
    median, high = round_trips(lab, 100)
    yield "ping_idle", median
    yield "ping_idle_p99", high
    server = iperf_server(lab)
    client = lab.left.spawn("iperf3", "-c", lab.right.inner, "-t", str(effort.traffic + 1))
    time.sleep(0.7)
    median, high = round_trips(lab, effort.traffic * 60)
    for child in (client, server):
        finish(child, "iperf3, the load under the ping,", 15)
    yield "ping_load", median
    yield "ping_load_p99", high


def measure_flood(lab, effort):
    """One stream from left to right, without and with a flood from the left against the right daemon."""
    before = megabits(iperf(lab, effort.traffic))
    yield "flood_before", before
    lab.left.ip(f"addr add {FLOOD_SOURCE}/24 dev cable")
    flood = lab.left.spawn(
        sys.executable, "-B", FLOOD, FLOOD_SOURCE, lab.right.outer, "51820", lab.right.public_key, "--rate",
        str(FLOOD_RATE), "--seconds", str(effort.traffic + 30))
    if flood.stdout.readline().strip() != "ready":
        raise LabError("the flood did not start")
    during = megabits(iperf(lab, effort.traffic))
    flood.send_signal(signal.SIGTERM)
    finish(flood, "the flood")
    sent, seconds = flood.stdout.read().split()
    yield "flood_during", during
    yield "flood_rate", int(sent) / float(seconds)
    if before > 0:
        yield "flood_kept", 100 * during / before


def measure_peers(count, lab, _):
    """Configures peers at the left end with one `wg setconf`, which replaces the peer that was there."""
    private = lab.left.wg("show", lab.left.interface, "private-key").strip()
    lines = ["[Interface]", f"PrivateKey = {private}", "ListenPort = 51820"]
    for number in range(count):
        lines += [
            "[Peer]", f"PublicKey = {peer_key(number)}",
            f"AllowedIPs = 10.{1 + number // 65536}.{number // 256 % 256}.{number % 256}/32"]
    begin = time.monotonic()
    lab.left.wg("setconf", lab.left.interface, "/dev/stdin", input="\n".join(lines) + "\n")
    yield f"peers{count}", time.monotonic() - begin
    yield f"peers{count}_memory", lab.left.resident_mebibytes()


def peer_key(number):
    """A public key that nobody has the private key of."""
    digest = bytearray(hashlib.sha256(f"peer {number}".encode()).digest())
    digest[31] &= 0x7F
    return base64.b64encode(bytes(digest)).decode()


def measure_idle(lab, effort):
    """Counts the system calls of a daemon that has a session, no keepalive interval and nothing to carry."""
    time.sleep(SETTLING_SECONDS)
    path = os.path.join(lab.folder, "trace")
    trace = lab.left.spawn("strace", "-f", "-qq", "-o", path, "-p", str(lab.left.process.pid))
    time.sleep(effort.idle)
    if trace.poll() is not None:
        raise LabError(f"strace ended with status {trace.returncode}")
    trace.send_signal(signal.SIGINT)
    trace.wait(10)
    lab.check()
    with open(path, errors="replace") as file:
        yield "idle_calls", finished_calls(file) * 60 / effort.idle


def finished_calls(lines):
    """Counts the system calls of a trace that returned in it.

    What the trace's end cuts off is the call in which each thread waits.
    """
    return sum("<detached ...>" not in line and "<unfinished ...>" not in line for line in lines)


class Group(NamedTuple):
    """What is measured together."""

    measure: Callable
    metrics: tuple
    # Its daemons are started for it alone; otherwise the groups share them.
    alone: bool = False
    # It is a load after which the memory is measured.
    load: bool = False
    # Without names on the command line it is measured.
    usual: bool = True


def peers_group(count):
    return Group(
        lambda lab, effort: measure_peers(count, lab, effort), (f"peers{count}", f"peers{count}_memory"), alone=True)


GROUPS = {
    "ping": Group(measure_ping, ("ping_idle", "ping_idle_p99", "ping_load", "ping_load_p99")),
    "tcp1": Group(measure_tcp1, ("tcp1", "tcp1_back", "cpu_gib"), load=True),
    "tcp4": Group(measure_tcp4, ("tcp4", "tcp4_back"), load=True),
    "udp": Group(measure_udp, ("udp64", "udp64_loss", "udp1280", "udp1280_loss"), load=True),
    "flood": Group(measure_flood, ("flood_before", "flood_during", "flood_kept", "flood_rate"), alone=True),
    "peers1000": peers_group(1000),
    "peers10000": peers_group(10000),
    "idle": Group(measure_idle, ("idle_calls",), alone=True, usual=False),
}
# Measured in every round, whatever the groups are.
START_METRICS = ("first_reply", "memory_idle")


def machine():
    """What the numbers were measured on."""
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {run(['nproc']).strip()} processors, Linux {run(['uname', '-r']).strip()}"
