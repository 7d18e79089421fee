// SPDX-License-Identifier: MIT
//
// The log: the newest entries, followed as they come.

import { isReadOnly, request } from "./api.js";
import { $, make, onPress, setDisabled, vibrate } from "./dom.js";
import { instant, timeOfDay } from "./words.js";

/** The most entries that are kept; the agent keeps as many. */
const capacity = 2000;

/** The run of the agent that numbers the entries, and the last number of it that is shown. */
let run = null;
let last = 0;

/** Entries that are shown with the next frame. */
let waiting = [];
let isFrameDue = false;

/** Whether the reader is at the end: only then does the log scroll by itself. */
let follows = true;
let lastTop = 0;

/** The place in the log from which the stream of events goes on; `null` before anything was read. */
export const position = () => (run === null ? null : `${run}.${last}`);

/** Connects the controls. `tell` shows a sentence about what was done. */
export function startLog(tell) {
  const log = $("log");
  log.addEventListener("scroll", () => {
    // A hidden list has no height, and says that it is at its end.
    if (log.clientHeight === 0) return;
    // A list that got longer or narrower is not at its end either, but then nobody has scrolled up.
    if (log.scrollHeight - log.scrollTop - log.clientHeight < 8) follows = true;
    else if (log.scrollTop < lastTop) follows = false;
    lastTop = log.scrollTop;
  });
  // The list comes into sight, or its size changes.
  new ResizeObserver(stay).observe(log);
  $("log-level").addEventListener("change", () => {
    log.dataset.least = $("log-level").value;
    vibrate("selection");
    follows = true;
    showWhetherEmpty();
    stay();
  });
  onPress($("copy-log"), async () => {
    const lines = shown().map((entry) => entry.textContent);
    const isCopied = await copy(lines.join("\n") + "\n");
    vibrate(isCopied ? "success" : "error");
    if (!isCopied) tell("The browser does not allow copying.", "trouble");
    else tell(lines.length === 1 ? "One line is copied." : `${lines.length} lines are copied.`, "good");
  });
  onPress($("clear-log"), async () => {
    try {
      await request("DELETE", "/api/v1/logs");
      waiting = [];
      log.replaceChildren();
      showWhetherEmpty();
      vibrate("success");
      tell("The log is cleared.", "good");
    } catch (error) {
      vibrate("error");
      tell(`The log is not cleared: ${error.message}.`, "trouble");
    }
    $("clear-log").focus();
  });
}

/** What a read-only session may not do. */
export function showLogRights() {
  setDisabled($("clear-log"), isReadOnly() ? "read-only-note" : null);
}

/** Reads what the agent has kept; the stream goes on from there. */
export async function loadLog() {
  $("log").setAttribute("aria-busy", "true");
  const answer = await request("GET", `/api/v1/logs?limit=${capacity}`);
  run = answer.instance;
  last = answer.last;
  waiting = [];
  $("log").replaceChildren();
  follows = true;
  append(answer.entries.map(line));
  showWhetherEmpty();
  $("log").setAttribute("aria-busy", "false");
}

/** Adds an entry of the stream; `id` is the run and the number. */
export function addEntry(entry, id) {
  const [entryRun] = (id ?? "").split(".");
  // After a break the stream may repeat what is here.
  if (entryRun === run && entry.id <= last) return;
  run = entryRun;
  last = entry.id;
  enqueue(line(entry));
}

/** Says that entries are missing. */
export function addGap(count) {
  const row = make("div", "entry", `… ${count === 1 ? "one entry is" : `${count} entries are`} missing here`);
  row.dataset.level = "WARN";
  enqueue(row);
}

/** `HH:MM:SS [LEVEL] tag: message` */
function line(entry) {
  const time = timeOfDay(instant(entry.timestamp) ?? 0);
  const row = make("div", "entry", `${time} [${entry.level}] ${entry.tag}: ${entry.message}`);
  row.dataset.level = entry.level;
  return row;
}

/** Many entries may come at once: the list changes once a frame. A hidden page has no frames, so it keeps the newest. */
function enqueue(row) {
  waiting.push(row);
  if (waiting.length > capacity) waiting = waiting.slice(-capacity);
  if (isFrameDue) return;
  isFrameDue = true;
  requestAnimationFrame(() => {
    isFrameDue = false;
    const rows = waiting;
    waiting = [];
    append(rows);
    showWhetherEmpty();
  });
}

function append(rows) {
  const log = $("log");
  log.append(...rows);
  while (log.childElementCount > capacity) log.firstElementChild.remove();
  stay();
}

/** Stays at the end where the reader was there. */
function stay() {
  const log = $("log");
  if (follows) log.scrollTop = log.scrollHeight;
}

/** The entries that the level lets through. */
const shown = () => [...$("log").children].filter((entry) => getComputedStyle(entry).display !== "none");

function showWhetherEmpty() {
  $("log-none").hidden = shown().length > 0;
  $("log-none").textContent = $("log").childElementCount > 0 ? "No entry has this level." : "Nothing is logged yet.";
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS and off loopback there is no clipboard; the older way still works.
    const field = make("textarea", "unseen");
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}
