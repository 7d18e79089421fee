// SPDX-License-Identifier: MIT
// Finds what is cut off, covered, on top of something else, too wide or too small to hit.

const SMALLEST_TARGET = 24;

/** All faults of the layout, as sentences. `mayEllipsize` selects what may end in an ellipsis. */
function layoutFaults({ mayEllipsize = "" } = {}) {
    const faults = new Set();
    const lines = textLines();
    const buttons = controls();
    tooWide(faults, mayEllipsize);
    sideways(faults, mayEllipsize);
    cutOff(faults, lines, mayEllipsize);
    onTop(faults, lines, buttons);
    covered(faults, lines, buttons);
    for (const { element, box } of buttons) {
        // Links within text are as high as its lines (WCAG 2.2, 2.5.8).
        if (element.localName === "a") continue;
        // A label is a part of the target.
        const targets = [box, ...[...(element.labels || [])].map((label) => label.getBoundingClientRect())];
        const isLarge = (one) => one.width >= SMALLEST_TARGET - 0.5 && one.height >= SMALLEST_TARGET - 0.5;
        if (!targets.some(isLarge)) {
            faults.add(`${nameOf(element)} is ${box.width.toFixed(0)} by ${box.height.toFixed(0)}, hard to hit`);
        }
    }
    return [...faults];
}

function tooWide(faults, mayEllipsize) {
    const root = document.scrollingElement;
    if (root.scrollWidth > root.clientWidth) {
        faults.add(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
    }
    // Those within one that is named are not named again.
    const found = new Set();
    for (const element of stage().querySelectorAll("*")) {
        if (element.ownerSVGElement || !isSeen(element)) continue;
        // What sticks out of a line that ends in an ellipsis is not seen.
        if (mayEllipsize && element.parentElement.closest(mayEllipsize)) continue;
        if (found.has(element.parentElement)) found.add(element);
        const box = element.getBoundingClientRect();
        if (box.width < 1 || box.height < 1 || found.has(element.parentElement)) continue;
        if (box.left < -0.5 || box.right > root.clientWidth + 0.5) {
            found.add(element);
            faults.add(`${nameOf(element)} goes from ${box.left.toFixed(0)} to ${box.right.toFixed(0)} in ${root.clientWidth}`);
        }
    }
}

/** Boxes whose content is wider than they are, or higher without a way to scroll. */
function sideways(faults, mayEllipsize) {
    for (const element of stage().querySelectorAll("*")) {
        if (element.ownerSVGElement || element.matches("input, textarea, select") || !isSeen(element)) continue;
        const style = getComputedStyle(element);
        if (style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1) {
            const ends = style.textOverflow === "ellipsis" && mayEllipsize && element.matches(mayEllipsize);
            if (!ends) faults.add(`${nameOf(element)} holds ${element.scrollWidth} in a width of ${element.clientWidth}`);
        }
        if (["hidden", "clip"].includes(style.overflowY) && element.scrollHeight > element.clientHeight + 1) {
            faults.add(`${nameOf(element)} holds ${element.scrollHeight} in a height of ${element.clientHeight}`);
        }
    }
}

/** Lines that stick out of a box which cuts them off. */
function cutOff(faults, lines, mayEllipsize) {
    const isCut = (overflow) => ["hidden", "clip"].includes(overflow);
    for (const { element, box, text } of lines) {
        let { left, right, top, bottom } = box;
        for (const at of [element, ...ancestors(element)]) {
            const style = getComputedStyle(at);
            if (style.display === "inline" || at === document.documentElement || at === document.body) continue;
            const outer = at.getBoundingClientRect();
            if (style.textOverflow === "ellipsis" && mayEllipsize && at.matches(mayEllipsize)) {
                right = Math.min(right, outer.right);
            }
            // The box of a line has room for accents above and below what most letters fill.
            const slack = box.height * 0.2;
            const wide = isCut(style.overflowX) && (left < outer.left - 1 || right > outer.right + 1);
            const high = isCut(style.overflowY) && (top < outer.top - slack || bottom > outer.bottom + slack);
            if (wide || high) faults.add(`'${text.slice(0, 40)}' is cut off by ${nameOf(at)}`);
            // What is scrolled out of sight is not cut off by the boxes around.
            if (["auto", "scroll"].includes(style.overflowY)) {
                top = Math.max(top, outer.top);
                bottom = Math.min(bottom, outer.bottom);
                if (bottom <= top) break;
            }
        }
    }
}

/** What can be seen of the box of an element, or of a text in it, within the boxes around that cut off what sticks out. */
function seenPart(element, box, isText = false) {
    let { left, right, top, bottom } = box;
    for (const at of isText ? [element, ...ancestors(element)] : ancestors(element)) {
        const style = getComputedStyle(at);
        if (style.overflowX === "visible" && style.overflowY === "visible") continue;
        if (style.display === "inline") continue;
        if (at === document.documentElement || at === document.body) continue;
        const outer = at.getBoundingClientRect();
        left = Math.max(left, outer.left);
        right = Math.min(right, outer.right);
        top = Math.max(top, outer.top);
        bottom = Math.min(bottom, outer.bottom);
    }
    return right > left && bottom > top ? { left, right, top, bottom } : null;
}

function onTop(faults, lines, buttons) {
    const items = [];
    for (const item of [...lines, ...buttons]) {
        const part = seenPart(item.element, item.box, Boolean(item.node));
        if (!part) continue;
        const slack = item.node ? (part.bottom - part.top) * 0.2 : 0;
        items.push({
            ...item, layer: layerOf(item.element),
            part: { left: part.left + 1, right: part.right - 1, top: part.top + slack + 1, bottom: part.bottom - slack - 1 },
        });
    }
    for (let first = 0; first < items.length; first++) {
        for (let second = first + 1; second < items.length; second++) {
            const a = items[first], b = items[second];
            if (a.layer !== b.layer || (a.node && a.node === b.node)) continue;
            if (!(a.node && b.node) && (a.element.contains(b.element) || b.element.contains(a.element))) {
                // A control holds its own text.
                if (!a.node && a.element.contains(b.element)) continue;
                if (!b.node && b.element.contains(a.element)) continue;
            }
            const width = Math.min(a.part.right, b.part.right) - Math.max(a.part.left, b.part.left);
            const height = Math.min(a.part.bottom, b.part.bottom) - Math.max(a.part.top, b.part.top);
            if (width > 0 && height > 0) {
                const title = (item) => nameOf(item.element) + (item.node ? ` '${item.text.slice(0, 30)}'` : "");
                faults.add(`${title(a)} and ${title(b)} overlap`);
            }
        }
    }
}

/** What something unrelated lies over, wherever the page is scrolled to. */
function covered(faults, lines, buttons) {
    const place = [scrollX, scrollY];
    const inner = [...document.querySelectorAll("*")].filter((element) => element.scrollTop > 0)
        .map((element) => [element, element.scrollTop]);
    for (const item of [...lines, ...buttons]) {
        const { element } = item;
        element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
        let box = element.getBoundingClientRect();
        if (item.node) {
            const range = document.createRange();
            range.selectNodeContents(item.node);
            box = range.getClientRects()[0] || box;
        }
        const part = seenPart(element, box, Boolean(item.node));
        if (!part) continue;
        const [x, y] = [(part.left + part.right) / 2, (part.top + part.bottom) / 2];
        if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {
            faults.add(`${nameOf(element)} cannot be scrolled into the window`);
            continue;
        }
        const top = document.elementFromPoint(x, y);
        const isSame = top && (top.contains(element) || element.contains(top));
        const isLabel = top && [...(element.labels || [])].some((label) => label.contains(top));
        const isDecoration = getComputedStyle(element).pointerEvents === "none";
        if (!isSame && !isLabel && !isDecoration) {
            faults.add(`${nameOf(element)}${item.node ? ` '${item.text.slice(0, 30)}'` : ""} lies under ${top ? nameOf(top) : "nothing"}`);
        }
    }
    for (const [element, top] of inner) element.scrollTop = top;
    scrollTo({ left: place[0], top: place[1], behavior: "instant" });
}
