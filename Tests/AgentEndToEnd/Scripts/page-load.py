# SPDX-License-Identifier: MIT
"""Loads the page of a running agent again and again, with streams of events open, and watches its memory.

    page-load.py SOCKET PID STREAMS LOADS

Prints the resident memory and the times in milliseconds, and fails when an answer is not as it should be. Whether the
memory is flat is for the caller to say: the last line is "KiB BEFORE AFTER". In the end it tells the agent to end, and
fails unless each stream ends in order.
"""

import http.client
import json
import os
import signal
import socket
import sys
import time


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1])


def answer(connection, method, path, headers, body=None, expected=200):
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    if response.status != expected:
        sys.exit(f"{method} {path}: {response.status} {content[:300]!r}")
    return content


def main():
    path, pid, stream_count, load_count = sys.argv[1], *map(int, sys.argv[2:5])
    link = json.loads(
        answer(UnixConnection(path), "POST", "/api/v1/ui/session", {"Content-Type": "application/json"}, "{}"))
    authority, secret = link["url"].removeprefix("http://").split("/#t=")
    own = {"Host": authority, "Origin": f"http://{authority}", "Content-Type": "application/json"}
    page = http.client.HTTPConnection(authority, timeout=600)
    login = answer(page, "POST", "/api/v1/ui/login", own, json.dumps({"link": secret}))
    session = {"Host": authority, "Authorization": "Bearer " + json.loads(login)["session"]}

    streams = []
    for _ in range(stream_count):
        stream = http.client.HTTPConnection(authority, timeout=600)
        stream.request("GET", "/api/v1/events", headers=session)
        response = stream.getresponse()
        if response.status != 200 or b"event: snapshot" not in response.read1():
            sys.exit(f"a stream does not begin: {response.status}")
        streams.append((stream, response))

    times = []

    def load(count):
        for _ in range(count):
            # Each load is a connection of its own, as from another browser.
            browser = http.client.HTTPConnection(authority, timeout=600)
            begin = time.monotonic()
            content = answer(browser, "GET", "/", {"Host": authority})
            times.append(time.monotonic() - begin)
            if b"<title>" not in content:
                sys.exit("the page has no title")
            answer(browser, "GET", "/api/v1/status", session)
            browser.close()

    # What the first loads need for good is there before anything is measured.
    load(load_count // 2)
    before = resident(pid)
    times.clear()
    load(load_count)
    after = resident(pid)
    for stream, response in streams:
        if response.isclosed():
            sys.exit("a stream has ended by itself")
    times.sort()
    print(
        f"page: {1e3 * times[len(times) // 2]:.2f} ms at the median, {1e3 * times[len(times) * 99 // 100]:.2f} ms at"
        f" the 99th of 100; {before} KiB, {after} KiB after {load_count} loads with {stream_count} streams")
    print(f"KiB {before} {after}")
    sys.stdout.flush()
    # An end that is not in order breaks off the last chunk, which this raises.
    os.kill(pid, signal.SIGTERM)
    for stream, response in streams:
        while response.read1():
            pass


main()
