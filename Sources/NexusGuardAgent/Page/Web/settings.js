// SPDX-License-Identifier: MIT
//
// The settings screen, first use, and configurations that come and go.

import { isReadOnly, logout, request } from "./api.js";
import { $, make, onPress, onSubmit, setAttribute, setDisabled, setRefusal, setText, vibrate } from "./dom.js";

/** The agent refuses larger imports. */
const largestImport = 524_288;

const depths = {
  none: "Nothing differs from what is in use.",
  forwards: "Only the forwards change; the tunnel is not touched.",
  peer: "The server's entry changes; the session goes on.",
  host: "Addresses, routes or name servers change; the session goes on.",
  identity: "The keys change: the tunnel needs a new handshake. If none comes within 15 s, what is in use now comes back.",
};

const fieldNames = {
  device: "Device", addresses: "Addresses", publicKey: "Public key", serverPublicKey: "Server's public key",
  endpoint: "Endpoint", allowedIPs: "Allowed IPs", nameServers: "Name servers", mtu: "MTU", keepalive: "Keepalive",
  presharedKey: "Preshared key",
};

/** What the agent has; only what differs from it is sent. */
let current = null;
/** What is to be imported: its text, and what opens it. */
let pending = null;
let tell = () => {};
let ended = () => {};

/** Connects the controls. `tellUser` shows a sentence about what was done; `onEnd` is called when the user ended the session. */
export function startSettings(tellUser, onEnd) {
  tell = tellUser;
  ended = onEnd;
  onSubmit($("settings-form"), $("save-settings"), save);
  onSubmit($("first-run"), $("first-provision"), provisionFirst);
  startExport();
  startImport();
  onPress($("log-out"), async () => {
    await logout().catch(() => {});
    ended();
  });
}

/** Reads the settings into the form. */
export async function openSettings(snapshot) {
  showRights();
  showAbout(snapshot);
  try {
    current = (await request("GET", "/api/v1/settings")).settings;
    fillIn();
    setRefusal(null, $("settings-error"), "");
  } catch (error) {
    setRefusal(null, $("settings-error"), error.message);
  }
}

function fillIn() {
  $("server-url").value = current.serverURL ?? "";
  $("auto-start").checked = current.startsAutomatically;
  $("token").value = "";
}

/** Forgets what was typed and not sent; returns whether there was anything. */
export function closeSettings() {
  const isUnsaved = Object.keys(changes()).length > 0;
  forgetImport();
  closePanel($("export-config"), $("export-panel"));
  $("export-passphrase").value = "";
  for (const field of ["server-url", "token", "auto-start", "settings"]) setRefusal($(field), $(`${field}-error`), "");
  if (current) fillIn();
  return isUnsaved;
}

function showRights() {
  const reason = isReadOnly() ? "read-only-note" : null;
  for (const id of ["save-settings", "import-config", "paste-config", "preview-config", "apply-config"]) setDisabled($(id), reason);
  for (const id of ["server-url", "token", "export-passphrase"]) $(id).readOnly = isReadOnly();
  setDisabled($("auto-start"), reason);
}

function showAbout(snapshot) {
  const rows = [["Device ID", snapshot?.deviceID ?? "none yet"], ["Host ID", snapshot?.hwid], ["Version", snapshot?.version]]
    .filter(([, value]) => value)
    .flatMap(([label, value]) => [make("dt", "", label), make("dd", "", value)]);
  $("about-rows").replaceChildren(...rows);
}

// MARK: Settings and token

function changes() {
  const result = {};
  if (!current) return result;
  const server = $("server-url").value.trim();
  if (server !== (current.serverURL ?? "")) result.serverURL = server || null;
  if ($("auto-start").checked !== current.startsAutomatically) result.startsAutomatically = $("auto-start").checked;
  const token = $("token").value.trim();
  if (token) result.token = token;
  return result;
}

// The switch looks like one that cannot be moved, so it must not move.
document.addEventListener("click", (event) => {
  if (event.target === $("auto-start") && isReadOnly()) event.preventDefault();
});

async function save() {
  const wanted = changes();
  const fields = { serverURL: "server-url", token: "token", startsAutomatically: "auto-start" };
  clearRefusals(fields, "settings-error");
  if (Object.keys(wanted).length === 0) return tell("Nothing was changed.", "good");
  try {
    current = (await request("PUT", "/api/v1/settings", wanted)).settings;
    fillIn();
    vibrate("success");
    tell(wanted.token ? "The settings are saved, and this device has an identity." : "The settings are saved.", "good");
  } catch (error) {
    refuse(error, fields, "settings-error");
    // Other settings than the token are stored before the server is asked.
    if (error.status !== 400 && error.status !== 0) current = (await request("GET", "/api/v1/settings").catch(() => ({ settings: current }))).settings;
  }
}

async function provisionFirst() {
  const fields = { serverURL: "first-server", token: "first-token" };
  clearRefusals(fields, "first-error");
  const server = $("first-server").value.trim();
  const token = $("first-token").value.trim();
  if (!server) setRefusal($("first-server"), $("first-server-error"), "the address of the server is missing");
  if (!token) setRefusal($("first-token"), $("first-token-error"), "the token is missing");
  if (!server || !token) return (server ? $("first-token") : $("first-server")).focus();
  setText($("first-provision"), "Asking the server…");
  try {
    await request("PUT", "/api/v1/settings", { serverURL: server, token });
    $("first-token").value = "";
    vibrate("success");
    tell("This device has an identity.", "good");
    $("vpn-toggle").focus();
  } catch (error) {
    refuse(error, fields, "first-error");
  } finally {
    setText($("first-provision"), "Provision");
  }
}

/** Fills in the server that is set already, unless something is typed. */
export async function prepareFirstRun() {
  if ($("first-server").value || document.activeElement === $("first-server")) return;
  const answer = await request("GET", "/api/v1/settings").catch(() => null);
  if (!$("first-server").value) $("first-server").value = answer?.settings.serverURL ?? "";
}

function clearRefusals(fields, generalID) {
  for (const id of Object.values(fields)) setRefusal($(id), $(`${id}-error`), "");
  setRefusal(null, $(generalID), "");
}

/** Shows a refusal at the field that is to blame, which gets the focus, else below all of them. */
function refuse(error, fields, generalID) {
  vibrate("error");
  const aboutToken = ["unauthorized", "decryption-failed"].includes(error.code);
  const id = fields[error.field ?? (aboutToken ? "token" : "")];
  if (!id) return setRefusal(null, $(generalID), error.message);
  setRefusal($(id), $(`${id}-error`), aboutField(error));
  $(id).focus();
}

/** The agent's sentence, which begins with the name of the field; here its place says which one it is. */
function aboutField({ field, message }) {
  return field && message.startsWith(`${field}: `) ? `It ${message.slice(field.length + 2)}` : message;
}

// MARK: Export

function startExport() {
  onPress($("export-config"), () => togglePanel($("export-config"), $("export-panel"), $("export-passphrase")));
  $("export-show").addEventListener("change", () => {
    $("export-passphrase").type = $("export-show").checked ? "text" : "password";
  });
  onSubmit($("export-panel"), $("export-download"), async () => {
    const passphrase = $("export-passphrase").value;
    setRefusal($("export-passphrase"), $("export-error"), "");
    try {
      const config = passphrase
        ? await request("POST", "/api/v1/config/export", { passphrase })
        : await request("GET", "/api/v1/config");
      download(passphrase ? "nexusguard-export.json" : "nexusguard-config.json", config);
      closePanel($("export-config"), $("export-panel"));
      $("export-passphrase").value = "";
      $("export-config").focus();
      vibrate("success");
      tell(passphrase ? "The encrypted configuration is downloaded." : "The configuration is downloaded, without its keys.", "good");
    } catch (error) {
      vibrate("error");
      setRefusal(error.field === "passphrase" ? $("export-passphrase") : null, $("export-error"), error.field === "passphrase" ? aboutField(error) : error.message);
      $("export-passphrase").focus();
    }
  });
}

function download(name, document) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(document, null, 2) + "\n"], { type: "application/json" }));
  link.download = name;
  link.click();
  // The browser has taken its copy long before.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// MARK: Import

function startImport() {
  onPress($("import-config"), () => $("import-file").click());
  $("import-file").addEventListener("change", async () => {
    const [file] = $("import-file").files;
    if (!file) return;
    openImport(`From the file ${file.name}`, false);
    if (file.size > largestImport) setRefusal(null, $("import-error"), "the file has more than 512 KiB and cannot be a configuration");
    else await preview(await file.text());
    // So that the same file can be chosen again after it was mended.
    $("import-file").value = "";
  });
  onPress($("paste-config"), () => {
    if (!$("paste-panel").hidden && !$("paste-field").hidden) {
      forgetImport();
    } else {
      openImport("Paste a configuration", true);
      $("paste-text").focus();
    }
  });
  onSubmit($("paste-panel"), $("preview-config"), () => preview($("paste-field").hidden ? pending?.content ?? "" : $("paste-text").value));
  onPress($("apply-config"), apply);
  onPress($("cancel-config"), cancelImport);
}

function openImport(title, isPaste) {
  forgetImport();
  setText($("paste-title"), title);
  $("paste-field").hidden = !isPaste;
  $("preview-config").hidden = !isPaste;
  openPanel($("paste-config"), $("paste-panel"));
}

/** Asks the agent what an import would change, and shows it. Nothing is changed yet. */
async function preview(content) {
  pending = { content };
  if ($("import-passphrase").value) pending.passphrase = $("import-passphrase").value;
  const field = () => ($("passphrase-field").hidden ? $("paste-text") : $("import-passphrase"));
  $("preview").hidden = true;
  setRefusal(field(), $("import-error"), "");
  try {
    showPreview(await request("POST", "/api/v1/config/preview", pending));
  } catch (error) {
    vibrate("error");
    if (error.field === "passphrase") {
      $("passphrase-field").hidden = false;
      $("preview-config").hidden = false;
    }
    const isMissing = error.field === "passphrase" && !pending.passphrase;
    const text = error.field === "passphrase" ? aboutField(error) : error.message;
    setRefusal(field(), $("import-error"), isMissing ? "the export is encrypted: give its passphrase" : text);
    field().focus();
  }
}

function showPreview(answer) {
  setText($("preview-depth"), answer.changes.length === 0 ? depths.none : depths[answer.depth] ?? "");
  $("preview-changes").replaceChildren(...answer.changes.map((change) => {
    const group = make("div");
    group.append(make("dt", "", fieldNames[change.field] ?? change.field));
    if (change.from) group.append(value("del", "-", "now", change.from));
    if (change.to) group.append(value("ins", "+", "then", change.to));
    return group;
  }));
  $("preview-notes").replaceChildren(...answer.notes.map((note) => make("li", "", `note: ${note}`)));
  setRefusal(null, $("apply-error"), "");
  $("apply-config").hidden = answer.changes.length === 0;
  setText($("cancel-config"), answer.changes.length === 0 ? "Close" : "Cancel");
  $("preview").hidden = false;
  $("preview-title").focus();
  $("preview").scrollIntoView({ block: "nearest" });
}

/** A value before or after, told apart by a sign and for screen readers by a word. */
function value(name, sign, word, text) {
  const definition = make("dd");
  const mark = make(name, "", `${sign} `);
  mark.append(make("span", "unseen", `${word}: `), text);
  definition.append(mark);
  return definition;
}

/** How often the agent has taken a configuration back since it started. */
const rollbacks = async () => (await request("GET", "/api/v1/status")).counters.rollbacks;

async function apply() {
  try {
    const before = await rollbacks();
    await request("PUT", "/api/v1/config", pending);
    // The server's next answer may have put the old one back in its place before this one was answered.
    if (await rollbacks() > before) throw new Error("It did not work, and was taken back");
    const isFile = $("paste-field").hidden;
    forgetImport();
    vibrate("success");
    tell("The configuration is applied.", "good");
    (isFile ? $("import-config") : $("paste-config")).focus();
  } catch (error) {
    vibrate("error");
    setRefusal(null, $("apply-error"), error.message);
  }
}

/** Puts an import away without applying it; returns whether there was one. */
export function cancelImport() {
  if ($("paste-panel").hidden) return false;
  const isFile = $("paste-field").hidden;
  forgetImport();
  (isFile ? $("import-config") : $("paste-config")).focus();
  return true;
}

/** What was pasted or read may hold keys: nothing of it stays in the page. */
function forgetImport() {
  pending = null;
  $("paste-text").value = "";
  $("import-passphrase").value = "";
  $("passphrase-field").hidden = true;
  $("preview").hidden = true;
  $("preview-changes").replaceChildren();
  setRefusal($("paste-text"), $("import-error"), "");
  setRefusal($("import-passphrase"), $("import-error"), "");
  closePanel($("paste-config"), $("paste-panel"));
}

// MARK: Panels that a button opens

function togglePanel(button, panel, first) {
  if (!panel.hidden) return closePanel(button, panel);
  openPanel(button, panel);
  first.focus();
}

function openPanel(button, panel) {
  panel.hidden = false;
  setAttribute(button, "aria-expanded", "true");
}

function closePanel(button, panel) {
  panel.hidden = true;
  setAttribute(button, "aria-expanded", "false");
}
