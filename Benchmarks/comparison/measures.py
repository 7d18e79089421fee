# SPDX-License-Identifier: MIT
"""What is measured. Each function gets a running lab and gives a dictionary from metric to number."""

import base64
import hashlib
import json
import math
import statistics
import subprocess
import time

from .lab import LabError, run

# Metric: title, unit, whether less is better, decimals.
METRICS = {
    "tcp1": ("TCP, one stream", "Mbit/s", False, 0),
    "tcp1_back": ("TCP, one stream, other way", "Mbit/s", False, 0),
    "tcp4": ("TCP, four streams", "Mbit/s", False, 0),
    "tcp4_back": ("TCP, four streams, other way", "Mbit/s", False, 0),
    "cpu_gib": ("processor time, both ends", "s/GiB", True, 2),
    "udp64": ("UDP flood of 64 bytes, delivered", "packets/s", False, 0),
    "udp64_loss": ("  lost on the way", "%", True, 1),
    "udp1280": ("UDP flood of 1,280 bytes, delivered", "packets/s", False, 0),
    "udp1280_loss": ("  lost on the way", "%", True, 1),
    "ping_idle": ("ping, idle, median", "ms", True, 3),
    "ping_idle_p99": ("ping, idle, 99th percentile", "ms", True, 3),
    "ping_load": ("ping under full TCP, median", "ms", True, 3),
    "ping_load_p99": ("ping under full TCP, 99th perc.", "ms", True, 3),
    "memory_idle": ("memory, idle", "MiB", True, 1),
    "memory_load": ("memory, after the load", "MiB", True, 1),
    "first_reply": ("start to first reply, both ends", "ms", True, 0),
    "peers1000": ("1,000 peers configured", "s", True, 3),
    "peers1000_memory": ("  memory with 1,000 peers", "MiB", True, 1),
    "peers10000": ("10,000 peers configured", "s", True, 3),
    "peers10000_memory": ("  memory with 10,000 peers", "MiB", True, 1),
}


def iperf(lab, seconds, *options):
    """Runs iperf3 from the left to the right end and gives its report."""
    server = lab.right.spawn("iperf3", "-s", "-1", "-B", lab.right.inner)
    limit = time.monotonic() + 5
    while not lab.right.run("ss", "-Hltn", "sport = :5201").strip():
        if time.monotonic() > limit:
            raise LabError("iperf3 does not listen")
        time.sleep(0.02)
    text = lab.left.run(
        "iperf3", "-c", lab.right.inner, "-J", "-t", str(seconds), *options, timeout=seconds + 30)
    server.wait(10)
    report = json.loads(text)
    if "error" in report:
        raise LabError(f"iperf3: {report['error']}")
    return report["end"]


def processor(lab):
    return lab.left.processor_seconds() + lab.right.processor_seconds()


def tcp(lab, seconds, streams, names):
    results, used, moved = {}, 0.0, 0
    for name, options in zip(names, ((), ("-R",))):
        before = processor(lab)
        end = iperf(lab, seconds, "-P", str(streams), *options)
        used += processor(lab) - before
        moved += end["sum_received"]["bytes"]
        results[name] = end["sum_received"]["bits_per_second"] / 1e6
    if streams == 1:
        results["cpu_gib"] = used / (moved / 2**30)
    return results


def measure_tcp1(lab, seconds):
    return tcp(lab, seconds, 1, ("tcp1", "tcp1_back"))


def measure_tcp4(lab, seconds):
    return tcp(lab, seconds, 4, ("tcp4", "tcp4_back"))


def measure_udp(lab, seconds):
    results = {}
    for size in (64, 1280):
        end = iperf(lab, seconds, "-u", "-b", "0", "-l", str(size))["sum"]
        results[f"udp{size}"] = (end["packets"] - end["lost_packets"]) / end["seconds"]
        results[f"udp{size}_loss"] = 100 * end["lost_packets"] / max(end["packets"], 1)
    return results


def round_trips(lab, count, interval):
    text = lab.left.run("ping", "-n", "-c", str(count), "-i", interval, lab.right.inner, check=False, timeout=90)
    times = sorted(float(line.split("time=")[1].split()[0]) for line in text.splitlines() if "time=" in line)
    if not times:
        raise LabError("no echo was answered")
    return statistics.median(times), times[math.ceil(0.99 * len(times)) - 1]


def measure_ping(lab, seconds):
    results = {}
    results["ping_idle"], results["ping_idle_p99"] = round_trips(lab, 100, "0.01")
    server = lab.right.spawn("iperf3", "-s", "-1", "-B", lab.right.inner)
    time.sleep(0.3)
    client = lab.left.spawn("iperf3", "-c", lab.right.inner, "-t", str(seconds + 1))
    time.sleep(0.7)
    results["ping_load"], results["ping_load_p99"] = round_trips(lab, int(seconds * 60), "0.01")
    for child in (client, server):
        try:
            status = child.wait(15)
        except subprocess.TimeoutExpired:
            child.terminate()
            status = None
        if status != 0:
            raise LabError("iperf3, the load under the ping, failed")
    return results


def measure_peers(lab, seconds):
    """Configures peers at the left end with one `wg setconf`, which replaces the peer that was there."""
    results = {}
    private = lab.left.run("wg", "show", lab.left.interface, "private-key").strip()
    for count in (1000, 10000):
        lines = ["[Interface]", f"PrivateKey = {private}", "ListenPort = 51820"]
        for number in range(count):
            lines += [
                "[Peer]", f"PublicKey = {peer_key(number)}",
                f"AllowedIPs = 10.{1 + number // 65536}.{number // 256 % 256}.{number % 256}/32"]
        begin = time.monotonic()
        lab.left.run("wg", "setconf", lab.left.interface, "/dev/stdin", input="\n".join(lines) + "\n", timeout=120)
        results[f"peers{count}"] = time.monotonic() - begin
        results[f"peers{count}_memory"] = lab.left.resident_mebibytes()
    return results


def peer_key(number):
    """A public key that nobody has the private key of."""
    digest = bytearray(hashlib.sha256(f"peer {number}".encode()).digest())
    digest[31] &= 0x7F
    return base64.b64encode(bytes(digest)).decode()


GROUPS = {"ping": measure_ping, "tcp1": measure_tcp1, "tcp4": measure_tcp4, "udp": measure_udp, "peers": measure_peers}


def measure(lab, groups, seconds):
    """All metrics of one round."""
    results = {"first_reply": lab.first_reply_milliseconds}
    results["memory_idle"] = lab.left.resident_mebibytes()
    for name in GROUPS:
        if name in groups and name != "peers":
            results.update(GROUPS[name](lab, seconds))
    if any(name in groups for name in ("tcp1", "tcp4", "udp")):
        results["memory_load"] = max(lab.left.resident_mebibytes(), lab.right.resident_mebibytes())
    if "peers" in groups:
        results.update(measure_peers(lab, seconds))
    return results


def machine():
    """What the numbers were measured on."""
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {run(['nproc']).strip()} processors, Linux {run(['uname', '-r']).strip()}"
