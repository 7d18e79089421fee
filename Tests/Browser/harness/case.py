# SPDX-License-Identifier: MIT
"""What all tests with the page have in common."""

import os
import unittest

from .chromium import SIZES, USUAL
from .page import COLOURS
from .world import World

# Values of unknown length end in an ellipsis: the design has each row on one line.
MAY_ELLIPSIZE = ".value, .value a"
# A condition that passes by itself is made anew when it does while it is looked at.
MOST_MAKINGS = 6


class PageCase(unittest.TestCase):
    """A test that ends without a complaint of the browser."""

    # Failed requests are complaints too, except where the agent is stopped or refuses on purpose.
    expects_failed_requests = False
    smallest_contrast = float("inf")

    @property
    def world(self):
        return World.shared

    def setUp(self):
        self.chromium, self.control = self.world.chromium, self.world.control
        self.agent = self.find_agent()
        self.page = self.world.page_of(self.agent)
        self.chromium.resize(USUAL)
        self.chromium.complaints(network=True)
        self.addCleanup(self.complain)

    def find_agent(self):
        return self.world.agent

    def complain(self):
        self.assertEqual(self.chromium.complaints(network=not self.expects_failed_requests), [])

    def connected_page(self, **options):
        """The page of an agent that is connected and well."""
        self.agent.connect()
        self.page.open(**options)
        self.page.wait_condition("connected")
        return self.page

    def faults_here(self, name):
        """The faults of layout and contrast at the present size, after a screenshot."""
        size = self.chromium.size
        self.chromium.screenshot(os.path.join(self.world.screenshots, f"{name}-{size}.png"))
        contrast = self.chromium.contrast_faults()
        PageCase.smallest_contrast = min(PageCase.smallest_contrast, contrast["smallest"])
        self.assertGreater(contrast["count"], 0, f"{name}: no text")
        return [f"{name} at {size}: {fault}"
                for fault in self.chromium.layout_faults(MAY_ELLIPSIZE) + contrast["faults"]]

    def assertLooksWell(self, name, sizes=SIZES, condition=None, make=None):
        """Takes a screenshot at each size and finds no fault.

        With a `condition`, the page is in it before and after each look; `make` brings it back where it passes.
        """
        faults = []
        for size in sizes:
            self.chromium.resize(size)
            for _ in range(MOST_MAKINGS):
                if condition and self.page.condition() != condition:
                    if make:
                        make()
                    self.page.wait_condition(condition)
                found = self.faults_here(name)
                if not condition or self.page.condition() == condition:
                    break
            else:
                self.fail(f"{condition} does not last long enough to be looked at")
            faults += found
        self.chromium.resize(USUAL)
        self.assertEqual(faults, [])

    def assertShows(self, state, word=None, advice=None, countdown=None):
        """The card says a state in the colour of the palette; there is advice, and a countdown, or there is none."""
        page = self.page
        self.assertEqual(page.state(), state)
        self.assertIn(word or state.capitalize(), page.text("#status-text"))
        self.chromium.judged("null")
        colour = self.chromium.script("return getComputedStyle(document.querySelector('#status-text')).color;")
        self.assertEqual(colour, COLOURS[state])
        if advice is not None:
            self.assertEqual(page.is_shown("#advice"), bool(advice))
            if advice:
                self.assertRegex(page.text("#advice"), advice)
        if countdown is not None:
            self.assertEqual(bool(page.text("#countdown")), countdown)
