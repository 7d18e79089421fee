# SPDX-License-Identifier: MIT
import unittest
import xml.etree.ElementTree as ElementTree

from comparison import report
from comparison.measures import METRICS


def full(scale):
    """A sample of every metric."""
    return {metric: scale * (number + 1) for number, metric in enumerate(METRICS)}


class TableTests(unittest.TestCase):
    def test_no_line_is_wider_than_the_terminal(self):
        names = ["nexusguard", "composed", "wireguard-go of May 2025", "wireguard-go", "boringtun", "x" * 200]
        for width in (80, 100, 160):
            for count in range(1, len(names) + 1):
                samples = {name: [full(1234.5), full(98765.4)] for name in names[:count]}
                for line in report.table(samples, "nexusguard", width).splitlines():
                    self.assertLessEqual(len(line), width, line)

    def test_every_implementation_and_every_metric_has_its_place(self):
        names = ["red", "green", "blue", "white", "black"]
        table = report.table({name: [full(index + 1)] for index, name in enumerate(names)}, "red")
        for name in names:
            self.assertEqual(table.split().count(name), 1, name)
        blocks = table.split("\n\n")
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            self.assertEqual(len(block.splitlines()), 1 + len(METRICS))

    def test_the_median_is_shown_with_its_spread_and_its_ratio(self):
        samples = {
            "fast": [{"tcp1": 900}, {"tcp1": 1000}, {"tcp1": 1500}],
            "slow": [{"tcp1": 500}, {"tcp1": 500}, {"tcp1": 500}],
        }
        lines = report.table(samples, "slow").splitlines()
        self.assertEqual(lines[0].split(), ["fast", "slow"])
        self.assertEqual(lines[1].split()[-5:], ["1,000", "±30%", "2.00x", "500", "±0%"])

    def test_a_metric_without_a_sample_is_a_dash_and_has_no_ratio(self):
        samples = {"one": [{"tcp1": 10, "udp64": 5}, {}], "two": [{"udp64": 10}, {}], "three": []}
        lines = {line.split(" ")[0]: line.split() for line in report.table(samples, "two").splitlines()[1:]}
        self.assertEqual(lines["TCP,"][-4:], ["10", "±0%", "-", "-"])
        self.assertEqual(lines["UDP,"][-6:], ["5", "±0%", "0.50x", "10", "±0%", "-"])

    def test_a_table_without_samples_says_so(self):
        self.assertEqual(report.table({"one": [], "two": [{}]}, "one"), "nothing was measured")

    def test_a_median_of_zero_divides_nothing(self):
        lines = report.table({"one": [{"idle_calls": 0}], "two": [{"idle_calls": 7}]}, "one").splitlines()
        self.assertEqual(lines[1].split()[-2:], ["0", "7"])

    def test_one_round_has_no_spread(self):
        self.assertNotIn("±", report.table({"one": [full(1)], "two": [full(2)]}, "one"))


class ChartTests(unittest.TestCase):
    def test_the_chart_is_well_formed_with_names_that_are_not(self):
        samples = {"<one> & \"two\"": [full(2)], "three": [{"tcp1": 1}], "none": []}
        runs = [("offloads on", samples), ("offloads off", samples)]
        root = ElementTree.fromstring(report.chart(runs, "three", "first; second"))
        words = [element.text for element in root.iter() if element.text]
        for expected in ("<one> & \"two\"", "offloads on", "offloads off", "first", "second", "not measured"):
            self.assertIn(expected, words)

    def test_everything_is_within_the_picture(self):
        root = ElementTree.fromstring(report.chart([("", {"one": [full(1)], "two": [full(3)]})], "one", "note"))
        width, height = int(root.get("width")), int(root.get("height"))
        for element in root.iter():
            if element.get("x") is not None:
                self.assertLessEqual(float(element.get("x")) + float(element.get("width", 0)), width)
                self.assertLessEqual(float(element.get("y")) + float(element.get("height", 0)), height)

    def test_the_longest_bar_is_that_of_the_greatest_median(self):
        samples = {"one": [{"tcp1": 100}], "two": [{"tcp1": 400}]}
        root = ElementTree.fromstring(report.chart([("", samples)], "one", "note"))
        bars = [float(e.get("width")) for e in root.iter() if e.get("height") == "11"]
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(bars[1] / bars[0], 4)
