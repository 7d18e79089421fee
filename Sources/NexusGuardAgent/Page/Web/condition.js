// SPDX-License-Identifier: MIT
//
// What the state of the agent means, in one word for programs and in sentences for people.
// Nothing here touches the document.

/** What people are shown of each state. */
const words = {
  disconnected: "Disconnected",
  connecting: "Connecting",
  connected: "Connected",
  failed: "Failed",
};

/** What the agent is doing, where its reason does not say it. */
const phases = {
  BOOT: "starting",
  APP_INIT: "looking for a stored configuration",
  PROVISION: "asking the server for an identity",
  APP_RETRY: "waiting before the next try",
  TUNNEL_UP: "waiting for the first handshake",
  TUNNEL_REBUILD: "changing the running tunnel",
};

/**
 * What to do, by the code of a reason or of an item of health: the word for the condition where it has one of its own, a
 * title, the advice, and whether trying again at once or the settings can help.
 */
const helps = {
  stopped: {
    title: "The tunnel is off",
    text: "Turn the switch on to bring it up.",
  },
  "not-provisioned": {
    word: "not-provisioned",
    title: "Set this device up",
    text: "Paste the address of the control server and the token that its administrator made for this device.",
  },
  offline: {
    word: "offline",
    title: "No network",
    text: "Connect this host to a network. The agent goes on by itself as soon as a route appears.",
    retry: true,
  },
  "captive-portal": {
    word: "captive-portal",
    title: "Log in to this network",
    text: "A login page answers in place of the server, as in hotels and trains. Open any web site in a browser on this host, log in there, then try again.",
    retry: true,
  },
  "clock-skew": {
    word: "clock-skew",
    title: "Set the clock of this host",
    text: "The server refuses requests whose time is far from its own. Turn on the synchronisation of time on this host: timedatectl set-ntp true",
    retry: true,
  },
  "heartbeat-failed": {
    word: "server-unreachable",
    title: "The control server cannot be reached",
    text: "The agent keeps asking and goes on with what it has. If this lasts, check the server's address in the settings, and whether the server runs.",
    retry: true,
    settings: true,
  },
  "provisioning-failed": {
    word: "server-unreachable",
    title: "The control server cannot be reached",
    text: "The agent keeps asking. If this lasts, check the server's address, and whether the server runs.",
    retry: true,
    settings: true,
  },
  "server-rejected": {
    word: "server-unreachable",
    title: "The control server has a fault",
    text: "The agent keeps asking. If this lasts, tell the server's administrator what is written here.",
    retry: true,
  },
  "rate-limited": {
    word: "server-unreachable",
    title: "The control server is busy",
    text: "Nothing is to be done: the agent asks again when the server allows it.",
  },
  tls: {
    word: "server-unreachable",
    title: "The control server's certificate is not trusted",
    text: "Check the server's address in the settings. A server with a certificate of its own needs ca_file in /etc/nexusguard/agent.conf.",
    retry: true,
    settings: true,
  },
  "handshake-stale": {
    word: "handshake-stale",
    title: "The other end of the tunnel is silent",
    text: "The agent keeps trying and looks the server up anew. If this lasts, check that no firewall stops UDP to the endpoint, and whether the server runs.",
    retry: true,
  },
  "handshake-timeout": {
    title: "The other end of the tunnel does not answer",
    text: "The agent keeps trying. If this lasts, check that no firewall stops UDP to the endpoint, and whether the server runs.",
    retry: true,
  },
  unauthorized: {
    title: "The server refuses this device",
    text: "Ask the server's administrator for a new token and enter it as the registration token.",
    settings: true,
  },
  revoked: {
    title: "The server has removed this device",
    text: "To join again, ask the server's administrator for a new token and enter it as the registration token.",
    settings: true,
  },
  "decryption-failed": {
    title: "The server's answer does not fit this device",
    text: "The token may have been made for another host. Ask the server's administrator for a new one and enter it as the registration token.",
    settings: true,
  },
  "identity-mismatch": {
    title: "The server answers for another device",
    text: "This device keeps its own identity. Tell the server's administrator what is written here.",
    retry: true,
  },
  "config-invalid": {
    title: "A configuration cannot be used",
    text: "The agent goes on with what it has. Correct the field that is named above, or tell the server's administrator.",
    retry: true,
    settings: true,
  },
  "tunnel-failed": {
    title: "The tunnel cannot be brought up",
    text: "The agent needs /dev/net/tun and the right to change the network (CAP_NET_ADMIN). The log has more.",
    retry: true,
  },
  "rolled-back": {
    title: "A new configuration did not work",
    text: "The one before it is in use again. Tell the server's administrator.",
  },
  "secret-store": {
    title: "The agent cannot store anything",
    text: "Check that the disk is not full and that /var/lib/nexusguard can be written.",
  },
  "store-unusable": {
    title: "A stored file cannot be used",
    text: "What is written here says which one it is and what helps.",
  },
  "store-degraded": {
    title: "The agent cannot store anything",
    text: "It goes on, but forgets its identity with the next start of the host. Check that the disk is not full and that /var/lib/nexusguard can be written.",
  },
  "machine-id-changed": {
    title: "This disk seems to be a copy",
    text: "Two hosts with one identity disturb each other. On a copy run: nexusguard reset",
  },
};
helps["network-offline"] = helps.offline;

/** What to do about a code; `null` when nothing is known that helps. */
export const helpFor = (code) => helps[code] ?? null;

/**
 * What the page shows.
 *
 * Without an answer of the agent the last snapshot counts no longer: it says what was, not what is.
 *
 * @param snapshot The agent's snapshot; `null` before the first.
 * @param isReachable Whether the agent answers.
 * @returns `condition` the exact state in a word, `state` the one of the palette, `word` it for people, `detail` why,
 *   `code` the reason that `help` is for, `help` what to do or `null`.
 */
export function describe(snapshot, isReachable) {
  if (!isReachable || !snapshot) {
    return {
      condition: isReachable ? "starting" : "agent-gone",
      state: "disconnected",
      word: isReachable ? "Starting" : "Agent not reachable",
      detail: isReachable ? "" : "whether the tunnel is up is not known",
      code: "agent-gone",
      help: isReachable ? null : {
        title: "The agent does not answer",
        text: "It may have been stopped, or the way to it is broken. Start the service nexusguard-agent on its host; this page then goes on by itself.",
        retry: true,
      },
    };
  }
  const { state, phase, reason } = snapshot;
  const code = leadingCode(snapshot);
  const help = code ? helpFor(code) : null;
  return {
    condition: conditionOf(snapshot, help),
    state,
    word: words[state] ?? state,
    detail: detailOf(snapshot, code),
    code,
    help,
  };
}

/** Why the state is as it is, in the agent's own words where it has some. */
function detailOf({ state, phase, reason, health }, code) {
  if (code === "not-provisioned") return "there is no identity yet";
  const item = reason ?? health.find((item) => item.code === code);
  return item?.text || item?.code || (state === "connected" ? "" : phases[phase] ?? "");
}

/** The code of what matters most: the reason, and while the tunnel is as wanted the first item of health. */
function leadingCode({ state, phase, provisioned, reason, health }) {
  if (!provisioned && phase === "STOPPED" && (reason?.code ?? "stopped") === "stopped") return "not-provisioned";
  if (reason) return reason.code;
  if (state !== "connected") return null;
  return health.find((item) => helpFor(item.code))?.code ?? null;
}

function conditionOf({ state, phase, provisioned }, help) {
  if (help?.word) return help.word;
  if (phase === "BOOT") return "starting";
  if (phase === "STOPPED") return provisioned ? "stopped" : "not-provisioned";
  if (phase === "PROVISION" || (phase === "APP_INIT" && !provisioned)) return "provisioning";
  if (state === "failed") return "failed";
  if (phase === "APP_RETRY") return "retrying";
  return state === "connected" ? "connected" : "connecting";
}
