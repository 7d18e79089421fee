# SPDX-License-Identifier: MIT
"""One Chromium for all tests, driven by selenium and the protocol of its developer tools."""

import json
import os

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from .process import PATIENCE, eventually

JUDGES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "judges")

# Collects what style sheets and scripts were kept from doing, and what went wrong unnoticed, from the first moment on.
WITNESS = """
window.witnessed = [];
addEventListener("securitypolicyviolation", (event) =>
    window.witnessed.push(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
addEventListener("error", (event) => window.witnessed.push(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => window.witnessed.push(`rejection: ${event.reason}`));
"""

# Failed requests are written to the console by the browser itself, whatever the page does about them.
NETWORK = ("Failed to load resource", "net::ERR_")
# Chromium breaks off what is under way when an interface comes or goes, as the tunnel's does with every press of the
# switch. The page has to bear it, and no test can keep it from happening.
# And a refusal of what a person has typed is shown where it was typed.
NOT_THE_PAGES_FAULT = ("net::ERR_NETWORK_CHANGED", "status of 400")


class Size:
    """A window: a phone has overlaid scroll bars and obeys the viewport's description, a desktop does not."""

    def __init__(self, width, height, phone, zoom=1):
        self.width, self.height, self.phone, self.zoom = width, height, phone, zoom

    def __str__(self):
        return f"{self.width}x{self.height}" + (f"@{self.zoom * 100}%" if self.zoom != 1 else "")


SMALL, USUAL, LARGE = Size(375, 667, True), Size(390, 844, True), Size(430, 932, True)
DESKTOP = Size(1280, 800, False)
SIZES = (SMALL, USUAL, LARGE, DESKTOP)
ZOOMED = Size(1280, 800, False, zoom=2)


class Chromium:
    """The browser."""

    def __init__(self, scratch):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
                # As root, and with a profile that is gone afterwards; nothing is fetched from elsewhere.
                "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-default-apps", "--force-color-profile=srgb", "--lang=en-US"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.downloads = f"{scratch}/downloads"
        os.makedirs(self.downloads, exist_ok=True)
        options.add_experimental_option("prefs", {
            "download.default_directory": self.downloads, "download.prompt_for_download": False})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(PATIENCE)
        self.driver.set_page_load_timeout(PATIENCE)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WITNESS)
        self.judges = "".join(
            open(os.path.join(JUDGES, f"{name}.js"), encoding="utf-8").read()
            for name in ("common", "layout", "contrast", "motion"))
        self.size = None
        self.resize(USUAL)

    def close(self):
        self.driver.quit()

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def resize(self, size):
        self.size = size
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=size.width // size.zoom, height=size.height // size.zoom,
            deviceScaleFactor=size.zoom, mobile=size.phone)

    def open(self, url):
        """Loads a page anew, also when only the fragment differs from the present address."""
        self.driver.get("about:blank")
        self.driver.get(url)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def judge(self, expression, *arguments):
        """Evaluates an expression over the functions of the judges; `args` holds the arguments."""
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1], args = [...arguments].slice(0, -1);" + self.judges
            + f"(async () => {{ await stillness(); return {expression}; }})()"
              ".then((value) => done({ value }), (error) => done({ error: `${error.stack}` }))", *arguments)

    def judged(self, expression, *arguments):
        result = self.judge(expression, *arguments)
        if "error" in result:
            raise AssertionError(f"{expression}: {result['error']}")
        return result["value"]

    def layout_faults(self, may_ellipsize=""):
        return self.judged("laidOut(() => layoutFaults(args[0]))", {"mayEllipsize": may_ellipsize})

    def contrast_faults(self):
        return self.judged("laidOut(contrastFaults)")

    def motion_faults(self):
        """Without waiting first: what moves is what is looked for."""
        return self.script(self.judges + "return motionFaults();")

    def prefer_reduced_motion(self, value):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-reduced-motion", "value": "reduce" if value else "no-preference"}])

    def screenshot(self, path):
        self.judged("null")
        with open(path, "wb") as file:
            file.write(self.driver.get_screenshot_as_png())

    def press(self, *keys):
        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def complaints(self, network=False):
        """What the console and the page have noted since the last call; `network`: failed requests count too."""
        notes = self.script("const notes = window.witnessed || []; window.witnessed = []; return notes;")
        for entry in self.driver.get_log("browser"):
            if any(words in entry["message"] for words in NOT_THE_PAGES_FAULT):
                continue
            if entry["source"] == "network" or any(word in entry["message"] for word in NETWORK):
                if not network:
                    continue
            if entry["level"] in ("SEVERE", "WARNING"):
                notes.append(f"{entry['source']}: {entry['message']}")
        return notes

    def accessibility(self):
        """The nodes of the accessibility tree that screen readers see."""
        nodes = self.cdp("Accessibility.getFullAXTree")["nodes"]
        return [Node(node) for node in nodes if not node.get("ignored")]

    def wait(self, sentence, condition):
        return eventually(sentence, condition, pause=0.05, detail=self.situation)

    def situation(self):
        return json.dumps(self.script(
            "return { address: location.origin + location.pathname, dataset: { ...document.documentElement.dataset },"
            " text: document.body ? document.body.innerText.slice(0, 600) : '' };"))

    def downloaded(self):
        """The path of the file that was downloaded since `forget_downloads`, once it is whole."""
        def finished():
            names = [name for name in os.listdir(self.downloads) if name.endswith(".json")]
            return os.path.join(self.downloads, names[0]) if names else None
        # Chromium gives the file its name when it is complete.
        return eventually("a file is downloaded", finished)

    def forget_downloads(self):
        for name in os.listdir(self.downloads):
            os.remove(os.path.join(self.downloads, name))


class Node:
    """A node of the accessibility tree."""

    def __init__(self, node):
        def text(key):
            return str(node.get(key, {}).get("value", ""))
        self.role, self.name, self.description = text("role"), text("name"), text("description")
        self.value = text("value")
        self.backend = node.get("backendDOMNodeId")
        self.properties = {entry["name"]: entry["value"].get("value") for entry in node.get("properties", [])}

    def __repr__(self):
        return f"{self.role} '{self.name}'" + (f" ({self.description})" if self.description else "")
