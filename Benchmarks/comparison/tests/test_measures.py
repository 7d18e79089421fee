# SPDX-License-Identifier: MIT
import json
import os
import unittest

from comparison import flood, measures
from comparison.lab import LabError, split_command

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def udp_end(sent, last, lost, seconds=2.0):
    """The sums of iperf3 after a run in which `last` was the number of the last datagram that arrived."""
    return {
        "sum": {"packets": sent, "lost_packets": lost, "seconds": seconds},
        "sum_sent": {"packets": sent, "lost_packets": 0, "seconds": seconds},
        "sum_received": {"packets": last, "lost_packets": lost, "seconds": seconds},
    }


class DeliveredTests(unittest.TestCase):
    def test_what_was_lost_before_the_end_is_not_delivered(self):
        self.assertEqual(measures.delivered(udp_end(1000, 1000, 250)), (375, 25))

    def test_what_was_lost_at_the_end_is_not_delivered(self):
        self.assertEqual(measures.delivered(udp_end(1000, 500, 0)), (250, 50))

    def test_a_run_without_datagrams_has_no_rate(self):
        with self.assertRaises(LabError):
            measures.delivered(udp_end(0, 0, 0))


class ReportTests(unittest.TestCase):
    def test_a_report_that_is_none_tells_its_reason(self):
        for text, reason in (
            ("", "no report"), ("iperf3: error", "no report"), ('{"error": "unable to connect"}', "unable to connect"),
            ('{"end": {}}', "no sum"), ("{}", "no sum"),
        ):
            with self.assertRaisesRegex(LabError, reason):
                measures.iperf_sums(text)

    def test_the_sums_of_a_good_report_are_its_end(self):
        end = udp_end(10, 10, 0)
        self.assertEqual(measures.iperf_sums(json.dumps({"start": {}, "end": end})), end)


class TraceTests(unittest.TestCase):
    def test_the_call_in_which_a_thread_waits_is_none(self):
        trace = ["1 epoll_pwait(3,  <unfinished ...>", "2 futex(0x1, <detached ...>"]
        self.assertEqual(measures.finished_calls(trace), 0)

    def test_each_call_that_returned_counts(self):
        trace = ["1 read(3, \"\", 8) = 8", "1 epoll_pwait(3, [], 1, 9) = 0", "1 read(3,  <detached ...>"]
        self.assertEqual(measures.finished_calls(trace), 2)


class ForgeryTests(unittest.TestCase):
    def test_a_message_has_the_mac_that_another_implementation_gives_it(self):
        with open(os.path.join(ROOT, "Fixtures/vectors/handshake.json")) as file:
            vectors = json.load(file)
        checked = 0
        for vector in vectors["handshakes"]:
            message = bytes.fromhex(vector["initiation"])
            public_key = bytes.fromhex(vector["inputs"]["responder_static_public"])
            forged = flood.forged_initiation(public_key, message[4:116])
            self.assertEqual(len(forged), 148)
            self.assertEqual(forged[:132].hex(), message[:132].hex())
            checked += 1
        self.assertGreater(checked, 0)

    def test_batches_hold_whole_messages_that_all_differ(self):
        buffers = flood.batches(bytes(32), 3)
        messages = [
            buffer[start:start + flood.INITIATION_BYTES]
            for buffer in buffers for start in range(0, len(buffer), flood.INITIATION_BYTES)
        ]
        self.assertEqual(len(set(messages)), 3 * flood.SEGMENTS)
        self.assertEqual({len(message) for message in messages}, {148})


class Link:
    def __init__(self):
        self.sent = 0

    def send(self, buffer):
        self.sent += len(buffer) // flood.INITIATION_BYTES


class PaceTests(unittest.TestCase):
    def test_nothing_is_due_before_a_whole_batch_is(self):
        self.assertEqual(flood.due(0, 63 / 64_000, 64_000)[0], 0)
        self.assertEqual(flood.due(0, 65 / 64_000, 64_000)[0], 64)

    def test_a_short_delay_is_made_up_for(self):
        self.assertEqual(flood.due(0, 0.01, 100_000)[0], 960)

    def test_a_long_delay_lowers_the_rate(self):
        count, paced = flood.due(0, 1.0, 100_000)
        self.assertLessEqual(count, 2000)
        self.assertGreaterEqual(paced, 98_000)

    def test_as_many_are_reported_as_were_sent(self):
        link, buffers = Link(), flood.batches(bytes(32), 2)
        sent, seconds = flood.flood(link, buffers, 100_000, 1, lambda: False)
        self.assertEqual(sent, link.sent)
        self.assertGreater(sent, 0)
        self.assertGreaterEqual(seconds, 1)

    def test_it_ends_when_it_is_told_to(self):
        self.assertEqual(flood.flood(Link(), flood.batches(bytes(32), 1), 1000, 60, lambda: True)[0], 0)


class CommandLineTests(unittest.TestCase):
    def test_the_program_of_a_command_must_exist(self):
        self.assertEqual(split_command("env A=1 sh -c 'x y'"), ["env", "A=1", "sh", "-c", "x y"])
        for text in ("no-such-program-here", "env A=1 no-such-program-here", "env A=1", "sh 'unclosed"):
            with self.assertRaises(LabError):
                split_command(text)
