# SPDX-License-Identifier: MIT
"""Two network namespaces, a cable, and the same daemon at each end."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time


class LabError(Exception):
    """What went wrong, in one sentence."""


def run(arguments, check=True, timeout=60, **options):
    """Runs a command and gives its standard output."""
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, **options)
    if check and result.returncode != 0:
        raise LabError(f"{' '.join(arguments)}: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


class End:
    """One namespace with its daemon."""

    def __init__(self, lab, side, number):
        self.lab, self.number = lab, number
        self.namespace = f"{lab.prefix}{side}"
        self.interface = f"{lab.prefix}{side}"
        self.outer, self.inner = f"192.0.2.{number}", f"10.0.0.{number}"
        self.process = None

    def words(self, *arguments):
        return ["ip", "netns", "exec", self.namespace, *arguments]

    def run(self, *arguments, **options):
        return run(self.words(*arguments), **options)

    def ip(self, line):
        return run(["ip", "-n", self.namespace, *line.split()])

    def spawn(self, *arguments):
        child = subprocess.Popen(self.words(*arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lab.children.append(child)
        return child

    def start(self, command):
        """Starts the daemon in the foreground and waits until wg can reach it."""
        environment = dict(os.environ, LOG_LEVEL="error", WG_PROCESS_FOREGROUND="1", NEXUSGUARD_STATE_DIRECTORY="")
        # `exec` keeps the process id that of the daemon.
        self.process = subprocess.Popen(
            self.words("sh", "-c", f"exec {command} {self.interface}"), env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            if self.process.poll() is not None:
                raise LabError(f"{command} ended: {self.process.stderr.read().strip()[-200:]}")
            if subprocess.run(self.words("wg", "show", self.interface), capture_output=True).returncode == 0:
                return
            time.sleep(0.005)
        raise LabError(f"{command} made no interface within 10 s")

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.process = None

    def processor_seconds(self):
        """What the daemon has used of the processors, user and system."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mebibytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        raise LabError("the daemon has no size")


class Lab:
    """Both ends; use it in a `with` statement, which clears everything away."""

    counter = 0

    def __init__(self, command, offload=True):
        Lab.counter += 1
        self.prefix = f"cmp{os.getpid() % 100000}{'abcdefghij'[Lab.counter % 10]}"
        self.command, self.offload = command, offload
        self.left, self.right = End(self, "l", 1), End(self, "r", 2)
        self.children, self.folder = [], None

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.clear()
            raise
        return self

    def __exit__(self, *_):
        self.clear()

    def build(self):
        self.folder = tempfile.mkdtemp(prefix="compare-")
        for end in (self.left, self.right):
            run(["ip", "netns", "add", end.namespace])
            end.ip("link set lo up")
        left, right = self.left, self.right
        left.ip(f"link add cable type veth peer name cable netns {right.namespace}")
        for end in (left, right):
            end.ip(f"addr add {end.outer}/24 dev cable")
            end.ip("link set cable up")
            if not self.offload:
                end.run("ethtool", "-K", "cable", "tso", "off", "gso", "off", "gro", "off")
        keys = {}
        for end in (left, right):
            path = os.path.join(self.folder, str(end.number))
            secret = run(["wg", "genkey"])
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(secret)
            keys[end] = (path, run(["wg", "pubkey"], input=secret).strip())
        begin = time.monotonic()
        for end in (left, right):
            end.start(self.command)
        for end, other in ((left, right), (right, left)):
            end.run(
                "wg", "set", end.interface, "private-key", keys[end][0], "listen-port", "51820", "peer",
                keys[other][1], "allowed-ips", f"{other.inner}/32", "endpoint", f"{other.outer}:51820")
            end.ip(f"addr add {end.inner}/24 dev {end.interface}")
            end.ip(f"link set {end.interface} up")
        while subprocess.run(
                left.words("ping", "-c1", "-W1", "-n", "-q", right.inner), capture_output=True).returncode != 0:
            if time.monotonic() > begin + 20:
                raise LabError(f"{self.command}: no echo through the tunnel within 20 s")
        self.first_reply_milliseconds = (time.monotonic() - begin) * 1000

    def clear(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(3)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
            if child.stdout:
                child.stdout.close()
        for end in (self.left, self.right):
            end.stop()
            subprocess.run(["ip", "netns", "del", end.namespace], capture_output=True)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def split_command(text):
    """Checks that the program of a command line exists, and gives its words."""
    words = shlex.split(text)
    program = next((word for word in words if "=" not in word and word != "env"), "")
    if not shutil.which(program):
        raise LabError(f"there is no program '{program}'")
    return words
