// SPDX-License-Identifier: MIT
//
// Numbers and times as people read them; spans and bytes are written as the command line writes them.

/** A span, in its two largest units: `12 s`, `3 min 5 s`, `2 h 5 min`, `4 d 3 h`. */
export function span(seconds) {
  const total = Math.floor(Math.max(0, seconds));
  const two = (high, highUnit, low, lowUnit) =>
    low === 0 ? `${high} ${highUnit}` : `${high} ${highUnit} ${low} ${lowUnit}`;
  if (total < 60) return `${total} s`;
  if (total < 3600) return two(Math.floor(total / 60), "min", total % 60, "s");
  if (total < 86400) return two(Math.floor(total / 3600), "h", Math.floor(total / 60) % 60, "min");
  return two(Math.floor(total / 86400), "d", Math.floor(total / 3600) % 24, "h");
}

/** A span in its largest unit, where there is no room for two. */
export const roughSpan = (seconds) => span(seconds).split(" ", 2).join(" ");

/** How long ago something was; both in milliseconds. */
export function age(time, now) {
  const seconds = (now - time) / 1000;
  return seconds < 1 ? "now" : `${span(seconds)} ago`;
}

/** A number of bytes with a unit: `512 B`, `1.2 MiB`. */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  let value = count / 1024;
  let unit = 0;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  // What rounds to 1024 of one unit is 1.0 of the next.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** Bytes a second: `512 B/s`, `1.2 kB/s`, `34 MB/s`. */
export function rate(value) {
  for (const [unit, size] of [["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3]]) {
    // What rounds to 1000 of one unit is 1.0 of the next.
    if (value >= size * 0.9995) return `${trimmed(value / size)} ${unit}`;
  }
  return `${Math.round(value)} B/s`;
}

function trimmed(value) {
  return value >= 99.95 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}

/** A sentence of the agent with a large first letter, where it begins with a word and not with a name or a path. */
export const sentence = (text) => (/^[a-z]+(?=[ ;,'’-])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);

/** The local time of day, `HH:MM:SS`. */
export function timeOfDay(time) {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** An instant of the agent's JSON in milliseconds; `null` when there is none. */
export function instant(text) {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}
