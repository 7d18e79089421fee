# SPDX-License-Identifier: MIT
"""The page in more tabs than a browser has connections to one host, and while nobody sees it."""

import json

from harness import wire
from harness.case import PageCase

# Chromium has six connections for all tabs that show the same host.
TABS = 8
# How long a hidden page waits, in milliseconds; the tests do not. And a tab becomes visible when it is asked, so the
# hidden one tells the other by itself how it is: how often it has asked for the status, and what it shows.
HIDDEN_INTERVAL = 600_000
REPORT = """
const interval = arguments[0], usual = setTimeout;
window.setTimeout = (call, time, ...rest) => usual(call, time === interval ? 500 : time, ...rest);
window.reporting = setInterval(() => localStorage.setItem("report", JSON.stringify({
    hidden: document.hidden, condition: document.documentElement.dataset.condition,
    asked: performance.getEntriesByName(`${location.origin}/api/v1/status`).length })), 100);
"""


class WindowCase(PageCase):
    def setUp(self):
        super().setUp()
        self.driver = self.chromium.driver
        self.first = self.driver.current_window_handle
        self.addCleanup(self.close_others)

    def close_others(self):
        for handle in self.driver.window_handles:
            if handle != self.first:
                self.driver.switch_to.window(handle)
                self.driver.close()
        self.bring_to_front(self.first)
        self.chromium.script("clearInterval(window.reporting); localStorage.clear();")

    def bring_to_front(self, handle):
        """Shows a tab, which hides the one that was shown."""
        self.driver.switch_to.window(handle)
        self.chromium.cdp("Page.bringToFront")
        self.chromium.wait("the tab is shown", lambda: not self.is_hidden())

    def is_hidden(self):
        return self.chromium.script("return document.hidden;")

    def new_tab(self):
        self.driver.switch_to.new_window("tab")
        return self.driver.current_window_handle

    def hide_first(self):
        """Shows another tab, which has a session of its own; the first reports to it."""
        self.chromium.script(REPORT, HIDDEN_INTERVAL)
        self.bring_to_front(self.new_tab())
        self.page.open()
        self.wait_for_report("it is hidden", lambda report: report["hidden"])

    def report(self):
        return json.loads(self.chromium.script("return localStorage.getItem('report');"))

    def wait_for_report(self, sentence, condition):
        self.chromium.wait(f"the first tab reports that {sentence}", lambda: condition(self.report()))


class WindowTests(WindowCase):
    def test_each_of_many_tabs_follows_the_agent_when_it_is_shown(self):
        page = self.connected_page()
        handles = [self.first]
        for _ in range(TABS - 1):
            handles.append(self.new_tab())
            page.open().wait_condition("connected")
        for number, handle in enumerate(handles):
            self.bring_to_front(handle)
            # What changed while it was hidden, and what changes now.
            before, after = ("connected", "stopped") if number % 2 == 0 else ("stopped", "connected")
            page.wait_condition(before)
            if after == "stopped":
                self.agent.command("down")
            else:
                self.agent.command("up", "--timeout", "40")
            page.wait_condition(after)
            self.assertEqual(page.text("#banner"), "", "nothing is amiss")
        self.agent.connect()

    def test_a_hidden_page_rests_keeps_its_session_and_catches_up(self):
        page = self.connected_page()
        page.tab("log")
        self.hide_first()
        asked = self.report()["asked"]
        self.wait_for_report("it uses its session", lambda report: report["asked"] >= asked + 2)
        self.agent.command("down")
        page.wait_condition("stopped")
        # It is no news to a page that rests, however long one waits.
        asked = self.report()["asked"]
        self.wait_for_report("it asks again", lambda report: report["asked"] >= asked + 2)
        report = self.report()
        self.assertEqual((report["hidden"], report["condition"]), (True, "connected"))
        self.bring_to_front(self.first)
        page.wait_condition("stopped")
        page.wait_text("#log", self.agent.ask("GET", "/api/v1/logs?limit=1")[1]["entries"][-1]["message"])
        self.assertEqual(page.text("#banner"), "", "nothing is amiss")
        self.agent.connect()
        page.wait_condition("connected")


class EndedWindowTests(WindowCase):
    # The session that has ended is refused.
    expects_failed_requests = True

    def test_a_hidden_page_whose_session_ended_says_so(self):
        page = self.connected_page()
        port, session = page.port, page.session()
        self.hide_first()
        wire.ask(port, "POST", "/api/v1/ui/logout", wire.own_fields(port, session, "POST"), b"{}")
        self.wait_for_report("its session has ended", lambda report: report["condition"] == "session-ended")
        self.assertTrue(self.report()["hidden"])
