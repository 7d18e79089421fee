# SPDX-License-Identifier: MIT
"""The page as a person meets it: by the names of its parts that tests may rely on."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ROWS = ("ip", "admin", "device", "handshake", "allowed", "transport")
# What people are shown of each state, and its colour in the palette of the design.
COLOURS = {
    "disconnected": "rgb(176, 176, 176)", "connecting": "rgb(255, 217, 61)",
    "connected": "rgb(76, 175, 80)", "failed": "rgb(255, 107, 107)"}


class Page:
    """The page of one agent in the browser."""

    def __init__(self, chromium, agent):
        self.chromium, self.agent = chromium, agent

    # Coming in

    def open(self, **options):
        """Comes in by a fresh one-time link, and returns when the page knows how the agent is."""
        self.chromium.open(self.agent.link(**options))
        self.wait_until_known()
        return self

    def wait_until_known(self):
        self.chromium.wait("the page shows a condition", lambda: self.condition() not in ("", "starting"))

    @property
    def port(self):
        return self.chromium.script("return Number(location.port);")

    def session(self):
        """The session that the page keeps: the longest text in its storage."""
        found = self.chromium.script(
            "return Object.values(sessionStorage).flatMap((text) => text.match(/[A-Za-z0-9_-]{43,}/g) || []);")
        assert found, "no session in the storage of the page"
        return found[0]

    # Looking

    def condition(self):
        return self.chromium.script("return document.documentElement.dataset.condition || '';")

    def state(self):
        return self.chromium.script("return document.documentElement.dataset.state || '';")

    def wait_condition(self, *words):
        """Waits for one of these conditions."""
        return self.chromium.wait(
            f"the condition is {' or '.join(words)}, not {self.condition()}", lambda: self.condition() in words)

    def find(self, selector):
        return self.chromium.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.chromium.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """The text of what is seen, or nothing."""
        return self.chromium.script(
            "const element = document.querySelector(arguments[0]);"
            "return element && element.checkVisibility({ visibilityProperty: true }) ? element.innerText : '';",
            selector).strip()

    def value(self, row):
        return self.text(f"[data-row={row}] .value")

    def is_shown(self, selector):
        return self.chromium.script(
            "const element = document.querySelector(arguments[0]);"
            "return !!element && element.checkVisibility({ visibilityProperty: true });", selector)

    def wait_shown(self, selector):
        self.chromium.wait(f"{selector} is shown", lambda: self.is_shown(selector))
        return self.find(selector)

    def wait_hidden(self, selector):
        self.chromium.wait(f"{selector} is not shown", lambda: not self.is_shown(selector))

    def wait_text(self, selector, words):
        self.chromium.wait(
            f"{selector} says '{words}'", lambda: words in self.chromium.script(
                "const element = document.querySelector(arguments[0]);"
                "return element ? element.textContent : '';", selector))

    # Doing

    def wait_idle(self, selector):
        """Waits until a control has done what it was last pressed for; until then a press has no effect."""
        self.chromium.wait(f"{selector} is not busy", lambda: self.find(selector).get_attribute("aria-busy") is None)

    def toggle(self):
        """Presses the switch."""
        self.click("#vpn-toggle")

    def click(self, selector):
        element = self.wait_shown(selector)
        self.wait_idle(selector)
        self.chromium.script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' });", element)
        element.click()

    def type(self, selector, words):
        element = self.wait_shown(selector)
        element.clear()
        element.send_keys(words)

    def tab(self, name):
        """Shows a panel: `status`, `ports` or `log`; beside the others it is shown anyway."""
        if not self.is_shown(f"#panel-{name}") or self.is_shown(f"#tab-{name}"):
            self.click(f"#tab-{name}")
        self.wait_shown(f"#panel-{name}")

    def press(self, *keys):
        self.chromium.press(*keys)

    def focused(self):
        return self.chromium.script("return document.activeElement && document.activeElement.id || '';")

    def to_the_beginning(self):
        """Lets the next Tab begin at the top: browsers go on from where the focus was, even after it is gone."""
        self.chromium.script(
            "const mark = document.createElement('span'); mark.tabIndex = -1; document.body.prepend(mark);"
            "mark.focus({ preventScroll: true }); mark.remove(); scrollTo({ top: 0, behavior: 'instant' });")

    def tab_to(self, identifier, limit=60):
        """Presses Tab until an element has the focus, and fails when it never does."""
        for _ in range(limit):
            if self.focused() == identifier:
                return
            self.press(Keys.TAB)
        raise AssertionError(f"Tab never comes to #{identifier}; it is at '{self.focused()}'")
