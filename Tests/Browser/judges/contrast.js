// SPDX-License-Identifier: MIT
// Computes the contrast of every text with what is behind it (WCAG 2.2, definitions of contrast ratio and relative
// luminance), with translucent colours, backgrounds and groups laid over each other as they are painted.

const LEAST_CONTRAST = 4.5;

const colourCanvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const colourCache = new Map();

/** Any colour of CSS as red, green, blue of 0 to 255 and alpha of 0 to 1. */
function colourOf(text) {
    if (!colourCache.has(text)) {
        const match = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
        if (match) {
            colourCache.set(text, [...match.slice(1, 4).map(Number), match[4] === undefined ? 1 : Number(match[4])]);
        } else {
            colourCanvas.clearRect(0, 0, 1, 1);
            colourCanvas.fillStyle = text;
            colourCanvas.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = colourCanvas.getImageData(0, 0, 1, 1).data;
            colourCache.set(text, [red, green, blue, alpha / 255]);
        }
    }
    return colourCache.get(text);
}

/** `colour` painted on the opaque `ground`. */
function over(colour, ground) {
    return [0, 1, 2].map((index) => colour[index] * colour[3] + ground[index] * (1 - colour[3]));
}

function mixed(colour, ground, opacity) {
    return over([...colour, opacity], ground);
}

function luminance(colour) {
    const [red, green, blue] = colour.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(first, second) {
    const [high, low] = [luminance(first), luminance(second)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
}

/** The colours that an element may paint behind what it holds: one, or those of a gradient. */
function grounds(element) {
    const style = getComputedStyle(element);
    if (element.ownerSVGElement) {
        const fill = style.fill === "none" ? [0, 0, 0, 0] : [...colourOf(style.fill)];
        fill[3] *= Number(style.fillOpacity);
        return [element.matches("rect, path, circle, ellipse, polygon") ? fill : [0, 0, 0, 0]];
    }
    const plain = colourOf(style.backgroundColor);
    if (style.backgroundImage === "none") return [plain];
    if (style.backgroundImage.includes("url(")) return null;
    const stops = style.backgroundImage.match(/(?:rgba?|hsla?|color|oklab|oklch|lab|lch)\([^()]*\)/g) || [];
    return stops.map((stop) => colourOf(stop)).map((stop) => {
        // Two layers of one element as one.
        const alpha = stop[3] + plain[3] * (1 - stop[3]);
        if (alpha === 0) return [0, 0, 0, 0];
        const part = [0, 1, 2].map((index) => (stop[index] * stop[3] + plain[index] * plain[3] * (1 - stop[3])) / alpha);
        return [...part, alpha];
    });
}

/** What lies behind an element where it is seen, the outermost first: its ancestors, and what else is painted there. */
function layersBehind(element, box) {
    const line = [...ancestors(element)].reverse();
    line.push(element);
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const stack = document.elementsFromPoint(x, y).reverse();
    const place = stack.findIndex((at) => at === element || element.contains(at));
    if (place < 0) return line;
    // Siblings that are positioned under the element come where they are painted.
    const strangers = stack.slice(0, place).filter((at) => !at.contains(element) && !element.contains(at));
    for (const stranger of strangers) {
        const above = stack.slice(stack.indexOf(stranger) + 1).find((at) => at.contains(element));
        line.splice(above ? line.indexOf(above) : line.length - 1, 0, stranger);
    }
    return line;
}

/** The least contrast of a colour on an element, or `null` when a picture is behind it. */
function leastContrast(element, box, colour, pseudo) {
    const layers = layersBehind(element, box);
    const canvas = colourOf(getComputedStyle(document.documentElement).colorScheme.includes("dark")
        ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)");
    let least = Infinity;
    let unknown = false;
    function paint(index, ground) {
        if (index === layers.length) {
            let behind = ground;
            if (pseudo) behind = over(colourOf(pseudo.backgroundColor), ground);
            const opacity = pseudo ? Number(pseudo.opacity) : 1;
            return [[mixed(over(colour, behind), ground, opacity), mixed(behind, ground, opacity)]];
        }
        const at = layers[index];
        const found = grounds(at);
        if (!found) {
            unknown = true;
            return [];
        }
        const opacity = Number(getComputedStyle(at).opacity);
        const isAround = at === element || at.contains(element);
        const results = [];
        for (const own of found) {
            if (!isAround) {
                results.push(...paint(index + 1, mixed(over(own, ground), ground, opacity)));
                continue;
            }
            for (const [text, behind] of paint(index + 1, over(own, ground))) {
                results.push([mixed(text, ground, opacity), mixed(behind, ground, opacity)]);
            }
        }
        return results;
    }
    for (const [text, behind] of paint(0, canvas)) least = Math.min(least, ratio(text, behind));
    return unknown ? null : least;
}

/** All texts with their colours: lines, values and hints of fields, and what style sheets add. */
function colouredTexts() {
    const texts = textLines().map(({ element, box, text, node }) => {
        const style = getComputedStyle(element);
        const colour = element.ownerSVGElement ? style.fill : style.webkitTextFillColor;
        return { element, box, node, text, colour };
    });
    for (const { element, box } of controls()) {
        if (!element.matches("input, textarea, select")) continue;
        if (element.matches("[type=checkbox], [type=radio], [type=range], [type=file], [type=hidden]")) continue;
        if (element.placeholder && !element.value) {
            const style = getComputedStyle(element, "::placeholder");
            texts.push({ element, box, text: element.placeholder, colour: style.color, pseudo: style });
        } else {
            texts.push({ element, box, text: "value", colour: getComputedStyle(element).webkitTextFillColor });
        }
    }
    for (const element of stage().querySelectorAll("*")) {
        for (const name of ["::before", "::after"]) {
            const pseudo = getComputedStyle(element, name);
            const words = /^"(.*)"/.exec(pseudo.content);
            if (!words || !words[1].trim() || pseudo.display === "none" || !isSeen(element)) continue;
            const box = element.getBoundingClientRect();
            texts.push({ element, box, text: `${name} ${words[1]}`, colour: pseudo.color, pseudo });
        }
    }
    return texts;
}

/** Sentences about every text with too little contrast; `smallest` is the least of all. */
function contrastFaults() {
    const faults = new Set();
    let smallest = Infinity;
    let count = 0;
    const place = [scrollX, scrollY];
    for (const { element, box, node, text, colour, pseudo } of colouredTexts()) {
        let here = box;
        if (box.top < 0 || box.bottom > innerHeight) {
            element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
            const range = document.createRange();
            range.selectNodeContents(node || element);
            here = range.getClientRects()[0] || element.getBoundingClientRect();
        }
        const found = leastContrast(element, here, colourOf(colour), pseudo);
        count += 1;
        if (found === null) {
            faults.add(`'${text.slice(0, 40)}' of ${nameOf(element)} stands on a picture`);
            continue;
        }
        smallest = Math.min(smallest, found);
        if (found < LEAST_CONTRAST) {
            faults.add(`'${text.slice(0, 40)}' of ${nameOf(element)} has a contrast of ${found.toFixed(2)} (${colour})`);
        }
    }
    scrollTo({ left: place[0], top: place[1], behavior: "instant" });
    return { faults: [...faults], smallest, count };
}
