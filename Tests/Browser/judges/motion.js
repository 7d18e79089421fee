// SPDX-License-Identifier: MIT
// Finds what moves, or would.

/** All elements and pseudo-elements with a transition or an animation that takes time. */
function motionFaults() {
    const faults = new Set();
    for (const element of document.querySelectorAll("*")) {
        for (const pseudo of [null, "::before", "::after"]) {
            const style = getComputedStyle(element, pseudo);
            const isLong = (list) => list.split(",").some((text) => parseFloat(text) > 0);
            const title = nameOf(element) + (pseudo || "");
            if (isLong(style.transitionDuration) && style.transitionProperty !== "none") {
                faults.add(`${title} has a transition of ${style.transitionDuration}`);
            }
            if (style.animationName !== "none" && isLong(style.animationDuration)) {
                faults.add(`${title} has an animation of ${style.animationDuration}`);
            }
        }
        if (getComputedStyle(element).scrollBehavior === "smooth") faults.add(`${nameOf(element)} scrolls smoothly`);
    }
    for (const animation of document.getAnimations()) {
        faults.add(`${animation.effect && animation.effect.target ? nameOf(animation.effect.target) : "something"} moves`);
    }
    return [...faults];
}
