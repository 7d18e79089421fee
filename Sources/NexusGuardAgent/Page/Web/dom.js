// SPDX-License-Identifier: MIT
//
// The few things that every part of the page does with its document.

import { sentence } from "./words.js";

/** The element with an identifier. */
export const $ = (id) => document.getElementById(id);

/** A new element with a class and a text. */
export function make(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Sets a text only where it differs, so that live regions speak once and a selection is kept. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute only where it differs; `null` takes it away. */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Lets a control do nothing while it keeps its place in the order of the keyboard, with the reason as its description.
 * The control's own description comes back with `null`.
 */
export function setDisabled(element, reasonID) {
  element.dataset.description ??= element.getAttribute("aria-describedby") ?? "";
  const description = [...new Set([reasonID, element.dataset.description])].filter(Boolean).join(" ");
  setAttribute(element, "aria-disabled", reasonID ? "true" : null);
  setAttribute(element, "aria-describedby", description || null);
}

/** Whether a control is to do nothing. */
export const isDisabled = (element) => element.getAttribute("aria-disabled") === "true";

/**
 * Runs an action of a button once at a time.
 *
 * Until it is done the button is busy; a second press then has no effect.
 */
export function onPress(button, action) {
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    await once(button, action);
  });
}

/** As `onPress`, for the button that sends a form. */
export function onSubmit(form, button, action) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await once(button, action);
  });
}

async function once(button, action) {
  if (isDisabled(button) || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await action();
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** Shows a refusal at its field, of which an event `refusal` tells, or takes it away with an empty text. */
export function setRefusal(field, message, text) {
  setText(message, sentence(text));
  if (text) message.dispatchEvent(new Event("refusal", { bubbles: true }));
  if (field) setAttribute(field, "aria-invalid", text ? "true" : null);
}

/** The ways in which a phone can be felt; elsewhere nothing happens. */
const vibrations = { selection: 8, success: 20, error: [40, 60, 40] };

/** Vibrates, where there is something that can and the user has touched the page. */
export function vibrate(kind) {
  // Without a touch before it browsers refuse, and say so in their console.
  if (navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(vibrations[kind]);
}
