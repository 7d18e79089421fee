# SPDX-License-Identifier: MIT
"""The switch, the log, the picture and the ports, against what really happens in the namespace."""

import re

from selenium.webdriver.common.by import By

from harness.case import PageCase
from harness.process import Child, eventually


class SwitchTests(PageCase):
    def test_the_switch_brings_the_tunnel_up_and_down(self):
        page = self.connected_page()
        for _ in range(2):
            self.assertTrue(self.agent.reaches_server())
            self.assertEqual(page.find("#vpn-toggle").get_attribute("aria-checked"), "true")
            page.toggle()
            page.wait_condition("stopped")
            self.assertEqual(page.find("#vpn-toggle").get_attribute("aria-checked"), "false")
            eventually("the interface is gone", lambda: not self.agent.has_interface())
            self.assertFalse(self.agent.reaches_server(1))
            page.toggle()
            page.wait_condition("connected")
        self.assertTrue(self.agent.reaches_server())

    def test_what_others_do_shows_at_once(self):
        page = self.connected_page()
        self.agent.command("down")
        page.wait_condition("stopped")
        self.assertEqual(page.find("#vpn-toggle").get_attribute("aria-checked"), "false")
        self.agent.command("up", "--timeout", "300")
        page.wait_condition("connected")

    def test_ten_presses_in_a_row_end_where_the_last_one_wanted(self):
        page = self.connected_page()
        self.chromium.script(
            "for (let press = 0; press < 10; press++) document.querySelector('#vpn-toggle').click();")
        self.chromium.wait(
            "the switch and the agent agree",
            lambda: page.find("#vpn-toggle").get_attribute("aria-busy") is None
            and (page.find("#vpn-toggle").get_attribute("aria-checked") == "true") == self.agent.status()["wantsUp"])


class LogTests(PageCase):
    def entries(self):
        return self.chromium.script(
            "return [...document.querySelectorAll('#log .entry')].filter((entry) => entry.checkVisibility())"
            ".map((entry) => [entry.dataset.level, entry.textContent]);")

    def setUp(self):
        super().setUp()
        self.connected_page()
        self.page.tab("log")

    def provoke_warning(self):
        self.control.set_faults("status=500@heartbeat*1")
        self.agent.command("refresh", check=False)
        self.agent.command("refresh", check=False)

    def test_entries_come_by_themselves_in_the_form_of_the_design(self):
        before = len(self.entries())
        self.agent.command("down")
        self.agent.command("up", "--timeout", "300")
        self.chromium.wait("new entries are shown", lambda: len(self.entries()) > before)
        for level, text in self.entries():
            self.assertRegex(text, rf"^\d\d:\d\d:\d\d \[{level}\] [\w.-]+: \S")
        # What the socket tells is what the page shows.
        own = self.agent.ask("GET", "/api/v1/logs")[1]["entries"][-1]
        self.page.wait_text("#log", f"[{own['level']}] {own['tag']}: {own['message']}")

    def test_levels_are_chosen_and_coloured(self):
        # The agent logs a fault once in ten minutes; a token that is refused is logged too.
        self.provoke_warning()
        colours = {
            "DEBUG": "rgb(138, 138, 138)", "INFO": "rgb(176, 176, 176)", "WARN": "rgb(255, 217, 61)",
            "ERROR": "rgb(255, 107, 107)"}
        levels = self.chromium.script(
            "return [...document.querySelectorAll('#log .entry')].map((entry) =>"
            "[entry.dataset.level, getComputedStyle(entry).color]);")
        self.assertTrue(levels)
        for level, colour in levels:
            self.assertEqual(colour, colours[level], level)
        order = list(colours)
        for level in order:
            self.page.find(f"#log-level option[value={level}]").click()
            shown = {one for one, _ in self.entries()}
            self.assertLessEqual(shown, set(order[order.index(level):]), level)
        self.page.find("#log-level option[value=DEBUG]").click()
        self.assertTrue(self.entries())

    def test_copy_takes_what_is_shown(self):
        origin = self.chromium.script("return location.origin;")
        self.chromium.cdp("Browser.grantPermissions", origin=origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        shown = [text for _, text in self.entries()]
        self.page.click("#copy-log")
        self.page.wait_text("#banner", "copied")
        copied = self.chromium.driver.execute_async_script(
            "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(`${error}`));")
        self.assertEqual(copied.splitlines()[:len(shown)], shown)

    def test_clear_empties_the_page_and_the_agent_and_new_entries_come(self):
        self.page.click("#clear-log")
        # The agent notes who cleared it; nothing older is left.
        self.chromium.wait("old entries are gone", lambda: len(self.entries()) <= 2)
        self.assertLessEqual(len(self.agent.ask("GET", "/api/v1/logs")[1]["entries"]), 2)
        self.agent.command("down")
        self.chromium.wait("new entries are shown", lambda: len(self.entries()) > 2)

    def test_the_reader_who_scrolls_up_is_left_alone(self):
        self.agent.command("down")
        self.agent.command("up", "--timeout", "300")
        script = self.chromium.script
        self.chromium.wait("the log is longer than its window", lambda: script(
            "const log = document.querySelector('#log'); return log.scrollHeight > log.clientHeight + 40;"))
        at_end = "const log = document.querySelector('#log');" \
                 "return log.scrollHeight - log.scrollTop - log.clientHeight < 8;"
        self.chromium.wait("the newest entry is in sight", lambda: script(at_end))
        script("document.querySelector('#log').scrollTop = 0;")
        count = len(self.entries())
        self.agent.command("down")
        self.chromium.wait("new entries are shown", lambda: len(self.entries()) > count)
        self.assertEqual(script("return document.querySelector('#log').scrollTop;"), 0)

    def test_what_looks_like_markup_is_text(self):
        self.page.click("#open-settings")
        self.chromium.wait("the settings are filled in", lambda: self.page.find("#server-url").get_attribute("value"))
        self.page.type("#server-url", "<img src=x onerror=alert(1)>")
        self.page.click("#save-settings")
        self.page.wait_text("#server-url-error", " ")
        self.assertEqual(self.page.all("img"), [])


class PictureTests(PageCase):
    def test_traffic_is_drawn_and_told_in_a_sentence(self):
        page = self.connected_page()
        page.tab("status")
        pings = Child(
            ["ping", "-n", "-q", "-i", "0.01", "-s", "1200", "-w", "3600", "10.172.21.1"],
            f"{self.world.scratch}/pings")
        self.addCleanup(pings.kill)
        # 100 echoes of 1,200 bytes a second are 120 kB/s each way: some of it is shown, whatever the machine is doing.
        sentence = self.chromium.wait("the sentence tells of the traffic", lambda: re.search(
            r"received ([\d.]+) [kM]B/s now .* sent ([\d.]+) [kM]B/s now", page.text("#chart-sentence")))
        self.assertGreater(float(sentence[1]), 0)
        self.assertIn("handshake", page.text("#chart-sentence"))
        lines = self.chromium.script(
            "return [...document.querySelectorAll('#chart svg path')].map((path) => path.getBBox().height);")
        self.assertGreater(max(lines), 5, "a line rises")
        # Both change with each sample.
        self.chromium.wait("the picture has the sentence as its name", lambda: page.text("#chart-sentence") in [
            node.name for node in self.chromium.accessibility()
            if node.role in ("image", "img", "graphics-document")])

        # The numbers of the interface agree with the agent's.
        counted = self.agent.status()["tunnel"]["receivedByteCount"]
        self.assertGreater(counted, 20_000)

    def test_the_picture_is_there_after_the_page_is_loaded_anew(self):
        page = self.connected_page()
        page.tab("status")
        self.chromium.wait(
            "there are samples", lambda: len(self.agent.ask("GET", "/api/v1/traffic")[1]["samples"]) >= 3)
        self.chromium.driver.refresh()
        page.wait_condition("connected")
        self.chromium.wait("the picture is drawn", lambda: page.find("#chart").find_elements(By.CSS_SELECTOR, "path"))
        samples = self.agent.ask("GET", "/api/v1/traffic")[1]["samples"]
        self.assertLessEqual(len(samples), 120)
        for earlier, later in zip(samples, samples[1:]):
            self.assertLess(earlier["time"], later["time"])
            self.assertGreaterEqual(set(later), {"time", "received", "sent"})


class PortTests(PageCase):
    def test_forwards_come_and_go_while_the_page_is_open(self):
        page = self.connected_page()
        page.tab("ports")
        self.assertEqual(page.all(".forward"), [])
        self.control.command("forward", "add", self.agent.name, "tcp", "8443", "443")
        self.agent.command("refresh")
        self.chromium.wait("the forward is shown", lambda: len(page.all(".forward")) == 1)
        self.assertEqual(page.text(".forward .badge"), "TCP")
        self.assertEqual(page.text(".forward .port"), ":8443")
        self.control.command("forward", "rm", "tcp", "8443")
        self.agent.command("refresh")
        self.chromium.wait("no forward is shown", lambda: not page.all(".forward"))
