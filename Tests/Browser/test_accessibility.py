# SPDX-License-Identifier: MIT
"""What screen readers are told: names, roles, states and hints, out of the browser's accessibility tree."""

from harness.case import PageCase
from harness.chromium import DESKTOP, USUAL
from harness.page import ROWS

LABELS = {
    "ip": "IP Address", "admin": "Admin Web", "device": "Device ID", "handshake": "Handshake",
    "allowed": "Allowed IPs", "transport": "Transport"}
# Roles of what can be operated.
OPERATED = {
    "button", "link", "textbox", "checkbox", "switch", "tab", "combobox", "menuitem", "radio", "slider", "spinbutton",
    "searchbox", "option"}


class AccessibilityCase(PageCase):
    def nodes(self, role=None, name=None):
        return [
            node for node in self.chromium.accessibility()
            if (role is None or node.role == role) and (name is None or node.name == name)]

    def one(self, role, name):
        found = self.nodes(role, name)
        self.assertEqual(len(found), 1, f"{role} '{name}': {found}; there are {self.nodes(role)}")
        return found[0]

    def assertSound(self):
        """What holds for every view: names for all that is operated, one main part, one first heading, a language."""
        nodes = self.chromium.accessibility()
        for node in nodes:
            if node.role in OPERATED or (node.properties.get("focusable") and node.role != "RootWebArea"):
                self.assertTrue(node.name.strip(), f"{node} has no name")
            if node.role in ("image", "img"):
                self.assertTrue(node.name.strip(), f"{node} has no name")
        self.assertEqual(len([node for node in nodes if node.role == "main"]), 1)
        levels = [node.properties.get("level") for node in nodes if node.role == "heading"]
        self.assertEqual(levels.count(1), 1, levels)
        self.assertEqual(levels[0], 1, "the first heading comes first")
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1, f"no level of headings is left out: {levels}")
        self.assertTrue(self.chromium.script("return document.title.trim();"))
        self.assertEqual(self.chromium.script("return document.documentElement.lang;"), "en")
        duplicates = self.chromium.script(
            "const all = [...document.querySelectorAll('[id]')].map((one) => one.id);"
            "return all.filter((id, place) => all.indexOf(id) !== place);")
        self.assertEqual(duplicates, [])
        dangling = self.chromium.script(
            "return [...document.querySelectorAll('[aria-labelledby], [aria-describedby], [aria-controls]')].flatMap("
            "(one) => ['aria-labelledby', 'aria-describedby', 'aria-controls'].flatMap((name) =>"
            "(one.getAttribute(name) || '').split(' ').filter((id) => id && !document.getElementById(id))));")
        self.assertEqual(dangling, [], "descriptions lead somewhere")


class AccessibilityTests(AccessibilityCase):
    def test_the_state_is_named_and_spoken_when_it_changes(self):
        page = self.connected_page()
        self.assertTrue(self.nodes(name="VPN Status: Connected"))
        live = self.chromium.script(
            "const at = document.querySelector('#status-text').closest('[aria-live]');"
            "return at && at.getAttribute('aria-live');")
        self.assertEqual(live, "polite")
        page.toggle()
        page.wait_condition("stopped")
        self.assertTrue(self.nodes(name="VPN Status: Disconnected"))
        self.assertFalse(self.nodes(name="VPN Status: Connected"))
        self.assertIn(page.find("#banner").get_attribute("role"), ("status", "alert"))

    def test_each_row_is_one_sentence(self):
        page = self.connected_page()
        names = [node.name for node in self.nodes()]
        for row in ROWS:
            value = page.value(row)
            self.assertTrue(value, row)
            self.assertEqual(page.text(f"[data-row={row}] .label"), LABELS[row])
            self.assertEqual(len([name for name in names if name.startswith(LABELS[row] + ": ")]), 1, names)
            if row != "handshake":
                # It gets older between the two looks.
                self.assertIn(f"{LABELS[row]}: {value}", names)
        # What an ellipsis cuts off the ear gets whole, and the lists of which a row shows the first are whole elsewhere.
        self.assertIn(f"Admin Web: {self.control.admin}", names)
        page.tab("status")
        tunnel = self.agent.status()["tunnel"]
        for prefix in tunnel["addresses"] + tunnel["allowedIPs"]:
            self.assertIn(prefix.removesuffix("/32").removesuffix("/128"), page.text("#panel-status"))

    def test_the_switch_has_role_state_and_hint(self):
        page = self.connected_page()
        node = [one for one in self.nodes("switch") if "VPN" in one.name]
        self.assertEqual(len(node), 1, self.nodes("switch"))
        self.assertEqual(str(node[0].properties.get("checked")), "true")
        self.assertIn("VPN", node[0].description)
        page.toggle()
        page.wait_condition("stopped")
        node = [one for one in self.nodes("switch") if "VPN" in one.name]
        self.assertEqual(str(node[0].properties.get("checked")), "false")

    def test_tabs_panels_and_log_have_their_roles(self):
        page = self.connected_page()
        self.assertEqual(len(self.nodes("tablist")), 1)
        for name in ("Status", "Ports", "Log"):
            page.tab(name.lower())
            tabs = {node.name: node.properties.get("selected") for node in self.nodes("tab")}
            self.assertEqual(tabs, {one: one == name for one in ("Status", "Ports", "Log")})
            self.assertEqual([node.name for node in self.nodes("tabpanel")], [name])
            self.assertSound()
        log = self.nodes("log")
        self.assertEqual(len(log), 1)
        self.assertTrue(log[0].name)
        for name in ("Copy Log", "Clear Log"):
            self.one("button", name)
        self.chromium.resize(DESKTOP)
        # Nothing to choose where all is in sight.
        self.assertEqual(self.nodes("tab"), [])
        self.assertSound()
        self.chromium.resize(USUAL)

    def test_the_picture_has_its_sentence_as_its_name(self):
        page = self.connected_page()
        page.tab("status")
        self.chromium.wait(
            "there are samples", lambda: len(self.agent.ask("GET", "/api/v1/traffic")[1]["samples"]) >= 2)
        self.chromium.wait("the picture is drawn", lambda: [
            node for node in self.nodes() if node.role in ("image", "img") and "handshake" in node.name])
        self.assertRegex(page.text("#chart-sentence"), r"^In the last .* received .* sent .* handshake .*\.$")

    def test_the_settings_have_the_names_of_the_design(self):
        page = self.connected_page()
        page.click("#open-settings")
        page.wait_shown("#settings")
        self.assertSound()
        for name in ("Server URL", "Registration Token"):
            self.one("textbox", name)
        self.assertEqual(len([node for node in self.nodes() if node.name == "Auto-Start on Boot"
                              and node.role in ("switch", "checkbox")]), 1)
        for name in ("Save Settings", "Export Config", "Import Config", "Paste Config"):
            self.one("button", name)
        page.type("#server-url", "nonsense")
        page.click("#save-settings")
        page.wait_text("#server-url-error", " ")
        field = self.one("textbox", "Server URL")
        self.assertEqual(str(field.properties.get("invalid")), "true")
        self.assertIn(page.text("#server-url-error").lower(), field.description.lower())

    def test_views_without_a_session_are_sound(self):
        self.connected_page()
        port = self.page.port
        self.chromium.script("sessionStorage.clear();")
        self.chromium.open(f"http://127.0.0.1:{port}/")
        self.page.wait_condition("session-ended")
        self.assertSound()


class FirstRunAccessibility(AccessibilityCase):
    def find_agent(self):
        return self.world.newcomer

    def test_the_first_form_is_named(self):
        self.page.open().wait_condition("not-provisioned")
        self.assertSound()
        for role, name in (("textbox", "Server URL"), ("textbox", "Registration Token"), ("button", "Provision")):
            self.one(role, name)
        switch = [one for one in self.nodes("switch") if "VPN" in one.name]
        self.assertTrue(switch[0].description, "the hint says why the switch does nothing")
