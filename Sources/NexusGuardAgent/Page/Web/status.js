// SPDX-License-Identifier: MIT
//
// The status card, what to do, the switch, and the ports: all that shows the snapshot.

import { agentNow, isReadOnly } from "./api.js";
import { helpFor } from "./condition.js";
import { $, make, setAttribute, setDisabled, setText } from "./dom.js";
import { age, bytes, instant, roughSpan, sentence, span, timeOfDay } from "./words.js";

/** Shows a snapshot; `view` is what `describe` made of it. */
export function showStatus(snapshot, view) {
  const { dataset } = document.documentElement;
  dataset.state = view.state;
  dataset.condition = view.condition;
  dataset.reason = view.code ?? "";
  setText($("status-text"), view.word);
  setAttribute($("status-text"), "aria-label", `VPN Status: ${view.word}`);
  setAttribute($("status-card"), "aria-label", `VPN Status: ${view.word}`);
  setText($("status-detail"), sentence(view.detail));
  showRows(snapshot, view);
  showHelp(snapshot, view);
  showSwitch(snapshot, view);
  showDetails(view.condition === "agent-gone" ? null : snapshot, view);
}

/** What changes with every second. */
export function showTimes(snapshot, view, reconnectAt) {
  const gone = view.condition === "agent-gone";
  // The agent counts by its own clock, the page's next try by the browser's.
  const retry = gone ? reconnectAt : instant(snapshot?.nextRetry);
  const seconds = retry === null ? null : (retry - (gone ? Date.now() : agentNow())) / 1000;
  const isNow = seconds !== null && seconds < 1;
  setText($("countdown"), seconds === null ? "" : isNow ? "Trying again now" : `Trying again in ${span(Math.ceil(seconds))}`);
  if (gone) return;
  const last = instant(snapshot?.tunnel?.lastHandshake);
  if (last !== null) setRow("handshake", `${timeOfDay(last)} (${roughSpan((agentNow() - last) / 1000)} ago)`);
  for (const element of document.querySelectorAll("[data-since]")) {
    setText(element, age(Number(element.dataset.since), agentNow()));
  }
}

// MARK: Rows

function showRows(snapshot, view) {
  const tunnel = view.condition === "agent-gone" ? null : snapshot?.tunnel;
  $("rows").hidden = !tunnel;
  if (!tunnel) return;
  setRow("ip", ...shortened(tunnel.addresses.map(withoutHostLength)));
  setRow("device", snapshot.deviceID);
  setRow("allowed", ...shortened(tunnel.allowedIPs));
  if (!tunnel.lastHandshake) setRow("handshake", "none yet");
  setRow("transport", transport(snapshot.serverURL));
  showAdmin(snapshot.adminURL ?? snapshot.serverURL);
}

/** Shows a value; `whole` is what it stands for, where there is no room for that. */
function setRow(name, text, whole = text) {
  const row = document.querySelector(`[data-row="${name}"]`);
  const value = row.querySelector(".value");
  setText(value.firstElementChild, text || "-");
  setAttribute(value, "title", (whole ?? "").length > 20 ? whole : null);
  setAttribute(row, "aria-label", `${row.querySelector(".label").textContent}: ${text || "-"}`);
}

/** What of a list fits into a row, and the whole list, which the Status panel has room for. */
function shortened(items) {
  const whole = items.join(", ");
  return whole.length <= 20 || items.length < 2 ? [whole] : [`${items[0]} and ${items.length - 1} more`, whole];
}

/** The address of the administrators' page, as a link when it is one that a browser should follow. */
function showAdmin(address) {
  setRow("admin", address);
  const link = document.querySelector('[data-row="admin"] .value');
  setAttribute(link, "href", /^https?:\/\//i.test(address ?? "") ? address : null);
}

/** An address without the length of a network that holds it alone. */
const withoutHostLength = (prefix) => prefix.replace(/^([^:]*)\/32$|^(.*:.*)\/128$/, "$1$2");

/** How the control server is asked. */
function transport(address) {
  if (/^https:/i.test(address ?? "")) return "HTTPS";
  return /^http:/i.test(address ?? "") ? "HTTP (not encrypted)" : "";
}

// MARK: What to do

function showHelp(snapshot, view) {
  const { help } = view;
  $("advice").hidden = !help;
  setText($("advice-title"), help?.title ?? "");
  setText($("advice-text"), help?.text ?? "");
  const isGone = view.condition === "agent-gone";
  $("retry-now").hidden = !help?.retry;
  $("advice-settings").hidden = !help?.settings || !snapshot?.provisioned;
  setText($("retry-now"), isGone ? "Reconnect now" : "Retry now");
  // Whoever may change nothing may still ask whether the agent is back.
  setDisabled($("retry-now"), isReadOnly() && !isGone ? "read-only-note" : null);
  // While the agent asks the server by itself there is nothing to fill in, unless it was this form that had it ask.
  const isAsking = view.condition === "provisioning" && $("first-provision").getAttribute("aria-busy") !== "true";
  $("first-run").hidden = !snapshot || isGone || snapshot.provisioned || isReadOnly() || isAsking;
}

function showSwitch(snapshot, view) {
  const toggle = $("vpn-toggle");
  const isOn = snapshot?.wantsUp === true;
  const isGone = view.condition === "agent-gone";
  if (toggle.getAttribute("aria-busy") !== "true") setAttribute(toggle, "aria-checked", String(isOn));
  let hint = isOn ? "Press to turn VPN off" : "Press to turn VPN on";
  const lacksIdentity = Boolean(snapshot) && !snapshot.provisioned && !isOn;
  if (isReadOnly()) hint = "This page is read-only";
  else if (isGone) hint = "The agent does not answer";
  else if (lacksIdentity) hint = "This device needs an identity first";
  setDisabled(toggle, isReadOnly() || isGone || lacksIdentity ? "toggle-hint" : null);
  if (toggle.dataset.refused !== "true") setText($("toggle-hint"), hint);
}

// MARK: The Status panel

function showDetails(snapshot, view) {
  const items = (snapshot?.health ?? []).map((item) => {
    const row = make("li");
    row.append(make("p", "what", sentence(item.text || item.code)));
    const help = helpFor(item.code);
    // What the card says already is not said twice.
    if (help && item.code !== view.code) row.append(make("p", "help", help.text));
    return row;
  });
  $("attention").hidden = items.length === 0;
  replaceIfDifferent($("health"), items);

  const tunnel = snapshot?.tunnel;
  const rows = [];
  const add = (label, value, since = null) => {
    if (!value && since === null) return;
    const definition = make("dd", "", value);
    if (since !== null) definition.dataset.since = since;
    rows.push(make("dt", "", label), definition);
  };
  if (tunnel) {
    add("Interface", `${tunnel.interface}, MTU ${tunnel.mtu}`);
    if (tunnel.addresses.length > 1) add("Address", tunnel.addresses.join(", "));
    if (tunnel.allowedIPs.length > 1) add("Routes", tunnel.allowedIPs.join(", "));
    add("Endpoint", tunnel.endpoint);
    add("Traffic", `${bytes(tunnel.receivedByteCount)} received, ${bytes(tunnel.sentByteCount)} sent`);
  }
  if (snapshot) add("Phase", snapshot.phase);
  const heartbeat = instant(snapshot?.lastHeartbeat);
  const contact = instant(snapshot?.lastContact);
  if (heartbeat !== null) add("Heartbeat", "", heartbeat);
  else if (contact !== null) add("Contact", "", contact);
  replaceIfDifferent($("details"), rows);
}

/** Replaces children only when they differ, so that a selection survives snapshots that change nothing here. */
function replaceIfDifferent(parent, children) {
  const holder = make("div");
  holder.append(...children.map((child) => child.cloneNode(true)));
  const isSame = holder.childElementCount === parent.childElementCount
    && children.every((child, index) => child.dataset.since
      ? child.dataset.since === parent.children[index].dataset.since
      : child.isEqualNode(parent.children[index]));
  if (!isSame) parent.replaceChildren(...children);
}

// MARK: Ports

/** Shows the forwards; `null` when the server has told none. */
export function showForwards(forwards) {
  setText($("ports-title"), forwards ? `Port Forwards: ${forwards.length}` : "Port Forwards");
  $("ports-none").hidden = (forwards?.length ?? 0) > 0;
  setText($("ports-none"), forwards ? "No port of the server is forwarded to this device." : "n/a: the server has told of none.");
  replaceIfDifferent($("forwards"), (forwards ?? []).map(forwardRow));
}

function forwardRow(forward) {
  const name = String(forward.protocol).toUpperCase();
  const host = forward.targetAddress.includes(":") ? `[${forward.targetAddress}]` : forward.targetAddress;
  const row = make("li", "forward");
  row.append(
    make("span", "badge", name), make("span", "port", `:${forward.publicPort}`),
    make("span", "target", `${host}:${forward.targetPort}`));
  return row;
}
