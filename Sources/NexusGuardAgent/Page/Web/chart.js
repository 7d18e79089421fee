// SPDX-License-Identifier: MIT
//
// The picture of the tunnel: throughput in both directions and the age of the handshake over the last 10 minutes,
// and the same in a sentence.

import { agentNow } from "./api.js";
import { $, setText } from "./dom.js";
import { instant, rate, span } from "./words.js";

const length = 600_000;
/** The agent takes a sample every 5 s: where more than three are missing there is a gap, not a line. */
const longestStep = 20_000;
/** The agent calls a handshake stale after this many seconds. */
const staleAfter = 180;

/** Samples as `{time, received, sent, age}`: milliseconds, bytes a second since the one before, seconds. */
let samples = [];
let previous = null;
/** The width and the size of text that the picture was drawn for. */
let drawnFor = "";

/** Draws anew whenever the picture gets another width or size of text. */
export function startChart() {
  // With the next frame: what an observer changes itself it would have to observe again.
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (measures() !== drawnFor) draw();
  })).observe($("chart"));
}

/** Reads the samples that the agent has kept. */
export function loadSamples(list) {
  samples = [];
  previous = null;
  for (const sample of list) take(sample);
  draw();
}

/** Adds a sample of the stream. */
export function addSample(sample) {
  take(sample);
  draw();
}

function take({ time, received, sent, handshakeAge }) {
  const at = instant(time);
  if (at === null || (previous && at <= previous.at)) return;
  const step = previous ? at - previous.at : Infinity;
  // The first one of a series says how much, not how fast.
  const perSecond = (now, before) => (step > longestStep ? null : (Math.max(0, now - before) * 1000) / step);
  samples.push({
    time: at,
    received: previous && perSecond(received, previous.received),
    sent: previous && perSecond(sent, previous.sent),
    age: handshakeAge ?? null,
  });
  previous = { at, received, sent };
  samples = samples.filter((item) => item.time > at - length - longestStep);
}

/** Draws what there is; also called as time goes by, since the picture moves with it. */
export function draw() {
  const now = agentNow();
  samples = samples.filter((sample) => sample.time > now - length);
  const svg = $("chart").querySelector("svg");
  const isEmpty = samples.length < 2;
  svg.toggleAttribute("hidden", isEmpty);
  setText($("chart-sentence"), isEmpty ? "Nothing to draw yet: the picture begins when the tunnel is up." : sentence());
  const width = $("chart").clientWidth;
  drawnFor = measures();
  // A hidden panel has no width.
  if (isEmpty || width < 40) return;
  paint(svg, width, now);
}

const measures = () => `${$("chart").clientWidth} ${getComputedStyle($("chart")).fontSize}`;

function sentence() {
  const latest = samples.at(-1);
  const most = (key) => Math.max(0, ...samples.map((sample) => sample[key] ?? 0));
  const flow = (key, verb) => `${verb} ${rate(latest[key] ?? 0)} now and ${rate(most(key))} at most`;
  const handshake = latest.age === null ? "there was no handshake yet" : `the last handshake was ${span(latest.age)} ago`;
  const reach = span(Math.round((latest.time - samples[0].time) / 60_000) * 60);
  const start = reach === "0 s" ? "In the last minute" : `In the last ${reach}`;
  return `${start}: ${flow("received", "received")}, ${flow("sent", "sent")}; ${handshake}.`;
}

// MARK: Drawing

function paint(svg, width, now) {
  const textSize = parseFloat(getComputedStyle(svg).fontSize);
  const line = Math.ceil(textSize * 1.5);
  // Room for the longest label, such as `500 kB/s`, in a font whose letters are 0.61 of its size wide.
  const left = Math.ceil(textSize * 0.61 * 9) + 4;
  const flowHeight = 84;
  const ageHeight = 36;
  const flowTop = line * 1.25;
  const ageTop = flowTop + flowHeight + line * 1.75;
  const height = ageTop + ageHeight + line * 1.25;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);

  const x = (time) => left + ((time - now + length) / length) * (width - left - 2);
  const place = (top, size, limit) => (value) => top + size - (Math.min(value, limit) / limit) * size;
  const top = niceLimit(Math.max(1000, ...samples.map((sample) => Math.max(sample.received ?? 0, sample.sent ?? 0))));
  const oldest = Math.max(staleAfter + 20, ...samples.map((sample) => sample.age ?? 0));
  const flow = place(flowTop, flowHeight, top);
  const age = place(ageTop, ageHeight, oldest);

  const parts = [];
  for (const value of [0, top / 2, top]) parts.push(...rule(flow(value), left, width, rate(value), textSize));
  parts.push(...rule(age(0), left, width, "0 s", textSize), ...rule(age(staleAfter), left, width, "180 s", textSize, "limit"));
  // The middle one only where the three have room.
  for (const minutes of width - left > textSize * 16 ? [10, 5, 0] : [10, 0]) {
    const anchor = { 10: "start", 5: "middle", 0: "end" }[minutes];
    const name = minutes === 0 ? "now" : `-${minutes} min`;
    parts.push(text(x(now - minutes * 60_000), height - 3, name, anchor));
  }
  for (const run of runs("received")) {
    const [first, final] = [run[0], run.at(-1)];
    parts.push(element("path", { class: "area", d: `${path(run, "received", x, flow)}L${x(final.time)} ${flow(0)}L${x(first.time)} ${flow(0)}Z` }));
  }
  for (const [key, scale] of [["received", flow], ["sent", flow], ["age", age]]) {
    for (const run of runs(key)) parts.push(element("path", { class: key, d: path(run, key, x, scale) }));
  }
  parts.push(...legend(line, textSize), text(0, ageTop - line * 0.6, "Handshake age"));
  svg.replaceChildren(...parts);
}

/** Sample lines before their names, told apart by their dashes too. */
function legend(line, textSize) {
  const middle = line * 0.5;
  const items = [];
  let start = 0;
  for (const [key, name] of [["received", "Received"], ["sent", "Sent"]]) {
    items.push(element("path", { class: key, d: `M${start} ${middle}h22` }), text(start + 28, middle + textSize * 0.35, name));
    start += 28 + textSize * 0.61 * (name.length + 2);
  }
  return items;
}

/** A line of the grid with its value. */
function rule(y, left, width, label, textSize, kind = "grid") {
  return [
    element("path", { class: kind, d: `M${left} ${y}H${width}` }),
    text(left - 6, y + textSize * 0.35, label, "end"),
  ];
}

/** The series of samples that have a value, cut where samples are missing. */
function runs(key) {
  const result = [];
  let run = [];
  for (const sample of samples) {
    const isGap = run.length > 0 && sample.time - run.at(-1).time > longestStep;
    if (isGap || sample[key] === null) {
      if (run.length > 1) result.push(run);
      run = [];
    }
    if (sample[key] !== null) run.push(sample);
  }
  return run.length > 1 ? [...result, run] : result;
}

function path(run, key, x, y) {
  return run.map((sample, index) => `${index === 0 ? "M" : "L"}${x(sample.time).toFixed(1)} ${y(sample[key]).toFixed(1)}`).join("");
}

/** The least of 1, 2 or 5 times a power of ten that is not below a value. */
function niceLimit(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= value);
}

function text(x, y, content, anchor = "start") {
  const result = element("text", { x, y, "text-anchor": anchor });
  result.textContent = content;
  return result;
}

function element(name, attributes) {
  const result = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
  return result;
}
