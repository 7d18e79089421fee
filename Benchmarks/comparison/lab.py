# SPDX-License-Identifier: MIT
"""Two network namespaces, a cable, and the same daemon at each end."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

# What keeps large packets whole on the cable. Without them each datagram crosses it alone, as on many real ones.
OFFLOADS = ["tso", "gso", "gro", "tx-udp-segmentation"]

# The signals that end the program.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LabError(Exception):
    """What went wrong, in one sentence."""


def run(arguments, check=True, timeout=60, **options):
    """Runs a command and gives its standard output."""
    try:
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, **options)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(arguments)}: no end within {timeout} s") from error
    if check and result.returncode != 0:
        raise LabError(f"{' '.join(arguments)}: {(result.stderr.strip() or result.stdout.strip())[-200:]}")
    return result.stdout


class End:
    """One namespace with its daemon."""

    def __init__(self, lab, side, number):
        self.lab, self.number = lab, number
        self.namespace = f"{lab.prefix}{side}"
        self.interface = f"{lab.prefix}{side}"
        self.outer, self.inner = f"192.0.2.{number}", f"10.0.0.{number}"
        self.process = self.log = self.public_key = None

    def words(self, *arguments):
        return ["ip", "netns", "exec", self.namespace, *arguments]

    def run(self, *arguments, **options):
        return run(self.words(*arguments), **options)

    def wg(self, *arguments, **options):
        """Runs wg where it finds the daemon's control socket."""
        return run(["nsenter", "-m", "-n", "-t", str(self.process.pid), "wg", *arguments], **options)

    def ip(self, line):
        return run(["ip", "-n", self.namespace, *line.split()])

    def spawn(self, *arguments):
        """Starts a program that ends with the lab at the latest."""
        child = subprocess.Popen(self.words(*arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lab.children.append(child)
        return child

    def start(self, command):
        """Starts the daemon in the foreground and waits until wg can reach it."""
        environment = dict(os.environ, LOG_LEVEL="error", WG_PROCESS_FOREGROUND="1", NEXUSGUARD_STATE_DIRECTORY="")
        # A file and not a pipe: who reports every forged message must not stop at a full one.
        self.log = os.path.join(self.lab.folder, f"log{self.number}")
        with open(self.log, "w") as log:
            # A /run of its own: a daemon may watch the folder of its socket, where those of others come and go.
            # `exec` keeps the process id that of the daemon.
            self.process = subprocess.Popen(
                self.words("sh", "-c", f"mount -t tmpfs tmpfs /run && exec {command} {self.interface}"),
                env=environment, stdout=subprocess.DEVNULL, stderr=log)
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            self.check()
            # A program that cannot be entered yet, or that has ended, shows nothing either.
            if self.wg("show", self.interface, check=False):
                return
            time.sleep(0.005)
        raise LabError("the daemon made no interface within 10 s")

    def check(self):
        """Throws the daemon's last words if it has ended."""
        if self.process.poll() is not None:
            with open(self.log, errors="replace") as log:
                words = " ".join(log.read().split())[-200:]
            raise LabError(f"the daemon ended with status {self.process.returncode}: {words}")

    def stop(self):
        if self.process is not None:
            end(self.process)
            self.process = None

    def processor_seconds(self):
        """What the daemon has used of the processors, user and system."""
        self.check()
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mebibytes(self):
        self.check()
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
        left, right = self.left, self.right
        for side in (left, right):
            run(["ip", "netns", "add", side.namespace])
            side.ip("link set lo up")
        left.ip(f"link add cable type veth peer name cable netns {right.namespace}")
        for side in (left, right):
            side.ip(f"addr add {side.outer}/24 dev cable")
            side.ip("link set cable up")
            if not self.offload:
                side.run("ethtool", "-K", "cable", *(word for name in OFFLOADS for word in (name, "off")))
        keys = {}
        for side in (left, right):
            keys[side] = os.path.join(self.folder, f"key{side.number}")
            secret = run(["wg", "genkey"])
            with open(os.open(keys[side], os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(secret)
            side.public_key = run(["wg", "pubkey"], input=secret).strip()
        begin = time.monotonic()
        for side in (left, right):
            side.start(self.command)
        for side, other in ((left, right), (right, left)):
            side.wg(
                "set", side.interface, "private-key", keys[side], "listen-port", "51820", "peer",
                other.public_key, "allowed-ips", f"{other.inner}/32", "endpoint", f"{other.outer}:51820")
            side.ip(f"addr add {side.inner}/24 dev {side.interface}")
            # Otherwise the kernel solicits routers through the tunnel now and then.
            side.ip(f"link set {side.interface} addrgenmode none")
            side.ip(f"link set {side.interface} up")
        while subprocess.run(
                left.words("ping", "-c1", "-W1", "-n", "-q", right.inner), capture_output=True).returncode != 0:
            left.check()
            right.check()
            if time.monotonic() > begin + 20:
                raise LabError("no echo came through the tunnel within 20 s")
        self.first_reply_milliseconds = (time.monotonic() - begin) * 1000

    def check(self):
        """Throws if one of the daemons has ended."""
        self.left.check()
        self.right.check()

    def reap(self):
        """Ends every program that was spawned and still runs."""
        while self.children:
            child = self.children[-1]
            end(child)
            child.stdout.close()
            self.children.pop()

    def clear(self):
        # A second interrupt would leave the rest behind.
        held = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
        try:
            self.reap()
            for side in (self.left, self.right):
                side.stop()
                subprocess.run(["ip", "netns", "del", side.namespace], capture_output=True)
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)
        finally:
            for number, handler in held.items():
                signal.signal(number, handler)


def end(process):
    """Asks a process to end, and makes it after 3 s."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def split_command(text):
    """Checks that the program of a command line exists, and gives its words."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LabError(f"'{text}': {error}") from error
    program = next((word for word in words if "=" not in word and word != "env"), "")
    if not shutil.which(program):
        raise LabError(f"there is no program '{program}'")
    return words
