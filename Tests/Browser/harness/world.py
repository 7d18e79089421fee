# SPDX-License-Identifier: MIT
"""The world of the tests: a server's namespace, the namespace in which the tests, an agent and the browser run, and
further ones for other agents; each is joined to the server's by a cable.

The server is 192.0.2.1, agent N is 192.0.2.N+1. Within the tunnel the server is 10.172.21.1.
"""

import os
import time

from .agent import Agent
from .chromium import Chromium
from .control import ControlServer
from .page import Page
from .process import run

INNER = "10.172.21.1"


class World:
    """Everything, made as it is asked for."""

    shared = None
    password = "the password of the silent agent's page"

    def __init__(self, folder, root, scratch):
        self.folder, self.root, self.scratch = folder, root, scratch
        self.screenshots = os.path.join(root, ".build", "screenshots")
        os.makedirs(self.screenshots, exist_ok=True)
        self.agents = []
        self.silent = self.old_link = self.silent_since = self.link_since = None
        self.made_chromium = self.made_control = self.made_agent = self.made_newcomer = None
        run(["ip", "netns", "add", "server"])
        run(["ip", "-n", "server", "link", "set", "lo", "up"])
        run(["ip", "-n", "server", "address", "add", "192.0.2.1/32", "dev", "lo"])
        # The server's address within the tunnel is nowhere else: who pings it has a tunnel.
        for line in ("add table inet site", "add chain inet site input { type filter hook input priority 0; }",
                     "add rule inet site input iifname \"port*\" ip daddr 10.172.21.0/24 drop"):
            run(["ip", "netns", "exec", "server", "nft", line])

    def program(self, name):
        return os.path.join(self.folder, name)

    @property
    def chromium(self):
        if self.made_chromium is None:
            self.made_chromium = Chromium(self.scratch)
        return self.made_chromium

    @property
    def control(self):
        """The control server, which runs."""
        if self.made_control is None:
            self.made_control = ControlServer(self)
            self.made_control.start()
        return self.made_control

    @property
    def agent(self):
        """The agent beside the browser, which runs."""
        if self.made_agent is None:
            assert self.control.child is not None, "its authority's certificate must be there"
            self.made_agent = self.new_agent(1)
            self.made_agent.start()
        return self.made_agent

    @property
    def newcomer(self):
        """An agent that runs and has no identity."""
        if self.made_newcomer is None:
            self.made_newcomer = self.new_agent(3)
            self.made_newcomer.start()
        return self.made_newcomer

    def fall_silent(self):
        """Connects an agent and stops its packets: three minutes later its handshake is too old."""
        path = os.path.join(self.scratch, "password")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(self.password + "\n")
        self.silent = self.new_agent(2, [f"ui_password_file = {path}"])
        assert self.control.child is not None, "its authority's certificate must be there"
        self.silent.start()
        self.silent.provision()
        self.silent.connect()
        self.control.drop_tunnel_packets("port2")
        self.silent_since = time.monotonic()
        self.make_link()

    def make_link(self):
        self.old_link, self.link_since = self.silent.link(), time.monotonic()

    def late_link(self, life):
        """A link that is older than its life, which the agent has not forgotten yet as it does after 15 minutes."""
        if time.monotonic() - self.link_since > 600:
            self.make_link()
        time.sleep(max(0, self.link_since + life + 2 - time.monotonic()))
        return self.old_link

    def wait_until_late(self, seconds):
        """Waits until so much time has passed since an agent fell silent."""
        time.sleep(max(0, self.silent_since + seconds - time.monotonic()))

    def page_of(self, agent):
        return Page(self.chromium, agent)

    def new_agent(self, number, settings=()):
        """An agent that does not run yet: the first where the tests run, others in namespaces of their own."""
        agent = Agent(self, number, settings)
        self.agents.append(agent)
        return agent

    def show_logs(self):
        """Prints the last lines of the programs' logs, for whoever looks for the cause of a failure."""
        for name in ("control", *(agent.name for agent in self.agents)):
            path = os.path.join(self.scratch, name + ".err")
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    lines = file.readlines()[-40:]
                print(f"--- the last lines of the log of {name}\n{''.join(lines)}")

    def close(self):
        if self.made_chromium is not None:
            self.made_chromium.close()
        for child in [agent.child for agent in self.agents] + [self.made_control and self.made_control.child]:
            if child is not None and not child.ended():
                child.kill()
