// SPDX-License-Identifier: MIT
//
// The session, requests to the agent, and its stream of events.

import { instant } from "./words.js";

/** A request that was refused, or that nobody answered. */
export class Refusal extends Error {
  constructor({ status = 0, code = "agent-gone", message = "the agent does not answer", field = null, details = {} } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.details = details;
  }
}

const storageKey = "nexusguard-session";

/** Longer than the longest answer of the agent, which waits 45 s for the control server. */
const requestTimeout = 90_000;

/** The agent sends a sign of life every 15 s. */
const silenceLimit = 40_000;

/** The session of this tab: it lives in no other tab, in no cookie, and not longer than the tab. */
let session = restore();

let endStream = () => {};

/** Ends the stream of events that is open; whoever reads it gets a `Refusal`. */
export const closeEvents = () => endStream();

/** How far the agent's clock is ahead of this browser's, in milliseconds. */
let clockOffset = 0;

function restore() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? "null");
    return typeof stored?.token === "string" ? stored : null;
  } catch {
    return null;
  }
}

/** Whether there is a session to try. */
export const hasSession = () => session !== null;

/** Whether the session changes nothing. */
export const isReadOnly = () => session?.readOnly === true;

/** The time of the agent's clock, in milliseconds: what it sends is compared with this, not with the browser's clock. */
export const agentNow = () => Date.now() + clockOffset;

/** Trades a one-time link or a password for a session: `{link}` or `{password}`. */
export async function login(credentials) {
  const answer = await (await send("POST", "/api/v1/ui/login", credentials, null)).json();
  session = { token: answer.session, readOnly: answer.read_only === true };
  sessionStorage.setItem(storageKey, JSON.stringify(session));
}

/** Forgets the session here. */
export function forgetSession() {
  endStream();
  session = null;
  sessionStorage.removeItem(storageKey);
}

/** Ends the session there and forgets it here. */
export async function logout() {
  try {
    await request("POST", "/api/v1/ui/logout", {});
  } finally {
    forgetSession();
  }
}

/** The JSON that the agent answers; `null` for an empty answer. Throws a `Refusal`. */
export async function request(method, path, body) {
  const response = await send(method, path, body, AbortSignal.timeout(requestTimeout));
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch {
    throw new Refusal();
  }
}

async function send(method, path, body, signal) {
  const headers = {};
  if (session && path !== "/api/v1/ui/login") headers.Authorization = `Bearer ${session.token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch {
    throw new Refusal();
  }
  noteClock(response);
  if (!response.ok) throw await refusal(response);
  return response;
}

/** The header has whole seconds: half of one is added, so that the error is at most the other half. */
function noteClock(response) {
  const time = instant(response.headers.get("Date"));
  if (time !== null) clockOffset = time + 500 - Date.now();
}

async function refusal(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // Something else than the agent has answered, or half of an answer has come: the status must do.
  }
  const wait = Number(response.headers.get("Retry-After"));
  return new Refusal({
    status: response.status,
    code: error.code ?? "unknown",
    message: error.message ?? `the agent answered with status ${response.status}`,
    field: error.field ?? null,
    details: { ...error, retryAfter: wait > 0 ? wait : null },
  });
}

/**
 * The events after a position in the log, as `{name, data, id}`; ends when the agent ends the stream.
 *
 * `EventSource` cannot send the header with the session, so the stream is read by hand. Throws a `Refusal`, also when
 * the agent is silent for longer than its signs of life are apart.
 */
export async function* events(position) {
  const abort = new AbortController();
  endStream();
  endStream = () => abort.abort();
  let timer;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), silenceLimit);
  };
  watch();
  try {
    const query = position ? `?after=${encodeURIComponent(position)}` : "";
    const response = await send("GET", `/api/v1/events${query}`, undefined, abort.signal);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      watch();
      text += value;
      let end;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const event = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (event) yield event;
      }
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal();
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** One event of the stream; `null` for a comment, which is a sign of life. */
function parse(block) {
  const event = { name: "message", id: null };
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event.name = line.slice(7);
    else if (line.startsWith("id: ")) event.id = line.slice(4);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (!data) return null;
  try {
    event.data = JSON.parse(data);
  } catch {
    return null;
  }
  return event;
}
