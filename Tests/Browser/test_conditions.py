# SPDX-License-Identifier: MIT
"""Each condition that an agent can be in, made for real, and looked at in every size of window.

None is constructed: the control server's faults, its absence, its clock, packets that are dropped, a link that is taken
down and an agent that is stopped make them all. A handshake that is too old takes three minutes: see test_late.
"""

import re
import threading

from harness import wire
from harness.case import PageCase
from harness.chromium import DESKTOP, SMALL
from harness.process import run
from harness.wire import own_fields
from harness.world import World

# An address as long as one can be.
FAR = "fd21:7ca5:9d2b:11d4:5e8f:3a6b:71c2:1fe3"


class IdentityConditions(PageCase):
    """An agent without an identity, which never gets one."""

    def find_agent(self):
        return World.shared.newcomer

    def setUp(self):
        super().setUp()
        self.addCleanup(self.rest)

    def rest(self):
        """Forgets tokens and settings, before the server answers again as it should."""
        self.agent.ask("POST", "/api/v1/reset", {})
        self.control.set_faults()

    def want(self, token=None):
        """Gives the agent a token, and wants the tunnel; who asks is told the outcome, which nobody waits for here."""
        if token:
            document = {"serverURL": self.control.url, "token": token}
            threading.Thread(
                target=self.agent.ask, args=("PUT", "/api/v1/settings", document), daemon=True).start()
            self.agent.wait_for("the token is tried", lambda status: status["phase"] != "STOPPED"
                                or status.get("reason", {}).get("code") != "stopped")
        self.agent.ask("POST", "/api/v1/tunnel", {"up": True})

    def test_1_not_provisioned(self):
        self.page.open().wait_condition("not-provisioned")
        self.assertTrue(self.page.is_shown("#first-run"))
        self.assertShows("disconnected", advice="token", countdown=False)
        self.assertLooksWell("not-provisioned", condition="not-provisioned")

    def test_2_provisioning(self):
        self.control.set_faults("delay=60s@provision")
        self.page.open()
        self.want(self.control.token("newcomer"))
        self.page.wait_condition("provisioning")
        self.assertShows("connecting")
        self.assertRegex(self.page.text("#status-card"), "(?i)identity")
        self.assertLooksWell("provisioning", condition="provisioning", make=self.want)

    def test_3_retrying(self):
        self.control.set_faults("garbage@provision")
        self.page.open()
        self.want(self.control.token("newcomer"))
        self.page.wait_condition("retrying")
        self.assertLooksWell("retrying", condition="retrying", make=self.want)
        # After the fast tries come slow ones, and it says so: the reason, and the next try counting down.
        self.page.wait_condition("failed")
        self.assertShows("failed", advice=".", countdown=True)
        first = self.page.text("#countdown")
        self.assertRegex(first, r"\d")
        self.chromium.wait("the countdown goes on", lambda: self.page.text("#countdown") not in ("", first))

    def test_4_failed(self):
        self.page.open()
        self.want("not-a-token-of-this-server")
        self.page.wait_condition("failed")
        self.assertShows("failed", advice="(?i)token", countdown=True)
        self.assertTrue(self.page.is_shown("#first-run"), "another token can be given at once")
        self.assertLooksWell("failed", condition="failed")
        self.assertRegex(self.page.text("#countdown"), r"\d")

    def test_5_identity_from_a_web_page(self):
        self.control.set_faults("html@provision")
        self.page.open()
        self.want(self.control.token("newcomer"))
        self.page.wait_condition("captive-portal")
        self.assertTrue(self.page.is_shown("#retry-now"))
        self.assertLooksWell("captive-portal-first", sizes=(SMALL,), condition="captive-portal", make=self.want)


class Conditions(PageCase):
    """An agent that was connected before."""

    def setUp(self):
        super().setUp()
        self.connected_page()

    def test_connected(self):
        agent = self.agent
        self.control.command("forward", "add", agent.name, "tcp", "8080", "80")
        self.control.command("forward", "add", agent.name, "udp", "5353", f"[{FAR}]:53")
        self.addCleanup(self.control.command, "forward", "rm", "tcp", "8080")
        self.addCleanup(self.control.command, "forward", "rm", "udp", "5353")
        agent.command("refresh")
        agent.wait_for("the forwards are known", lambda status: status.get("forwardCount") == 2)
        self.assertShows("connected", advice="", countdown=False)
        for name in ("status", "ports", "log"):
            self.page.tab(name)
            self.assertLooksWell("connected" if name == "status" else f"connected-{name}", condition="connected")
        status = agent.status()
        rows = {
            "ip": status["tunnel"]["addresses"][0].split("/")[0], "admin": self.control.admin,
            "device": status["deviceID"], "allowed": status["tunnel"]["allowedIPs"][0], "transport": "HTTPS"}
        for row, words in rows.items():
            self.assertIn(words, self.page.value(row), row)
        self.assertRegex(self.page.value("handshake"), r"\d\d:\d\d:\d\d")
        self.page.tab("ports")
        self.assertIn("Port Forwards: 2", self.page.text("#panel-ports"))
        # A panel fades in, and what is transparent has no text for selenium.
        self.chromium.judged("null")
        rows = [re.sub(r"\s+", " ", row.text) for row in self.page.all(".forward")]
        address = status["tunnel"]["addresses"][0].split("/")[0]
        self.assertEqual(rows, [f"TCP :8080 {address}:80", f"UDP :5353 [{FAR}]:53"])

    def test_desktop_shows_all_panels_side_by_side(self):
        self.chromium.resize(DESKTOP)
        boxes = self.chromium.script(
            "return ['status', 'ports', 'log'].map((name) =>"
            "document.querySelector('#panel-' + name).getBoundingClientRect().toJSON());")
        for left, right in zip(boxes, boxes[1:]):
            self.assertLessEqual(left["right"], right["left"])
            self.assertLess(abs(left["top"] - right["top"]), 2)
        self.assertFalse(self.page.is_shown("#tab-status"))
        self.chromium.resize(SMALL)
        self.assertEqual(sum(self.page.is_shown(f"#panel-{name}") for name in ("status", "ports", "log")), 1)

    def test_coming_and_going_leaves_connections_for_the_next(self):
        """A browser keeps pages that were left for a while, and has six connections for all of one origin."""
        for _ in range(8):
            self.page.open()
        self.page.wait_condition("connected")
        self.page.toggle()
        self.page.wait_condition("stopped")

    def test_stopped(self):
        self.page.toggle()
        self.page.wait_condition("stopped")
        self.assertShows("disconnected", advice="(?i)switch", countdown=False)
        self.assertLooksWell("stopped", condition="stopped")

    def test_connecting(self):
        self.control.drop_tunnel_packets()
        self.addCleanup(self.control.pass_tunnel_packets)

        def again():
            self.agent.ask("POST", "/api/v1/tunnel", {"up": False})
            self.agent.ask("POST", "/api/v1/tunnel", {"up": True})
        again()
        self.page.wait_condition("connecting")
        self.assertShows("connecting", countdown=False)
        # The phase in words.
        self.assertRegex(self.page.text("#status-card"), "(?i)handshake")
        self.assertLooksWell("connecting", condition="connecting", make=again)

    def test_offline(self):
        self.agent.link_down()
        self.addCleanup(self.agent.link_up)
        self.page.wait_condition("offline")
        self.assertShows("disconnected", advice="(?i)network")
        self.assertLooksWell("offline", condition="offline")
        self.agent.link_up()
        self.page.wait_condition("connected")

    def test_captive_portal(self):
        self.control.set_faults("html@heartbeat")
        self.agent.command("refresh", check=False)
        self.page.wait_condition("captive-portal")
        self.assertShows("connected", advice="(?i)log in")
        self.assertLooksWell("captive-portal", condition="captive-portal")
        self.control.set_faults()
        # The advice has a way out that works; the next heartbeat may have been quicker.
        self.chromium.script("document.querySelector('#retry-now').click();")
        self.page.wait_condition("connected")

    def test_clock_skew(self):
        self.control.stop()
        self.control.start(clock_ahead=1800)
        self.addCleanup(self.control.start)
        self.addCleanup(self.control.stop)
        self.agent.command("refresh", check=False)
        self.page.wait_condition("clock-skew")
        self.assertShows("connected", advice="(?i)clock")
        self.assertLooksWell("clock-skew", condition="clock-skew")

    def test_server_unreachable(self):
        self.control.stop()
        self.addCleanup(self.control.start)
        self.agent.command("refresh", check=False)
        self.page.wait_condition("server-unreachable")
        self.assertShows("connected", advice="(?i)server")
        self.assertLooksWell("server-unreachable", condition="server-unreachable")

    def test_read_only(self):
        self.page.open(read_only=True)
        self.page.wait_condition("read-only", "connected")
        self.page.wait_text("body", "read-only")
        self.assertLooksWell("read-only")
        self.page.toggle()
        self.page.tab("log")
        self.page.click("#clear-log")
        self.page.click("#open-settings")
        self.page.wait_shown("#settings")
        self.assertLooksWell("read-only-settings", sizes=(SMALL, DESKTOP))
        self.assertEqual(self.agent.status()["state"], "connected")
        self.assertTrue(self.agent.ask("GET", "/api/v1/logs")[1]["entries"])


class LossConditions(PageCase):
    """The way between the page and its agent is cut."""

    expects_failed_requests = True

    def test_agent_stopped_and_back(self):
        page = self.connected_page()
        self.chromium.script("window.stayed = true;")
        self.agent.stop()
        page.wait_condition("agent-gone")
        self.assertRegex(page.text("#banner"), "(?i)agent")
        self.assertShows("disconnected", word="gent", advice="(?i)agent", countdown=True)
        self.assertNotIn("10.172.21.", page.text("#status-card"), "what was is not shown as what is")
        self.assertLooksWell("agent-gone", condition="agent-gone")
        self.agent.start()
        page.wait_condition("connected")
        page.wait_text("#banner", "again")
        self.assertTrue(self.chromium.script("return window.stayed;"), "the page was not loaded anew")
        # The session goes on: the switch works.
        page.toggle()
        page.wait_condition("stopped")

    def test_agent_back_at_a_press(self):
        page = self.connected_page()
        self.agent.stop()
        page.wait_condition("agent-gone")
        self.agent.start()
        page.click("#retry-now")
        page.wait_condition("connected")

    def test_session_ended_elsewhere(self):
        page = self.connected_page()
        port, session = page.port, page.session()
        wire.ask(port, "POST", "/api/v1/ui/logout", own_fields(port, session, "POST"), b"{}")
        page.wait_condition("session-ended")
        page.wait_shown("#session-ended")
        self.assertIn("nexusguard ui", page.text("#session-ended"))
        self.assertNotIn("10.172.21.", page.text("body"))
        self.assertLooksWell("session-ended", condition="session-ended")
        self.assertEqual(self.chromium.script("return JSON.stringify({ ...sessionStorage });").count(session), 0)

    def test_a_link_that_was_used_is_refused(self):
        self.agent.connect()
        link = self.agent.link()
        self.chromium.open(link)
        self.page.wait_condition("connected")
        # Another window has no session of its own to go on with.
        driver = self.chromium.driver
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        try:
            driver.get(link)
            self.page.wait_condition("session-ended")
            self.assertRegex(self.page.text("#session-ended"), "(?i)used")
            self.assertEqual(self.chromium.script("return location.hash;"), "")
        finally:
            driver.close()
            driver.switch_to.window(first)
        self.assertEqual(self.page.condition(), "connected")

    def test_without_a_link_nothing_is_shown(self):
        page = self.connected_page()
        port = page.port
        self.chromium.script("sessionStorage.clear();")
        self.chromium.open(f"http://127.0.0.1:{port}/")
        page.wait_condition("session-ended")
        self.assertNotIn("10.172.21.", page.text("body"))

    def test_an_agent_that_forgot_the_session(self):
        page = self.connected_page()
        port = page.port
        self.agent.stop()
        run(["rm", f"{self.agent.state}/ui-sessions.json"])
        self.agent.start()
        self.agent.link(listen=f"127.0.0.1:{port}")
        page.wait_condition("session-ended")
