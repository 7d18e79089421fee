# SPDX-License-Identifier: MIT
import unittest
from unittest import mock

from comparison import rounds
from comparison.lab import LabError
from comparison.measures import GROUPS, Group


class FakeEnd:
    def __init__(self, size):
        self.size = size

    def resident_mebibytes(self):
        return self.size


class FakeLab:
    """A lab of which `made` counts how many were entered and not left."""

    open = made = 0
    ended = ""

    def __init__(self):
        self.left, self.right = FakeEnd(8), FakeEnd(9)
        self.first_reply_milliseconds = 30
        self.reaped = 0

    def __enter__(self):
        FakeLab.open += 1
        FakeLab.made += 1
        return self

    def __exit__(self, *_):
        FakeLab.open -= 1

    def reap(self):
        self.reaped += 1

    def check(self):
        if FakeLab.ended:
            words, FakeLab.ended = FakeLab.ended, ""
            raise LabError(words)


def good(*metrics):
    def measure(lab, effort):
        for metric in metrics:
            yield metric, 1
    return measure


def half(metric, error):
    def measure(lab, effort):
        yield metric, 1
        raise error
    return measure


class RoundTests(unittest.TestCase):
    def setUp(self):
        FakeLab.open = FakeLab.made = 0
        FakeLab.ended = ""
        self.failures = []

    def round(self, make=FakeLab, **groups):
        with mock.patch.dict(GROUPS, groups, clear=True):
            round = rounds.Round(make, list(groups), None, lambda *failure: self.failures.append(failure))
            try:
                round.measure()
            finally:
                self.assertEqual(FakeLab.open, 0)
        return round.sample

    def test_groups_share_their_daemons_unless_they_must_not(self):
        sample = self.round(
            a=Group(good("x"), ("x",)), b=Group(good("y"), ("y",)), c=Group(good("z"), ("z",), alone=True))
        self.assertEqual(sample, {"x": 1, "y": 1, "z": 1, "memory_idle": 8, "first_reply": 30})
        self.assertEqual(FakeLab.made, 2)
        self.assertEqual(self.failures, [])

    def test_a_failure_keeps_what_was_measured_and_gives_the_rest_new_daemons(self):
        for error in (LabError("broken"), OSError("gone"), ValueError("no number"), KeyError("end")):
            self.setUp()
            sample = self.round(
                a=Group(good("x"), ("x",)), b=Group(half("y", error), ("y", "lost")), c=Group(good("z"), ("z",)))
            self.assertEqual(sample, {"x": 1, "y": 1, "z": 1, "memory_idle": 8, "first_reply": 30})
            self.assertEqual([group for group, _ in self.failures], ["b"])
            self.assertEqual(FakeLab.made, 2)

    def test_a_daemon_that_ended_is_the_reason_of_the_failure(self):
        def measure(lab, effort):
            FakeLab.ended = "panic"
            raise LabError("no report")
            yield

        self.round(a=Group(measure, ("x",)))
        self.assertEqual(self.failures, [("a", "panic")])

    def test_daemons_that_do_not_start_are_tried_once(self):
        def make():
            FakeLab.made += 1
            raise LabError("no interface")

        sample = self.round(make, a=Group(good("x"), ("x",)), b=Group(good("y"), ("y",), alone=True))
        self.assertEqual((sample, FakeLab.made), ({}, 1))
        self.assertEqual(self.failures, [("start", "no interface")])

    def test_the_memory_after_the_load_is_that_of_the_greater_end(self):
        sample = self.round(
            a=Group(good("x"), ("x",), load=True), b=Group(good("y"), ("y",), load=True), c=Group(good("z"), ("z",)))
        self.assertEqual(sample["memory_load"], 9)

    def test_the_memory_after_half_of_the_load_is_none(self):
        sample = self.round(
            a=Group(half("x", LabError("")), ("x",), load=True), b=Group(good("y"), ("y",), load=True))
        self.assertEqual(sample["y"], 1)
        self.assertNotIn("memory_load", sample)

    def test_an_interrupt_is_not_a_failure(self):
        with self.assertRaises(KeyboardInterrupt):
            self.round(a=Group(half("x", KeyboardInterrupt()), ("x",)), b=Group(good("y"), ("y",)))
        self.assertEqual(self.failures, [])


class OrderTests(unittest.TestCase):
    def test_each_round_begins_with_another_and_each_place_is_taken_by_all(self):
        names = ["a", "b", "c"]
        orders = [rounds.order(names, number) for number in range(6)]
        self.assertEqual(orders[0], ["a", "b", "c"])
        self.assertEqual(orders[1], ["b", "c", "a"])
        self.assertEqual(orders[2], ["c", "a", "b"])
        self.assertEqual(orders[3:], orders[:3])


class MissingTests(unittest.TestCase):
    def test_only_what_has_no_sample_in_any_round_is_missing(self):
        first = {"first_reply": 1, "memory_idle": 1, "tcp4": 1, "tcp4_back": 1, "memory_load": 1}
        second = {"first_reply": 1, "memory_idle": 1, "tcp4": 1}
        self.assertEqual(rounds.missing({"a": [second, first], "b": [first, {}]}, ["tcp4"]), {})
        self.assertEqual(
            rounds.missing({"a": [second, second], "b": [first]}, ["tcp4"]), {"a": ["tcp4_back", "memory_load"]})
        self.assertEqual(rounds.missing({"a": []}, ["idle"]), {"a": ["first_reply", "memory_idle", "idle_calls"]})

    def test_every_metric_of_a_group_is_in_the_table(self):
        from comparison.measures import METRICS
        self.assertEqual(set(rounds.expected(GROUPS)), set(METRICS))
