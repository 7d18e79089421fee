// SPDX-License-Identifier: MIT
// What is seen of a page: lines of text and controls, each with its box. The other judges build on it.

const CONTROLS = "button, input, select, textarea, a[href], summary, [role=button], [role=switch], [role=tab]";

/** A short name of an element for messages. */
function nameOf(element) {
    const parts = [];
    for (let at = element; at && parts.length < 3; at = at.parentElement) {
        const classes = (at.getAttribute("class") || "").trim().split(/\s+/).filter(Boolean).map((word) => "." + word);
        const row = at.dataset && at.dataset.row ? `[data-row=${at.dataset.row}]` : "";
        parts.unshift(at.localName + (at.id ? "#" + at.id : classes.join("") + row));
        if (at.id) break;
    }
    return parts.join(" > ");
}

/** The elements around an element, the innermost first. */
function* ancestors(element) {
    for (let at = element.parentElement; at; at = at.parentElement) yield at;
}

/** Whether an element is there for screen readers alone: cut down to nothing, or moved out of sight. */
function isForEarsOnly(element) {
    for (const at of [element, ...ancestors(element)]) {
        const style = getComputedStyle(at);
        if (style.clipPath.startsWith("inset(50%") || style.clipPath.startsWith("inset(100%")) return true;
        if (style.clip.startsWith("rect(") && style.position === "absolute") return true;
        const box = at.getBoundingClientRect();
        const isTiny = box.width <= 1 && box.height <= 1 && at !== document.documentElement;
        if (isTiny && style.overflowX !== "visible" && style.position === "absolute") return true;
        if (box.right < -500 || box.bottom + scrollY < -500) return true;
    }
    return false;
}

function isSeen(element) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) {
        return false;
    }
    return !element.closest("[inert]") && !isForEarsOnly(element);
}

/** The part of the page that can be used: an open modal dialog, else all of it. */
function stage() {
    return [...document.querySelectorAll("dialog:modal")].pop() || document.body;
}

/** Whether an element is one of many of its kind, of which enough were looked at already. */
function isOneOfMany(element, seen) {
    const kind = [element.localName, element.className, element.dataset && element.dataset.level].join();
    const counts = seen.get(element.parentElement) || new Map();
    seen.set(element.parentElement, counts);
    counts.set(kind, (counts.get(kind) || 0) + 1);
    return counts.get(kind) > 20;
}

/** Lines of text with what they belong to. Texts within controls that draw themselves are not among them. */
function textLines() {
    const lines = [];
    const seen = new Map();
    const walker = document.createTreeWalker(stage(), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest("script, style, template, noscript, option, textarea, title, desc")) {
            continue;
        }
        if (!isSeen(element) || isOneOfMany(element, seen)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) {
            if (box.width >= 1 && box.height >= 1) lines.push({ node, element, box, text: node.data.trim() });
        }
    }
    return lines;
}

/** The controls that are seen. */
function controls() {
    return [...stage().querySelectorAll(CONTROLS)].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.height > 0 && isSeen(element);
    }).map((element) => ({ element, box: element.getBoundingClientRect(), text: "" }));
}

/** What an element moves with: the nearest ancestor that stays in place while the page scrolls. */
function layerOf(element) {
    for (const at of [element, ...ancestors(element)]) {
        if (["fixed", "sticky"].includes(getComputedStyle(at).position)) return at;
    }
    return null;
}

/** Judges a page of which every part is laid out, also what a browser leaves out while it is out of sight. */
function laidOut(judge) {
    const lazy = [...document.querySelectorAll("*")]
        .filter((element) => getComputedStyle(element).contentVisibility === "auto");
    for (const element of lazy) element.style.setProperty("content-visibility", "visible");
    try {
        return judge();
    } finally {
        for (const element of lazy) element.style.removeProperty("content-visibility");
    }
}

/** Waits until nothing with an end moves any more; what moves for ever is let alone. */
async function stillness() {
    const ending = document.getAnimations().filter((animation) => {
        const timing = animation.effect && animation.effect.getComputedTiming();
        return timing && Number.isFinite(timing.endTime) && animation.playState === "running";
    });
    await Promise.allSettled(ending.map((animation) => animation.finished));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
