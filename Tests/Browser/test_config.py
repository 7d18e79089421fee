# SPDX-License-Identifier: MIT
"""The settings screen: what is saved, what is refused, and what an import would change before it changes anything."""

import json

from harness.case import PageCase
from harness.chromium import DESKTOP, SMALL

FOREIGN_KEY = "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


class SettingsCase(PageCase):
    def setUp(self):
        super().setUp()
        self.connected_page()
        self.page.click("#open-settings")
        self.page.wait_shown("#settings")
        self.chromium.wait("the settings are filled in", lambda: self.page.find("#server-url").get_attribute("value"))


class SettingsTests(SettingsCase):
    def test_settings_are_shown_saved_and_refused_by_name(self):
        page = self.page
        self.assertEqual(page.find("#server-url").get_attribute("value"), self.control.url)
        before = self.agent.ask("GET", "/api/v1/settings")[1]["settings"]
        page.click("#auto-start")
        page.click("#save-settings")
        self.chromium.wait("the setting is saved", lambda: self.agent.ask("GET", "/api/v1/settings")[1]["settings"][
            "startsAutomatically"] != before["startsAutomatically"])
        # The answer fills the form in anew.
        page.wait_idle("#save-settings")
        page.click("#auto-start")
        page.click("#save-settings")
        self.chromium.wait(
            "the setting is back", lambda: self.agent.ask("GET", "/api/v1/settings")[1]["settings"] == before)
        page.wait_idle("#save-settings")
        page.type("#server-url", "http://server.example")
        page.click("#save-settings")
        page.wait_text("#server-url-error", " ")
        self.assertEqual(page.text("#banner"), "", "what was saved before is no answer to what is refused")
        self.assertEqual(page.find("#server-url").get_attribute("aria-invalid"), "true")
        self.assertEqual(page.focused(), "server-url")
        self.assertEqual(self.agent.ask("GET", "/api/v1/settings")[1]["settings"], before)
        self.assertLooksWell("settings-refused", sizes=(SMALL, DESKTOP))

    def test_the_token_is_never_shown(self):
        token = self.page.find("#token")
        self.assertEqual(token.get_attribute("type"), "password")
        self.assertEqual(token.get_attribute("value"), "")
        self.assertNotIn("token", json.dumps(self.agent.ask("GET", "/api/v1/settings")[1]).lower().replace("tokenfile", ""))

    def test_the_settings_look_well(self):
        self.assertLooksWell("settings")
        self.page.click("#paste-config")
        self.page.wait_shown("#paste-text")
        self.assertLooksWell("settings-paste", sizes=(SMALL, DESKTOP))

    def test_an_export_without_a_passphrase_has_no_keys(self):
        self.page.click("#export-config")
        self.page.wait_shown("#export-download")
        self.assertLooksWell("settings-export", sizes=(SMALL, DESKTOP))
        self.chromium.forget_downloads()
        self.page.click("#export-download")
        path = self.chromium.downloaded()
        with open(path) as file:
            text = file.read()
        own = self.agent.secrets()
        self.assertTrue(own)
        for secret in own:
            self.assertNotIn(secret, text)
        self.assertIn("10.172.21.", text)


class ImportTests(SettingsCase):
    # Keys that do not work are answered with 504.
    expects_failed_requests = True

    def setUp(self):
        super().setUp()
        # The server would bring what it knows back with the next heartbeat.
        self.control.set_faults("status=503@heartbeat")
        self.addCleanup(self.control.set_faults)

    def paste(self, text):
        if not self.page.is_shown("#paste-text"):
            self.page.click("#paste-config")
        self.page.wait_shown("#paste-text")
        # Typing would take seconds.
        self.chromium.script(
            "const field = document.querySelector('#paste-text'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input', { bubbles: true }));", text)
        self.page.click("#preview-config")

    def test_a_preview_shows_the_difference_and_cancel_forgets_it(self):
        before = self.agent.ask("GET", "/api/v1/config")[1]
        self.paste(self.agent.configuration_as_file(mtu=1300))
        self.page.wait_text("#preview", "1300")
        self.assertRegex(self.page.text("#preview"), "MTU")
        self.assertLooksWell("settings-preview")
        for secret in self.agent.secrets():
            self.assertNotIn(secret, self.page.text("#preview"))
        self.page.click("#cancel-config")
        self.page.wait_hidden("#preview")
        self.assertEqual(self.page.find("#paste-text").get_attribute("value"), "", "keys do not stay in the page")
        self.assertEqual(self.agent.ask("GET", "/api/v1/config")[1], before)

    def test_apply_applies_and_the_session_goes_on(self):
        self.paste(self.agent.configuration_as_file(mtu=1310))
        self.page.wait_text("#preview", "1310")
        starts = self.agent.status()["counters"]["tunnelStarts"]
        self.page.click("#apply-config")
        self.agent.wait_for("the MTU is applied", lambda status: status["tunnel"]["mtu"] == 1310)
        self.page.wait_hidden("#preview")
        self.assertTrue(self.agent.reaches_server())
        self.assertEqual(self.agent.status()["counters"]["tunnelStarts"], starts)
        self.paste(self.agent.configuration_as_file())
        self.page.wait_text("#preview", "1310")
        self.page.click("#apply-config")
        self.agent.wait_for("the MTU is as before", lambda status: status["tunnel"]["mtu"] != 1310)

    def test_what_is_no_configuration_is_refused_by_name(self):
        good = self.agent.configuration_as_file()
        line = next(line for line in good.splitlines() if line.startswith("PublicKey"))
        for text, words in (
                ("", "."), ("hello", "."), ("{", "."), ("{}", "."), (good.replace(line, "PublicKey = x"), "(?i)key"),
                (good.replace("AllowedIPs = ", "AllowedIPs = 300."), "(?i)allowed"),
                (good.replace("Endpoint = ", "Endpoint = :"), "(?i)endpoint")):
            with self.subTest(text[:30]):
                self.paste(text)
                self.page.wait_text("#import-error", " ")
                self.assertRegex(self.page.text("#import-error"), words)
                self.assertFalse(self.page.is_shown("#apply-config"), "what is refused cannot be applied")
                for secret in self.agent.secrets():
                    self.assertNotIn(secret, self.page.text("#import-error"))
        self.assertLooksWell("settings-import-refused", sizes=(SMALL, DESKTOP))
        self.assertTrue(self.agent.reaches_server())

    def test_keys_that_do_not_work_are_taken_back(self):
        good = self.agent.configuration_as_file()
        line = next(line for line in good.splitlines() if line.startswith("PublicKey"))
        # Another import ends the memory of the one that did not work.
        other = {"content": self.agent.configuration_as_file(mtu=1400)}
        self.addCleanup(self.agent.ask, "PUT", "/api/v1/config", other)
        self.paste(good.replace(line, f"PublicKey = {FOREIGN_KEY}"))
        self.page.wait_text("#preview", "15 s")
        self.page.click("#apply-config")
        self.agent.wait_for("the configuration is taken back", lambda status: any(
            item["code"] == "rolled-back" for item in status["health"]) or status["counters"]["rollbacks"] > 0)
        self.page.click("#back")
        self.chromium.wait("the page says so", lambda: "taken back" in self.page.text("body").lower()
                           or "did not work" in self.page.text("body"))
        self.assertLooksWell("rolled-back", sizes=(SMALL, DESKTOP))
        self.assertTrue(self.agent.reaches_server())
