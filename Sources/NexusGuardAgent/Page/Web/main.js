// SPDX-License-Identifier: MIT
//
// The page of the agent: logs in, follows the agent's events, and shows them.

import * as api from "./api.js";
import { addSample, draw, loadSamples, startChart } from "./chart.js";
import { describe } from "./condition.js";
import { $, isDisabled, onPress, onSubmit, setAttribute, setRefusal, setText, vibrate } from "./dom.js";
import { addEntry, addGap, loadLog, position, showLogRights, startLog } from "./log.js";
import { cancelImport, closeSettings, openSettings, prepareFirstRun, startSettings } from "./settings.js";
import { showForwards, showStatus, showTimes } from "./status.js";
import { clearTrouble, show, startTabs, tell, view } from "./views.js";
import { instant, sentence } from "./words.js";

/** What the agent last said of itself. */
let snapshot = null;
/** Whether it answers. */
let isReachable = true;
/** What the page makes of both. */
let shown = describe(null, true);
/** When the page next asks an agent that does not answer, in this browser's time; and what makes it ask at once. */
let reconnectAt = null;
let reconnect = () => {};
/** How often a hidden page asks the agent, in milliseconds: a session that is not used for half an hour ends. */
const hiddenInterval = 600_000;
/** Counts sessions: what belongs to one that has ended stops by itself. */
let generation = 0;

function start() {
  startTabs();
  startChart();
  startLog(tell);
  startSettings(tell, () => endSession("session-ended", "You have ended it."));
  onPress($("open-settings"), openSettingsView);
  onPress($("advice-settings"), openSettingsView);
  onPress($("first-import"), openSettingsView);
  onPress($("back"), goBack);
  onPress($("retry-now"), retry);
  $("vpn-toggle").addEventListener("click", toggle);
  onSubmit($("login-form"), $("log-in"), logIn);
  onPress($("use-password"), () => {
    showLogin();
  });
  addEventListener("popstate", showViewOfHistory);
  addEventListener("hashchange", useLink);
  addEventListener("online", () => reconnect());
  // A page that nobody sees, or that the browser keeps for its way back, would hold one of the six connections that
  // the browser has for all pages of the agent: the seventh would wait for ever.
  document.addEventListener("visibilitychange", () => (document.hidden ? api.closeEvents() : reconnect()));
  addEventListener("pagehide", api.closeEvents);
  addEventListener("pageshow", () => reconnect());
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || view() !== "settings" || event.defaultPrevented) return;
    if (!cancelImport()) goBack();
  });
  setInterval(showSeconds, 1000);
  if (!useLink()) enter();
}

// MARK: Session

/** Uses the one-time link that the address holds, and takes it out of there at once; returns whether there was one. */
function useLink() {
  const link = /^#t=([\w-]+)$/.exec(location.hash)?.[1];
  if (location.hash.startsWith("#t=")) history.replaceState(null, "", location.pathname);
  if (!link) return false;
  enterWith({ link });
  return true;
}

async function enterWith(credentials) {
  try {
    await api.login(credentials);
  } catch (error) {
    if (error.status === 0) return tryAgainSoon(error, () => enterWith(credentials));
    // Whoever loads a used link again in the tab that used it goes on with the session that it gave.
    if (!api.hasSession()) return endSession(error.code, `${error.message}.`);
  }
  enter();
}

/** Shows the agent, or why that is not possible. */
async function enter() {
  const mine = ++generation;
  if (!api.hasSession()) return isLocal() ? endSession("no-session", "") : showLogin();
  setAttribute(document.documentElement, "data-read-only", api.isReadOnly() ? "true" : null);
  $("read-only-note").hidden = !api.isReadOnly();
  showLogRights();
  try {
    snapshot = await api.request("GET", "/api/v1/status");
    await Promise.all([loadLog(), loadTraffic()]);
  } catch (error) {
    if (isEnded(error)) return endSession("session-ended", "It was not used for 30 minutes, or it was ended elsewhere.");
    return tryAgainSoon(error, enter);
  }
  if (mine !== generation) return;
  isReachable = true;
  clearTrouble();
  showForwards(snapshot.forwards ?? null);
  update();
  if (location.hash === "#settings") showViewOfHistory();
  else show("home");
  follow(mine);
}

/** The agent does not answer though the page was just loaded, as while it restarts. */
function tryAgainSoon(error, again) {
  document.documentElement.dataset.condition = "agent-gone";
  tell(`${sentence(error.message)}. This page tries again by itself.`, "trouble");
  setTimeout(again, 2000);
}

const loadTraffic = async () => loadSamples((await api.request("GET", "/api/v1/traffic")).samples);

const isEnded = (error) => error.status === 401;

/** Whether the page comes from this host or through a tunnel of ssh; elsewhere the agent serves it with a password alone. */
const isLocal = () => ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

/** What the screen says when there is no session. */
const endings = {
  "no-session": ["Open this page with a link", "It shows and controls the agent, so it lets nobody in without one."],
  "link-used": ["This link was used already", "Each link opens the page once."],
  "link-expired": ["This link has expired", "A link must be opened within two minutes."],
  "link-unknown": ["This link is not known", "It is not one of this agent's, or it was not copied whole."],
};

function endSession(code, text) {
  generation += 1;
  api.forgetSession();
  const [title, explanation] = endings[code] ?? ["This session has ended", sentence(text)];
  setText($("session-ended").querySelector("h1"), title);
  setText($("ended-text"), explanation);
  $("read-only-note").hidden = true;
  tell("");
  document.documentElement.dataset.state = "disconnected";
  document.documentElement.dataset.condition = "session-ended";
  document.documentElement.dataset.reason = code;
  show("session-ended");
}

function showLogin() {
  document.documentElement.dataset.condition = "login";
  show("login", $("password"));
}

async function logIn() {
  const password = $("password").value;
  setRefusal($("password"), $("password-error"), "");
  try {
    await api.login({ password });
    $("password").value = "";
    enter();
  } catch (error) {
    vibrate("error");
    const wait = error.details.retryAfter ? `; try again in ${error.details.retryAfter} s` : "";
    setRefusal($("password"), $("password-error"), error.message + wait);
    $("password").select();
  }
}

// MARK: Events

/**
 * Follows the agent's events for as long as the session lasts, and comes back by itself when the agent does.
 *
 * A hidden page rests; when it is seen again, the stream begins with what is so then.
 */
async function follow(mine) {
  let failures = 0;
  let hasRested = false;
  while (mine === generation) {
    const isHidden = document.hidden;
    try {
      if (isHidden) await rest();
      else for await (const event of api.events(position())) {
        if (mine !== generation) return;
        if (!isReachable) await comeBack();
        else if (hasRested) await loadTraffic().catch(() => {});
        hasRested = false;
        failures = 0;
        take(event);
      }
    } catch (error) {
      if (mine !== generation) return;
      if (isEnded(error)) return endSession("session-ended", "It was not used for 30 minutes, or it was ended elsewhere.");
    }
    if (isHidden || document.hidden) {
      hasRested = true;
      failures = 0;
      continue;
    }
    failures += 1;
    // The first try comes at once: a stream that was cut is no reason to worry anybody.
    if (failures > 1) loseAgent();
    await pause(failures === 1 ? 200 : Math.min(1000 * 2 ** (failures - 2), 15_000) * (0.8 + 0.4 * Math.random()));
  }
}

/** Waits until the page is seen, for some minutes at most; the session is then used all the same. */
async function rest() {
  await pause(hiddenInterval);
  if (document.hidden) await api.request("GET", "/api/v1/status");
}

function loseAgent() {
  if (!isReachable) return;
  isReachable = false;
  vibrate("error");
  tell("The agent does not answer. This page reconnects by itself.", "trouble");
  update();
}

async function comeBack() {
  isReachable = true;
  await loadTraffic().catch(() => {});
  vibrate("success");
  tell("The agent answers again.", "good");
}

/** Waits until the next try, or until the user or the network says that now is the time. */
function pause(milliseconds) {
  reconnectAt = Date.now() + milliseconds;
  showSeconds();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    reconnect = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function take({ name, data, id }) {
  switch (name) {
    case "snapshot":
      noteRollback(data);
      snapshot = data;
      update();
      break;
    case "forwards":
      showForwards(data.forwards);
      break;
    case "log":
      addEntry(data, id);
      break;
    case "lost":
      addGap(data.count);
      break;
    case "traffic":
      addSample(data);
      refreshTunnel(data);
      break;
    default: // `health` is in the snapshot too; later versions may send more.
  }
}

/** Nothing else tells who applied a configuration that it was taken back. */
function noteRollback({ counters }) {
  const before = snapshot?.counters.rollbacks ?? counters.rollbacks;
  if (counters.rollbacks > before) complain("The new configuration did not work; the one before it is in use again");
}

/** A snapshot comes when something changes; counters and handshakes in between are those of the samples. */
function refreshTunnel({ time, received, sent, handshakeAge }) {
  const tunnel = snapshot?.tunnel;
  if (!tunnel) return;
  tunnel.receivedByteCount = received;
  tunnel.sentByteCount = sent;
  const handshake = instant(time) - (handshakeAge ?? 0) * 1000;
  // Both are rounded to seconds: less than two apart they mean the same handshake.
  const isOther = Math.abs(handshake - (instant(tunnel.lastHandshake) ?? 0)) > 2000;
  if (handshakeAge != null && isOther) tunnel.lastHandshake = new Date(handshake).toISOString();
  update();
}

function update() {
  const before = shown;
  const wasFirstRun = !$("first-run").hidden;
  shown = describe(snapshot, isReachable);
  showStatus(snapshot, shown);
  showSeconds();
  if (!$("first-run").hidden && !wasFirstRun) prepareFirstRun();
  if (before.state !== shown.state && shown.state === "connected") vibrate("success");
  if (before.state !== shown.state && shown.state === "failed") vibrate("error");
}

function showSeconds() {
  if (document.hidden) return;
  showTimes(snapshot, shown, reconnectAt);
  // The picture moves by half a pixel in a second.
  if (Math.floor(Date.now() / 1000) % 5 === 0) draw();
}

// MARK: Actions

/** What the user wants the switch to be, until the agent has been asked for it. */
let wanted = null;

/** The switch moves with the finger; the agent's answer moves it back if it must. Whoever presses again has the last word. */
async function toggle() {
  const button = $("vpn-toggle");
  if (isDisabled(button)) return;
  wanted = button.getAttribute("aria-checked") !== "true";
  setAttribute(button, "aria-checked", String(wanted));
  vibrate("selection");
  sayAtSwitch("");
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  while (wanted !== null) {
    const up = wanted;
    wanted = null;
    try {
      snapshot = await api.request("POST", "/api/v1/tunnel", { up });
    } catch (error) {
      vibrate("error");
      sayAtSwitch(error.message);
    }
  }
  button.removeAttribute("aria-busy");
  update();
}

function sayAtSwitch(refusal) {
  const hint = $("toggle-hint");
  hint.dataset.refused = "false";
  $("vpn-toggle").dataset.refused = String(refusal !== "");
  hint.classList.toggle("refusal", refusal !== "");
  if (refusal) setText(hint, sentence(refusal));
}

async function retry() {
  if (!isReachable) return reconnect();
  const isWaiting = ["APP_RETRY", "OFFLINE", "FAILED"].includes(snapshot.phase);
  try {
    // Asking for what is wanted already ends the wait, and needs no identity; a refresh waits for the server's answer.
    snapshot = snapshot.wantsUp && isWaiting
      ? await api.request("POST", "/api/v1/tunnel", { up: true })
      : await api.request("POST", snapshot.provisioned ? "/api/v1/refresh" : "/api/v1/provision", {});
    clearTrouble();
    update();
  } catch (error) {
    complain(error.message);
  }
}

/** Says for a while what went wrong. */
function complain(text) {
  vibrate("error");
  tell(`${sentence(text)}.`, "trouble", 15_000);
}

// MARK: Views

/** The settings have a place in the browser's history, so that its own way back leads out of them. */
function openSettingsView() {
  history.pushState("from home", "", "#settings");
  showViewOfHistory();
}

function goBack() {
  if (history.state === "from home") return history.back();
  // The page was loaded with its settings open: the way back must not lead out of it.
  history.replaceState(null, "", location.pathname);
  showViewOfHistory();
}

function showViewOfHistory() {
  if (!api.hasSession() || view() === "opening" && !snapshot) return;
  if (location.hash === "#settings") {
    show("settings");
    openSettings(snapshot);
  } else if (view() === "settings") {
    if (closeSettings()) tell("What was changed in the settings is not saved.", "trouble");
    show("home", $("open-settings"));
  }
}

start();
