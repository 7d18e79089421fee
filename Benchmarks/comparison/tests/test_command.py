# SPDX-License-Identifier: MIT
import contextlib
import io
import os
import tempfile
import unittest

from comparison import command
from comparison.measures import GROUPS


def parse(*words):
    return command.arguments(list(words))


class ArgumentTests(unittest.TestCase):
    def refused(self, *words):
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit) as caught:
            parse(*words)
        self.assertEqual(caught.exception.code, 2)
        return errors.getvalue()

    def test_the_reference_is_wireguard_go_else_the_second_one(self):
        self.assertEqual(parse()[0].reference, "wireguard-go")
        self.assertEqual(parse("--impl", "wireguard-go=a", "--impl", "b=b")[0].reference, "wireguard-go")
        self.assertEqual(parse("--impl", "a=a", "--impl", "b=b", "--impl", "c=c")[0].reference, "b")
        self.assertEqual(parse("--impl", "a=a")[0].reference, "a")

    def test_the_reference_can_be_chosen_from_the_implementations(self):
        self.assertEqual(parse("--reference", "nexusguard")[0].reference, "nexusguard")
        self.assertIn("'other'", self.refused("--reference", "other"))

    def test_implementations_keep_their_order_and_the_signs_of_their_command(self):
        _, implementations = parse("--impl", "b=env X=1 b", "--impl", "a=a")
        self.assertEqual(list(implementations.items()), [("b", "env X=1 b"), ("a", "a")])

    def test_bad_implementations_are_named(self):
        for words in (["name"], ["=command"], ["name="]):
            self.assertIn(f"'{words[0]}'", self.refused("--impl", *words))
        self.assertIn("'a' is given twice", self.refused("--impl", "a=a", "--impl", "a=b"))

    def test_bad_numbers_and_names_are_refused(self):
        for words in (["--rounds", "0"], ["--seconds", "0"], ["--idle", "0"], ["--offload", "maybe"], ["no-group"]):
            self.refused(*words)

    def test_without_names_the_usual_groups_are_measured(self):
        usual = [name for name, group in GROUPS.items() if group.usual]
        self.assertEqual(parse()[0].groups, usual)
        self.assertNotIn("idle", usual)
        self.assertEqual(parse("udp", "ping", "udp")[0].groups, ["ping", "udp"])

    def test_quick_is_one_short_round_without_many_peers(self):
        options, _ = parse("--quick")
        self.assertEqual((options.rounds, options.seconds), (1, 1))
        self.assertNotIn("peers1000", options.groups)
        self.assertEqual(parse("--quick", "peers1000")[0].groups, ["peers1000"])

    def test_both_ways_of_the_cable_are_measured_on_request(self):
        self.assertEqual(parse()[0].offload, ["on"])
        self.assertEqual(parse("--offload", "off")[0].offload, ["off"])
        self.assertEqual(parse("--offload", "both")[0].offload, ["on", "off"])

    def test_paths_that_cannot_be_written_are_refused_before_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for option in ("--json", "--chart"):
                self.assertIn(folder, self.refused(option, folder))
                self.assertIn("missing", self.refused(option, os.path.join(folder, "missing", "file")))

    def test_a_path_that_can_be_written_is_left_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            parse("--json", path)
            self.assertFalse(os.path.exists(path))
            with open(path, "w") as file:
                file.write("kept")
            parse("--json", path)
            with open(path) as file:
                self.assertEqual(file.read(), "kept")
