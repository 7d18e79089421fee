# SPDX-License-Identifier: MIT
"""Many readers at once: memory stays flat, the page stays quick, and the agent ends at once with streams open."""

import re
import statistics
import time

from harness import wire
from harness.process import eventually
from harness.wire import ask, own_fields
from test_http import HTTPCase

STREAMS = 60
LOADS = 1_000
# Loads of one batch, between which streams are read. A batch is measured against a later one.
BATCH = 250
# What the resident memory may grow by between the end of the first and of the last thousand loads. A byte kept for each
# request would be nothing; a request's own buffers (some kilobytes) kept for each would be several times this.
MOST_GROWTH = 2_048
# Seconds for a page on a machine that does other things as well; what is measured is printed.
MOST_MEDIAN = 0.050
MOST_SECONDS_TO_END = 10
# Connections of a browser to one origin: the page of an earlier test may still be open.
MOST_OF_BROWSER = 6


class LoadTests(HTTPCase):
    def setUp(self):
        self.streams = []
        self.addCleanup(self.leave)

    def leave(self):
        """Closes the streams and waits until the agent knows, which lets only so many in at a time."""
        for stream in self.streams:
            stream.close()
        self.streams.clear()

        def are_noticed():
            # A reader that is gone is noticed with what it would have been sent: this is noted in the log.
            self.agent.ask("PUT", "/api/v1/settings", {})
            return self.agent.connection_count(self.port) <= MOST_OF_BROWSER
        eventually("the agent has noticed that the readers are gone", are_noticed, pause=0.1)

    def load(self, count):
        """Loads the page as often, with the API's answers now and then, and gives the seconds of each."""
        times = []
        for number in range(count):
            begin = time.perf_counter()
            answer = ask(self.port, "GET", "/", own_fields(self.port))
            times.append(time.perf_counter() - begin)
            self.assertEqual(answer.status, 200)
            if number % 25 == 0:
                for path in set(re.findall(r'(?:src|href)="(/[^"]+)"', answer.body.decode())):
                    self.assertEqual(ask(self.port, "GET", path, own_fields(self.port)).status, 200)
                self.assertEqual(self.get("/api/v1/status").status, 200)
            if number % BATCH == 0:
                for stream in self.streams[:-5]:
                    stream.drain()
        return times

    def test_readers_without_number_cost_nothing_that_stays(self):
        self.streams += [wire.Stream(self.port, self.session) for _ in range(STREAMS)]
        for stream in self.streams:
            stream.wait_for(b"event: snapshot")
        self.load(200)
        # The last five never read what they are sent: what waits for them is bounded.
        times = self.load(LOADS)
        first = self.agent.child.resident_kibibytes()
        times += self.load(LOADS)
        growth = self.agent.child.resident_kibibytes() - first
        times.sort()
        median, slow = statistics.median(times), times[int(len(times) * 0.99)]
        print(f"{STREAMS} streams, {len(times)} loads: median {median * 1000:.2f} ms, 99 % within {slow * 1000:.2f} ms, "
              f"memory {first / 1024:.1f} MiB, {growth:+d} KiB for the second thousand")
        self.assertLess(growth, MOST_GROWTH)
        self.assertLess(median, MOST_MEDIAN)
        # Everybody is still served.
        self.agent.command("down")
        for stream in self.streams[:-5]:
            stream.wait_for(b'"phase":"STOPPED"')

    def test_streams_that_come_and_go_leave_nothing(self):
        def round_of_streams():
            for _ in range(5):
                self.streams += [wire.Stream(self.port, self.session) for _ in range(40)]
                for stream in self.streams:
                    stream.wait_for(b"event: snapshot")
                self.leave()
        round_of_streams()
        round_of_streams()
        first = self.agent.child.resident_kibibytes()
        round_of_streams()
        round_of_streams()
        growth = self.agent.child.resident_kibibytes() - first
        print(f"400 streams that came and went: {growth:+d} KiB")
        self.assertLess(growth, MOST_GROWTH)

    def test_too_many_streams_are_refused_and_requests_still_answered(self):
        for _ in range(200):
            try:
                self.streams.append(wire.Stream(self.port, self.session))
            except OSError:
                break
        self.assertEqual(self.get("/api/v1/status").status, 200)

    def test_the_agent_ends_in_time_with_streams_open(self):
        agent = self.agent
        self.streams += [wire.Stream(self.port, self.session) for _ in range(STREAMS)]
        for stream in self.streams:
            stream.wait_for(b"event: snapshot")
        seconds = agent.stop()
        print(f"the agent ended within {seconds:.2f} s with {STREAMS} streams open")
        self.assertLess(seconds, MOST_SECONDS_TO_END)
        for stream in self.streams:
            stream.wait_for_end()
        # The same session goes on with the next run of the agent.
        agent.start()
        self.assertEqual(self.get("/api/v1/status").status, 200)
        self.assertFalse(agent.has_interface() and not agent.status()["wantsUp"])
