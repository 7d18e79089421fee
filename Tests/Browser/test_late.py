# SPDX-License-Identifier: MIT
"""What takes minutes: an agent whose tunnel went silent, and a link that got old, when the other tests began.

The agent is in a namespace of its own; its page is brought to the browser as `ssh -L` would. It has a password too.
"""

import json
import time

from harness.case import PageCase
from harness.chromium import DESKTOP, SMALL
from harness.process import eventually
from harness.wire import ask, own_fields

STALE_AFTER = 180
LINK_LIFE = 120


class LateCase(PageCase):
    def find_agent(self):
        return self.world.silent


class LinkTests(LateCase):
    def test_a_link_that_is_too_old_is_refused(self):
        old = self.world.late_link(LINK_LIFE)
        # Its listener is gone unless somebody else has a link.
        self.agent.link()
        answer = ask(
            self.agent.page_port, "POST", "/api/v1/ui/login", own_fields(self.agent.page_port, method="POST"),
            json.dumps({"link": old.partition("#t=")[2]}).encode())
        self.assertEqual((answer.status, answer.code), (401, "link-expired"), answer)


class LinkPageTests(LateCase):
    expects_failed_requests = True

    def test_the_page_says_that_a_link_is_too_old(self):
        old = self.world.late_link(LINK_LIFE)
        self.agent.link()
        self.chromium.open(old)
        self.page.wait_condition("session-ended")
        self.assertRegex(self.page.text("#session-ended"), "(?i)expired")


class SilenceTests(LateCase):
    def test_a_handshake_that_is_too_old(self):
        self.world.wait_until_late(STALE_AFTER + 2)
        self.page.open()
        self.page.wait_condition("handshake-stale")
        self.assertShows("connecting", advice="(?i)tunnel")
        self.assertLooksWell("handshake-stale", condition="handshake-stale")
        # Nothing but packets is missing: when they pass again, so does the tunnel.
        self.control.pass_tunnel_packets("port2")
        self.page.click("#retry-now")
        self.page.wait_condition("connected")
        self.assertTrue(self.agent.reaches_server())


class PasswordTests(LateCase):
    expects_failed_requests = True

    def test_a_password_lets_in_and_a_wrong_one_does_not(self):
        link = self.agent.link()
        self.chromium.open(link.partition("#")[0])
        self.page.wait_condition("session-ended", "login")
        if self.page.condition() != "login":
            self.page.click("#use-password")
        self.page.wait_condition("login")
        self.page.wait_shown("#password")
        self.assertLooksWell("login", condition="login")
        self.page.type("#password", "wrong")
        self.page.click("#log-in")
        self.page.wait_text("#password-error", " ")
        self.assertLooksWell("login-refused", sizes=(SMALL, DESKTOP))
        self.page.type("#password", self.world.password)
        self.page.click("#log-in")
        self.page.wait_until_known()
        self.page.wait_shown("#status-card")
        self.assertNotIn(self.world.password, self.chromium.script("return JSON.stringify({ ...sessionStorage });"))

    def test_guessing_is_slowed_down(self):
        port = self.agent.page_port
        link = self.agent.link().partition("#t=")[2]

        def log_in(document):
            return ask(port, "POST", "/api/v1/ui/login", own_fields(port, method="POST"), json.dumps(document).encode())
        answers = [log_in({"password": f"guess {number}"}) for number in range(8)]
        self.assertEqual(answers[0].status, 401)
        self.assertEqual(answers[0].code, "password-wrong")
        self.assertEqual(answers[-1].status, 429)
        wait = int(answers[-1].fields["retry-after"])
        self.assertGreater(wait, 0)
        # The right one does not help who guesses on, and a link is not guessed.
        self.assertEqual(log_in({"password": self.world.password}).status, 429)
        self.assertEqual(log_in({"link": link}).status, 200)
        if wait <= 15:
            begin = time.monotonic()
            eventually("the password is taken again",
                       lambda: log_in({"password": self.world.password}).status == 200, wait + 20, pause=1)
            self.assertLess(time.monotonic() - begin, wait + 20)


class OutsideTests(LateCase):
    def test_an_address_beyond_this_host_needs_tls_and_a_password(self):
        """The first agent has neither."""
        agent = self.world.agent
        for address in ("0.0.0.0:8499", "192.0.2.2:8499", "[::]:8499"):
            status, document = agent.ask("POST", "/api/v1/ui/session", {"listen": address})
            self.assertGreaterEqual(status, 400, document)
            self.assertRegex(document["error"]["message"], "(?i)certificate|tls|password")
            result = agent.command("ui", "--print", "--listen", address, check=False)
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, "(?i)certificate|tls|password")
        self.assertEqual({address for address, _ in agent.listening()} - {"127.0.0.1"}, set())
