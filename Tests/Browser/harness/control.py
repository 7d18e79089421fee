# SPDX-License-Identifier: MIT
"""The control server, which is the other end of the tunnel too."""

import json
import os

from .process import Child, eventually, run

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


class ControlServer:
    """`nexusguard-control` in the server's namespace."""

    url = "https://192.0.2.1:8443"
    # Longer than a row of the page has room for, as a second address of a device is.
    admin = "https://administration.gateway-of-the-third-floor.example.net/devices"

    def __init__(self, world):
        self.world = world
        self.state = os.path.join(world.scratch, "control")
        self.authority = os.path.join(world.scratch, "control.pem")
        self.faults = os.path.join(world.scratch, "control.faults")
        self.child = None
        self.set_faults()

    def start(self, clock_ahead=None):
        """Starts the server and returns when it listens; `clock_ahead`: seconds that its clock is wrong."""
        environment = {}
        if clock_ahead is not None:
            environment = {
                "LD_PRELOAD": FAKETIME, "FAKETIME": f"{clock_ahead:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        self.child = Child(
            ["ip", "netns", "exec", "server", self.world.program("nexusguard-control"), "--state-dir", self.state,
             "serve", "--with-tunnel", "--endpoint", "192.0.2.1:51820", "--listen", "192.0.2.1:8443",
             "--pool", "10.172.21.0/24", "--pool", "fd21:7ca5:9d2b:11d4:5e8f:3a6b:71c2:0/112", "--admin-url", self.admin,
             "--heartbeat-interval", "5s", "--provisions-per-minute", "100000", "--export-ca", self.authority,
             "--fault-file", self.faults, "--log-level", "debug"],
            os.path.join(self.world.scratch, "control"), environment)

        def is_ready():
            if self.child.ended():
                raise AssertionError(f"the control server ended: {self.child.last_words()}")
            return "https://" in self.child.written()
        eventually("the control server listens", is_ready)

    def stop(self):
        status, _ = self.child.stop()
        assert status == 0, f"the control server ended with {status}: {self.child.last_words()}"

    def command(self, *words):
        return run([
            "ip", "netns", "exec", "server", self.world.program("nexusguard-control"), "--state-dir", self.state,
            *words]).stdout

    def token(self, name):
        return self.command("token", "new", "--name", name).strip()

    def devices(self):
        return json.loads(self.command("--json", "device", "list", "--all"))["devices"]

    def set_faults(self, *faults):
        """What goes wrong from now on, and nothing else."""
        draft = self.faults + ".new"
        with open(draft, "w") as file:
            file.write("".join(fault + "\n" for fault in faults))
        os.rename(draft, self.faults)

    def drop_tunnel_packets(self, port="port1"):
        """Packets of one device's tunnel no longer arrive; the control interface still answers."""
        self.nft(f"add table inet {port}")
        self.nft(f"add chain inet {port} input {{ type filter hook input priority 0; }}")
        self.nft(f"add rule inet {port} input iifname {port} udp dport 51820 drop")

    def pass_tunnel_packets(self, port="port1"):
        self.nft(f"delete table inet {port}")

    def nft(self, line):
        run(["ip", "netns", "exec", "server", "nft", line])
