# SPDX-License-Identifier: MIT
"""An agent with its directories, in a namespace with a cable to the server."""

import base64
import json
import os
import socket

from . import wire
from .process import PATIENCE, Child, NeverTrue, eventually, run
from .relay import Relay


def in_base64(digits):
    return base64.b64encode(bytes.fromhex(digits)).decode()


class Agent:
    """`nexusguard-agent`."""

    def __init__(self, world, number, settings=()):
        self.world, self.number, self.name = world, number, f"device{number}"
        self.state = os.path.join(world.scratch, f"{self.name}.state")
        self.runtime = os.path.join(world.scratch, f"{self.name}.run")
        self.socket = os.path.join(self.runtime, "agent.sock")
        self.configuration = os.path.join(world.scratch, f"{self.name}.conf")
        self.child = self.relay = None
        # Where no other agent's page is brought to.
        self.page_port = 8460 + number
        os.makedirs(self.runtime, mode=0o755)
        self.configure(settings)
        self.prefix = [] if number == 1 else ["ip", "netns", "exec", self.name]
        if number != 1:
            run(["ip", "netns", "add", self.name])
            run(self.prefix + ["ip", "link", "set", "lo", "up"])
        self.plug_in()

    def plug_in(self):
        place = "1" if self.number == 1 else self.name
        run(["ip", "link", "add", f"port{self.number}", "netns", "server", "type", "veth",
             "peer", "name", "uplink", "netns", str(os.getpid()) if self.number == 1 else place])
        server = ["ip", "-n", "server"]
        run(server + ["address", "add", "192.0.2.1", "peer", f"192.0.2.{self.number + 1}/32", "dev",
                      f"port{self.number}"])
        run(server + ["link", "set", f"port{self.number}", "up"])
        run(self.prefix + ["ip", "address", "add", f"192.0.2.{self.number + 1}/24", "dev", "uplink"])
        self.link_up()

    def link_up(self):
        run(self.prefix + ["ip", "link", "set", "uplink", "up"])
        # An agent that looks before the carrier is there sees no network.
        eventually("the cable has a carrier", lambda: " UP " in run(
            self.prefix + ["ip", "-br", "link", "show", "uplink"]).stdout)
        run(self.prefix + ["ip", "route", "replace", "default", "via", "192.0.2.1"])

    def link_down(self):
        run(self.prefix + ["ip", "link", "set", "uplink", "down"])

    def configure(self, settings=()):
        """Writes the administrator's file."""
        lines = [f"ca_file = {os.path.join(self.world.scratch, 'control.pem')}", f"hwid = {self.number:032d}"]
        with open(self.configuration, "w") as file:
            file.write("\n".join(lines + list(settings)) + "\n")

    def start(self):
        """Starts the daemon and returns when it answers."""
        self.child = Child(
            self.prefix + [self.world.program("nexusguard-agent"), "--state-dir", self.state, "--runtime-dir",
                           self.runtime, "--config", self.configuration, "--log-level", "debug"],
            os.path.join(self.world.scratch, self.name))

        def answers():
            if self.child.ended():
                raise AssertionError(f"{self.name} ended: {self.child.last_words()}")
            return self.command("status", "--check", "live", check=False).returncode == 0
        eventually(f"{self.name} answers", answers)

    def stop(self, limit=PATIENCE):
        """Ends the daemon in order, and gives the seconds that it took."""
        status, seconds = self.child.stop(limit)
        assert status == 0, f"{self.name} ended with {status}: {self.child.last_words()}"
        return seconds

    def command(self, *words, check=True, input=None):
        """Runs the command of users."""
        return run([self.world.program("nexusguard"), "--socket", self.socket, *words], check=check, input=input)

    def ask(self, method, path, document=None):
        """Asks the local interface over its socket, and gives the status and the document."""
        return wire.over_socket(self.socket, method, path, document)

    def link(self, **options):
        """A one-time link to the page; that of another namespace is brought to the one of the browser."""
        if self.number != 1:
            options.setdefault("listen", f"127.0.0.1:{self.page_port}")
            if self.relay is None:
                self.relay = Relay(self.name, self.page_port)
        status, document = self.ask("POST", "/api/v1/ui/session", options)
        assert status == 200, f"no link: {status} {document}"
        return document["url"]

    def status(self):
        return json.loads(self.command("--json", "status").stdout)

    def wait_for(self, sentence, condition, limit=PATIENCE):
        """Waits for a status, and gives it."""
        last = {}

        def holds():
            last.clear()
            last.update(self.status())
            return condition(last)
        eventually(f"{self.name}: {sentence}", holds, limit, pause=0.1, detail=lambda: json.dumps(last))
        return last

    def provision(self):
        """Gives the agent an identity and brings its tunnel up."""
        token = self.world.control.token(self.name)
        self.command("provision", "--server", self.world.control.url, "--token-stdin", input=token + "\n")
        self.command("up", "--timeout", str(PATIENCE))

    def connect(self):
        """Returns when the agent is connected and all is well, whatever was before."""
        self.world.control.set_faults()
        try:
            return self.try_to_connect(60)
        except NeverTrue:
            # What a test has left behind is no concern of the next.
            self.stop()
            self.start()
            return self.try_to_connect(PATIENCE)

    def try_to_connect(self, limit):
        status = self.status()
        if not status["provisioned"]:
            self.provision()
        elif not status["wantsUp"]:
            self.command("up", "--timeout", str(PATIENCE))
        if self.status()["health"] or self.status()["state"] != "connected":
            self.command("refresh", check=False)
        return self.wait_for(
            "it is connected and well", lambda status: status["state"] == "connected" and not status["health"],
            limit)

    def reaches_server(self, seconds=120):
        """Whether an echo comes back through the tunnel."""
        words = ["ping", "-n", "-q", "-c", "1", "-i", "0.2", "-w", str(seconds), "10.172.21.1"]
        return run(self.prefix + words, check=False).returncode == 0

    def stored(self):
        """The configuration that the agent keeps, with its keys as hexadecimal digits."""
        with open(os.path.join(self.state, "tunnel.json")) as file:
            return json.load(file)["content"]

    def secrets(self):
        """The keys that nobody may be shown, in both forms that they are written in."""
        digits = [self.stored()[name] for name in ("private_key", "preshared_key")]
        return digits + [in_base64(text) for text in digits]

    def configuration_as_file(self, mtu=None):
        """What the agent keeps, as a file of wg-quick."""
        kept = self.stored()
        return "\n".join([
            "[Interface]", f"PrivateKey = {in_base64(kept['private_key'])}", f"Address = {kept['internal_ip']}",
            *([f"MTU = {mtu}"] if mtu else []), "[Peer]", f"PublicKey = {in_base64(kept['server_pub'])}",
            f"PresharedKey = {in_base64(kept['preshared_key'])}", f"Endpoint = {kept['endpoint']}",
            f"AllowedIPs = {kept['allowed_ips']}", f"PersistentKeepalive = {kept['keepalive']}", ""])

    def listening(self):
        """The addresses and ports on which the daemon accepts TCP."""
        return [place for place, state in self.sockets() if state == "0A"]

    def connection_count(self, port):
        """How many connections to a port of its own the daemon has not closed."""
        return len([place for place, state in self.sockets() if place[1] == port and state != "0A"])

    def sockets(self):
        """The local addresses and ports of the daemon's TCP sockets, with their states as the kernel writes them."""
        inodes = set()
        for name in os.listdir(f"/proc/{self.child.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{self.child.pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        found = []
        for family, path in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
            with open(f"/proc/{self.child.pid}/net/{path}") as file:
                for fields in (line.split() for line in file.readlines()[1:]):
                    if fields[9] in inodes:
                        digits, port = fields[1].split(":")
                        words = [bytes.fromhex(digits[at:at + 8])[::-1] for at in range(0, len(digits), 8)]
                        place = (socket.inet_ntop(family, b"".join(words)), int(port, 16))
                        found.append((place, fields[3]))
        return found

    def has_interface(self):
        return run(self.prefix + ["ip", "link", "show", "nexusguard0"], check=False).returncode == 0
