# SPDX-License-Identifier: MIT
"""Everything with the keyboard alone: nothing is out of reach, the focus is seen, the order is that of the eye."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from harness.case import PageCase
from harness.chromium import DESKTOP, SIZES, SMALL

# Where the focus is, and whether one sees it.
FOCUS = """
const at = document.activeElement;
if (!at || at === document.body || at === document.documentElement) return null;
const style = getComputedStyle(at);
const whole = at.getBoundingClientRect();
const box = { ...whole.toJSON(), ...seenPart(at, whole) };
const top = document.elementFromPoint((box.left + box.right) / 2, Math.min((box.top + box.bottom) / 2, box.top + 12));
window.places = window.places || new Map();
if (!window.places.has(at)) window.places.set(at, window.places.size);
return {
    place: window.places.get(at), id: at.id, name: nameOf(at), top: box.top + scrollY, left: box.left,
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none",
    ringContrast: ratio(colourOf(style.outlineColor).slice(0, 3), colourOf("rgb(26, 26, 46)").slice(0, 3)),
    isInWindow: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    isOnTop: !!top && (top.contains(at) || at.contains(top)),
};
"""
# Everything that Tab should come to.
STOPS = """
const stops = [...stage().querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
    .filter((element) => element.tabIndex >= 0 && !element.disabled && isSeen(element)
        && element.getBoundingClientRect().width > 0);
window.places = window.places || new Map();
return stops.map((element) => {
    if (!window.places.has(element)) window.places.set(element, window.places.size);
    return { place: window.places.get(element), name: nameOf(element) };
});
"""


class KeyboardCase(PageCase):
    def look(self, text):
        return self.chromium.script(self.chromium.judges + text)

    def walk(self, *keys, most=80):
        """Presses Tab from the beginning of the page until it comes round, and gives the stops in order."""
        self.page.to_the_beginning()
        stops = []
        for _ in range(most):
            self.press(*(keys or (Keys.TAB,)))
            stop = self.look(FOCUS)
            if stop is None or any(stop["place"] == before["place"] for before in stops):
                break
            stops.append(stop)
        return stops

    def press(self, *keys):
        self.chromium.press(*keys)

    def back(self):
        """Shift and Tab."""
        ActionChains(self.chromium.driver, duration=0).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(
            Keys.SHIFT).perform()

    def assertWalks(self, words):
        """Tab comes to everything, each stop is seen, and the way back is the way in reverse."""
        wanted = self.look(STOPS)
        found = self.walk()
        missing = {one["name"] for one in wanted} - {one["name"] for one in found}
        self.assertEqual(missing, set(), f"{words}: Tab does not come to these")
        for stop in found:
            self.assertTrue(stop["ring"], f"{words}: nothing shows that {stop['name']} has the focus")
            self.assertGreaterEqual(stop["ringContrast"], 3, f"{words}: {stop['name']}")
            self.assertTrue(stop["isInWindow"], f"{words}: {stop['name']} has the focus out of sight")
            self.assertTrue(stop["isOnTop"], f"{words}: {stop['name']} has the focus under something else")
        return found


class KeyboardTests(KeyboardCase):
    def test_every_control_is_reached_and_seen(self):
        page = self.connected_page()
        for size in SIZES:
            self.chromium.resize(size)
            for name in ("status", "ports", "log"):
                page.tab(name)
                stops = self.assertWalks(f"{name} at {size}")
                if size is not DESKTOP:
                    # From the top to the bottom; the switch is the last, or it stays in the window for good.
                    line = [stop for stop in stops if stop["id"] != "vpn-toggle"]
                    for above, below in zip(line, line[1:]):
                        # What stands side by side need not have the same top.
                        self.assertGreater(below["top"], above["top"] - 16, f"{above['name']}, {below['name']}")
                if size is DESKTOP:
                    break

    def test_the_way_back_is_the_way_in_reverse(self):
        self.connected_page()
        there = [stop["place"] for stop in self.walk()]
        for place in reversed(there[:-1]):
            if self.look(FOCUS) is None or self.look(FOCUS)["place"] != there[there.index(place) + 1]:
                # The walk ended outside the page, or came round.
                self.look("const last = [...window.places].find(([, place]) => place === "
                          f"{there[there.index(place) + 1]})[0]; last.focus();")
            self.back()
            self.assertEqual(self.look(FOCUS)["place"], place)

    def test_a_heading_that_gets_the_focus_has_no_ring(self):
        page = self.connected_page()
        # With the keyboard the browser shows where the focus is, wherever it is put.
        page.tab_to("open-settings")
        self.assertTrue(self.look(FOCUS)["ring"])
        self.press(Keys.ENTER)
        page.wait_shown("#settings")
        heading = self.look(
            "const at = document.activeElement; return [at.localName, at.matches(':focus-visible')];")
        self.assertEqual(heading, ["h1", True], "screen readers are told of the new screen")
        self.assertFalse(self.look(FOCUS)["ring"], "there is nothing to press")
        self.press(Keys.TAB)
        self.assertTrue(self.look(FOCUS)["ring"])

    def test_arrows_move_between_the_tabs(self):
        page = self.connected_page()
        page.tab("status")
        page.tab_to("tab-status")
        for key, expected in (
                (Keys.ARROW_RIGHT, "ports"), (Keys.ARROW_RIGHT, "log"), (Keys.ARROW_RIGHT, "status"),
                (Keys.ARROW_LEFT, "log"), (Keys.HOME, "status"), (Keys.END, "log"), (Keys.ARROW_LEFT, "ports")):
            self.press(key)
            self.assertEqual(page.focused(), f"tab-{expected}")
            self.assertTrue(page.is_shown(f"#panel-{expected}"))
            self.assertEqual(page.find(f"#tab-{expected}").get_attribute("aria-selected"), "true")
            self.assertEqual(len(page.all("[role=tab][aria-selected=true]")), 1)
        # One stop of Tab for all tabs.
        self.press(Keys.TAB)
        self.assertNotIn("tab-", page.focused())

    def test_space_and_enter_work_the_switch(self):
        page = self.connected_page()
        page.tab_to("vpn-toggle")
        self.press(Keys.SPACE)
        page.wait_condition("stopped")
        self.assertEqual(page.focused(), "vpn-toggle")
        page.wait_idle("#vpn-toggle")
        self.press(Keys.ENTER)
        page.wait_condition("connected")
        self.assertEqual(page.focused(), "vpn-toggle")
        self.assertTrue(self.agent.reaches_server())

    def test_the_log_is_filtered_and_scrolled(self):
        page = self.connected_page()
        page.tab("log")
        page.tab_to("log-level")
        self.press(Keys.ARROW_DOWN)
        self.chromium.wait("the level is chosen", lambda: page.find("#log-level").get_attribute("value") != "DEBUG")
        self.press(Keys.ARROW_UP)
        page.tab_to("log")
        before = self.chromium.script("return document.querySelector('#log').scrollTop;")
        if before > 0:
            self.press(Keys.ARROW_UP, Keys.ARROW_UP)
            self.chromium.wait("the log scrolls", lambda: self.chromium.script(
                "return document.querySelector('#log').scrollTop;") < before)
        page.tab("log")
        page.to_the_beginning()
        page.tab_to("clear-log")
        self.press(Keys.ENTER)
        page.wait_text("#banner", "cleared")
        self.assertEqual(page.focused(), "clear-log")

    def test_the_settings_from_end_to_end(self):
        page = self.connected_page()
        page.tab_to("open-settings")
        self.press(Keys.ENTER)
        page.wait_shown("#settings")
        self.assertTrue(self.chromium.script(
            "return document.querySelector('#settings').contains(document.activeElement);"), "the focus moves along")
        self.chromium.wait("the settings are filled in", lambda: page.find("#server-url").get_attribute("value"))
        for size in (SMALL, DESKTOP):
            self.chromium.resize(size)
            stops = [stop["id"] for stop in self.assertWalks(f"settings at {size}")]
            order = ["back", "server-url", "token", "auto-start", "save-settings", "export-config", "import-config",
                     "paste-config"]
            self.assertEqual([stop for stop in stops if stop in order], order)
        def starts():
            return self.agent.ask("GET", "/api/v1/settings")[1]["settings"]["startsAutomatically"]
        before = starts()
        page.to_the_beginning()
        page.tab_to("auto-start")
        self.press(Keys.SPACE)
        page.tab_to("save-settings")
        self.press(Keys.ENTER)
        page.wait_text("#banner", "saved")
        self.assertNotEqual(starts(), before)
        page.wait_idle("#save-settings")
        page.tab_to("auto-start")
        self.press(Keys.SPACE, Keys.ENTER)
        self.chromium.wait("the setting is as before", lambda: starts() == before)
        page.wait_idle("#save-settings")

        # Paste, refusal, cancel.
        page.tab_to("paste-config")
        self.press(Keys.ENTER)
        page.wait_shown("#paste-text")
        page.tab_to("paste-text")
        self.press("rubbish")
        page.tab_to("preview-config")
        self.press(Keys.ENTER)
        page.wait_text("#import-error", " ")
        self.assertEqual(page.focused(), "paste-text", "the keyboard is where the mistake is")
        self.chromium.script("document.querySelector('#paste-text').value = arguments[0];",
                             self.agent.configuration_as_file(mtu=1350))
        page.tab_to("preview-config")
        self.press(Keys.ENTER)
        page.wait_shown("#preview")
        self.assertWalks("a preview")
        page.tab_to("cancel-config")
        self.press(Keys.ENTER)
        page.wait_hidden("#preview")
        self.assertNotEqual(page.focused(), "", "the focus is not lost")

        # The way out, and where it leads.
        self.press(Keys.ESCAPE)
        page.wait_hidden("#settings")
        self.assertEqual(page.focused(), "open-settings")


class FirstRunKeyboard(KeyboardCase):
    def find_agent(self):
        return self.world.newcomer

    def test_the_first_form(self):
        page = self.page.open()
        page.wait_condition("not-provisioned")
        stops = [stop["id"] for stop in self.assertWalks("first run")]
        order = ["first-server", "first-token", "first-provision"]
        self.assertEqual([stop for stop in stops if stop in order], order)
        page.to_the_beginning()
        page.tab_to("first-server")
        self.chromium.script("document.activeElement.value = '';")
        self.press(Keys.ENTER)
        page.wait_text("#first-server-error", "missing")
        self.assertEqual(page.focused(), "first-server")
