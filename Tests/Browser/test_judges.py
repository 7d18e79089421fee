# SPDX-License-Identifier: MIT
"""The judges of layout, contrast and motion: each must find the fault that is there, and none that is not."""

import unittest
import urllib.parse

from harness.chromium import DESKTOP, USUAL
from harness.world import World

HEAD = "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>t</title>"
GOOD = HEAD + """<style>
    body { margin: 0; background: #1A1A2E; color: #fff; font: 16px sans-serif }
    .card { background: rgba(0, 0, 0, .2); padding: 16px; border-radius: 12px; overflow: hidden }
    .row { display: flex; justify-content: space-between } button, input { min-height: 30px }
    .name { color: #B0B0B0 } .value { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 160px }
    .ears { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
    .cut { color: #9cf; display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; width: 200px }
    .log { height: 60px; overflow-y: auto } .bar { position: sticky; bottom: 0; background: #0F0F1A }
    </style><div class=card><div class=row><span class=name>Address</span><span class=value>a value that goes on
    and on</span></div><p class=ears>only heard</p>
    <a class="value cut" href=x>an address in a row of its own, much longer than there is room for in a window</a></div>
    <div class=log><p>1<p>2<p>3<p>4<p>5</div><label>Field <input value=x placeholder=y></label>
    <p>Some <b>bold</b> text that is long enough to be broken into lines on a telephone, and goes on a little more.</p>
    <div style="height:900px"></div><p>the end</p><div class=bar><button>Press</button></div>"""

BAD_LAYOUTS = {
    "the page is": "<div style='width:600px;height:20px;background:red'></div>",
    "goes from": "<div style='position:relative;left:-40px'>text out of the window to the left</div>",
    "holds": "<div style='width:90px;overflow:hidden;white-space:nowrap'>a line that does not fit in</div>",
    "in a height of": "<div style='height:20px;overflow:hidden'>one<br>two<br>three</div>",
    "is cut off by": "<div style='overflow:hidden;width:200px;height:24px'>"
                     "<p style='margin:0;position:relative;top:-14px'>half a line</p></div>",
    "overlap": "<p style='margin:0;width:9em'>first text</p><p style='margin:-18px 0 0'>other words</p>",
    "and body > div > button overlap": "<button style='width:90px;height:40px'>one</button><div style='margin-top:-20px;width:90px'>"
                  "<button style='width:90px;height:40px'>two</button></div>",
    "lies under": "<p>hidden by a box</p><div style='position:absolute;inset:0;background:#000'></div>",
    "hard to hit": "<button style='width:10px;height:10px;padding:0'></button>",
    "cannot be scrolled": "<p style='position:absolute;top:-30px'>above the page</p>",
    "in a width of": "<div style='overflow-x:auto;width:200px'><div style='width:300px'>wide</div></div>",
}

BAD_CONTRASTS = {
    "plain": "<p style='color:#999;background:#fff'>grey on white</p>",
    "nested": "<div style='background:#000'><div style='background:rgba(255,255,255,.5)'>"
              "<p style='color:#fff'>white on what is grey only together</p></div></div>",
    "opacity": "<div style='background:#000'><p style='opacity:.4;color:#fff'>dimmed</p></div>",
    "translucent": "<div style='background:#fff'><p style='color:rgba(0,0,0,.4)'>thin ink</p></div>",
    "sibling": "<div style='position:relative;background:#000'><div style='position:absolute;inset:0;"
               "background:#eee'></div><p style='position:relative;color:#fff'>on a sibling</p></div>",
    "gradient": "<p style='background:linear-gradient(#000,#fff);color:#fff'>half of it</p>",
    "placeholder": "<style>::placeholder{color:#ccc}</style><input placeholder=faint style='background:#fff'>",
    "value": "<input value=faint style='background:#fff;color:#ccc'>",
    "added": "<style>p::before{content:'added';color:#ddd}</style><p style='background:#fff;color:#000'>x</p>",
    "drawing": "<svg width=100 height=30><rect width=100 height=30 fill='#fff'/>"
               "<text y=20 fill='#ddd'>drawn</text></svg>",
    "disabled": "<button disabled style='background:#fff;color:#aaa'>not now</button>",
    "scrolled": "<div style='height:1500px'></div><p style='background:#fff;color:#bbb'>further down</p>",
}


class JudgeTests(unittest.TestCase):
    def setUp(self):
        self.chromium = World.shared.chromium
        self.chromium.resize(USUAL)

    def show(self, text):
        self.chromium.driver.get("data:text/html;charset=utf-8," + urllib.parse.quote(text))

    def test_a_good_page_has_no_faults(self):
        self.show(GOOD)
        for size in (USUAL, DESKTOP):
            self.chromium.resize(size)
            self.assertEqual(self.chromium.layout_faults(".value"), [])
            found = self.chromium.contrast_faults()
            self.assertEqual(found["faults"], [])
            self.assertGreater(found["count"], 8)
        self.assertEqual(self.chromium.motion_faults(), [])

    def test_an_ellipsis_is_a_fault_where_it_is_not_allowed(self):
        self.show(GOOD)
        self.assertIn("span.value", " ".join(self.chromium.layout_faults()))

    def test_each_fault_of_a_layout_is_found(self):
        for words, body in BAD_LAYOUTS.items():
            with self.subTest(words):
                self.show(HEAD + "<body style='margin:0'>" + body)
                self.assertIn(words, " | ".join(self.chromium.layout_faults()))

    def test_each_lack_of_contrast_is_found(self):
        for name, body in BAD_CONTRASTS.items():
            with self.subTest(name):
                self.show(HEAD + body)
                self.assertEqual(len(self.chromium.contrast_faults()["faults"]), 1, self.chromium.contrast_faults())

    def test_contrast_is_that_of_the_definition(self):
        # Black on white is 21 by definition; #767676 on white is the well-known lightest grey of 4.54, and white on
        # half of black over white is white on #808080 (rounded), 3.95.
        for style, expected in (
                ("color:#000;background:#fff", 21), ("color:#767676;background:#fff", 4.54),
                ("color:#fff;background:rgba(0,0,0,.498)", 3.95)):
            self.show(HEAD + f"<body style='background:#fff'><p style='{style}'>text</p>")
            self.assertAlmostEqual(self.chromium.contrast_faults()["smallest"], expected, delta=0.02)

    def test_a_picture_behind_a_text_cannot_be_judged(self):
        self.show(HEAD + "<p style=\"background:url('data:image/gif;base64,R0lGODlhAQABAAAAACw=')\">text</p>")
        self.assertIn("stands on a picture", " ".join(self.chromium.contrast_faults()["faults"]))

    def test_what_moves_is_found(self):
        for words, body in (
                ("transition of 0.3s", "<p style='transition:color .3s'>x</p>"),
                ("animation of 2s", "<style>@keyframes k{to{opacity:.9}}p{animation:k 2s infinite}</style><p>x</p>"),
                ("p::after", "<style>p::after{content:'x';transition:opacity 1s}</style><p>x</p>"),
                ("smoothly", "<p style='scroll-behavior:smooth'>x</p>")):
            self.show(HEAD + body)
            self.assertIn(words, " ".join(self.chromium.motion_faults()))

    def test_what_the_console_says_is_noticed(self):
        self.show(HEAD + "<script>console.error('so so'); setTimeout(() => { throw new Error('thrown') })</script>")
        self.chromium.wait("the error is seen", lambda: self.chromium.script("return window.witnessed.length > 0"))
        found = " ".join(self.chromium.complaints())
        self.assertIn("so so", found)
        self.assertIn("thrown", found)
        self.assertEqual(self.chromium.complaints(), [])
        self.show(HEAD + "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\"><p style='color:red'>x")
        self.assertIn("style-src", " ".join(self.chromium.complaints()))
