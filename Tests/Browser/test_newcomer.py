# SPDX-License-Identifier: MIT
"""What somebody does who has just installed it: from a fresh token to a configuration that is exported and imported."""

import json
import os

from harness.case import PageCase
from harness.chromium import DESKTOP, SMALL


class NewcomersWalk(PageCase):
    """Needs an agent that has nothing yet, so it comes before the others."""

    def test_from_a_token_to_an_export_and_back(self):
        page, agent, control = self.page, self.agent, self.control
        self.assertEqual(agent.listening(), [], "the page is off until it is asked for")
        token = control.token(agent.name)

        # `nexusguard ui --print` gives a link, alone on standard output.
        printed = agent.command("ui", "--print").stdout.strip()
        self.assertRegex(printed, r"^http://127\.0\.0\.1:\d+/#t=[A-Za-z0-9_-]{43}$")
        self.assertEqual([address for address, _ in agent.listening()], ["127.0.0.1"])
        self.chromium.open(printed)
        page.wait_condition("not-provisioned")
        self.assertEqual(
            self.chromium.script("return location.href;"), printed.partition("#")[0], "no secret in the address")

        # A mistake first: it is named where it was made, and nothing of the token stays in the page.
        page.type("#first-server", "ftp://192.0.2.1")
        page.type("#first-token", token)
        page.click("#first-provision")
        self.chromium.wait("the address is refused", lambda: self.chromium.script(
            "return document.querySelector('#first-server').getAttribute('aria-invalid') === 'true';"))
        self.assertLooksWell("first-run-refused", sizes=(SMALL, DESKTOP))
        page.type("#first-server", control.url)
        page.type("#first-token", token)
        page.click("#first-provision")
        page.wait_condition("stopped")
        page.wait_hidden("#first-run")
        self.assertNotIn(token, self.chromium.script(
            "return document.documentElement.outerHTML + [...document.querySelectorAll('input')]"
            ".map((input) => input.value).join() + JSON.stringify({ ...sessionStorage, ...localStorage });"))
        self.assertEqual(len([one for one in control.devices() if one["name"] == agent.name]), 1)

        # The switch.
        page.toggle()
        page.wait_condition("connected")
        self.assertTrue(agent.reaches_server())

        # The log.
        page.tab("log")
        page.wait_text("#log", "[INFO]")

        # Export under a passphrase: without one the keys stay behind, and a file without keys cannot come back.
        page.click("#open-settings")
        page.click("#export-config")
        page.type("#export-passphrase", "a long walk on a short pier")
        self.chromium.forget_downloads()
        page.click("#export-download")
        path = self.chromium.downloaded()
        with open(path) as file:
            text = file.read()
        exported = json.loads(text)
        self.assertIn("schema", exported)
        for secret in agent.secrets():
            self.assertNotIn(secret, text)

        # Something else in between, so that the way back is seen to do something. The server would bring what it knows
        # back with the next heartbeat.
        control.set_faults("status=503@heartbeat")
        page.click("#paste-config")
        page.type("#paste-text", agent.configuration_as_file(mtu=1333))
        page.click("#preview-config")
        page.wait_text("#preview", "1333")
        page.click("#apply-config")
        page.wait_hidden("#preview")
        agent.wait_for("the other MTU is in use", lambda status: status["tunnel"]["mtu"] == 1333)

        # And back: the file, its passphrase, the difference, and only then the change.
        page.find("#import-file").send_keys(path)
        page.wait_shown("#import-passphrase")
        page.type("#import-passphrase", "a wrong one")
        page.click("#preview-config")
        page.wait_text("#import-error", "wrong")
        page.type("#import-passphrase", "a long walk on a short pier")
        page.click("#preview-config")
        page.wait_text("#preview", "1333")
        self.assertEqual(agent.status()["tunnel"]["mtu"], 1333, "a preview changes nothing")
        page.click("#apply-config")
        page.wait_hidden("#preview")
        agent.wait_for("the first MTU is back", lambda status: status["tunnel"]["mtu"] != 1333)
        page.click("#back")
        control.set_faults()
        agent.connect()
        page.wait_condition("connected")
        self.assertTrue(agent.reaches_server())
