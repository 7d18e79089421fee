// SPDX-License-Identifier: MIT
//
// Which screen and which panel is shown, and where the keyboard is.

import { $, setAttribute, vibrate } from "./dom.js";

const views = ["opening", "home", "settings", "session-ended", "login"];
const tabs = ["status", "ports", "log"];
const desk = matchMedia("(min-width: 900px)");

let shownView = "opening";
let shownTab = "status";
let bannerTimer;

/** The screen that is shown. */
export const view = () => shownView;

/**
 * Shows one screen and none of the others.
 *
 * The keyboard goes to `focus`, else to the screen's heading, which tells screen readers where they are.
 */
export function show(name, focus = null) {
  if (name === shownView) return;
  const isFirst = shownView === "opening";
  shownView = name;
  for (const view of views) $(view).hidden = view !== name;
  document.title = { settings: "Settings - NexusGuard", login: "Log in - NexusGuard" }[name] ?? "NexusGuard";
  scrollTo(0, 0);
  // Nobody has been anywhere yet when the first one comes.
  if (!isFirst || focus) (focus ?? $(name).querySelector("h1[tabindex]"))?.focus();
}

/**
 * Says what was done, or what stands in the way; a sentence about a success goes away by itself or with the next
 * refusal, others with a `time`.
 */
export function tell(text, kind = "good", time = kind === "good" ? 6000 : null) {
  const banner = $("banner");
  clearTimeout(bannerTimer);
  banner.dataset.kind = kind;
  banner.textContent = text;
  if (text && time !== null) bannerTimer = setTimeout(() => tell(""), time);
}

// What went well before is no answer to what is refused now.
document.addEventListener("refusal", () => {
  if ($("banner").dataset.kind === "good") tell("");
});

/** Takes a sentence about trouble away; one about a success stays. */
export function clearTrouble() {
  if ($("banner").dataset.kind === "trouble") tell("");
}

/** Connects the tabs. */
export function startTabs() {
  for (const name of tabs) $(`tab-${name}`).addEventListener("click", () => select(name));
  $("tabs").addEventListener("keydown", (event) => {
    const at = tabs.indexOf(shownTab);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    select(tabs[(steps[event.key] + tabs.length) % tabs.length]);
    $(`tab-${shownTab}`).focus();
  });
  desk.addEventListener("change", arrange);
  arrange();
}

function select(name) {
  if (name !== shownTab) vibrate("selection");
  shownTab = name;
  arrange();
}

/** On a desk all panels are in sight, and there are no tabs to own them. */
function arrange() {
  document.documentElement.dataset.tab = shownTab;
  for (const name of tabs) {
    const isShown = name === shownTab;
    const panel = $(`panel-${name}`);
    const tab = $(`tab-${name}`);
    panel.hidden = !isShown && !desk.matches;
    setAttribute(panel, "role", desk.matches ? "region" : "tabpanel");
    // A panel without controls can still be reached and scrolled; the log is such a stop itself.
    setAttribute(panel, "tabindex", desk.matches || name === "log" ? null : "0");
    setAttribute(tab, "aria-selected", String(isShown));
    setAttribute(tab, "tabindex", isShown ? null : "-1");
  }
}
