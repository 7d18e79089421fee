# SPDX-License-Identifier: MIT
"""HTTP as bytes on a wire: requests that a browser would never make, and event streams."""

import http.client
import json
import socket
import time

from .process import PATIENCE


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Answer:
    """An answer with its header fields in lower case."""

    def __init__(self, response):
        self.status = response.status
        self.fields = {}
        for name, value in response.getheaders():
            self.fields[name.lower()] = value
        self.body = response.read()

    @property
    def document(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The code of an error, or `None`."""
        try:
            return self.document["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None

    def __repr__(self):
        return f"{self.status} {self.body[:200]!r}"


def over_socket(path, method, target, document=None):
    connection = SocketConnection(path)
    try:
        if document is None:
            connection.request(method, target)
        else:
            connection.request(method, target, json.dumps(document), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        return response.status, json.loads(body) if body else None
    finally:
        connection.close()


def ask(port, method, target, fields=None, body=None, address="127.0.0.1"):
    """One request with exactly these header fields besides the length of the content.

    A field with the value `None` is left out where it would be sent otherwise (Host).
    """
    fields = {"Host": f"127.0.0.1:{port}", **(fields or {})}
    connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in fields.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    connection.putheader(name, one)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def own_fields(port, session=None, method="GET", **more):
    """The header fields of a request that the page itself makes."""
    fields = {"Sec-Fetch-Site": "same-origin"}
    if session:
        fields["Authorization"] = f"Bearer {session}"
    if method != "GET":
        fields["Origin"] = f"http://127.0.0.1:{port}"
        fields["Content-Type"] = "application/json"
    fields.update(more)
    return fields


class Stream:
    """A client of the event stream."""

    def __init__(self, port, session, query=""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.sendall(
            f"GET /api/v1/events{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
            f"Authorization: Bearer {session}\r\n\r\n".encode())
        self.received = b""

    def wait_for(self, words, limit=PATIENCE):
        """Reads until `words` have come, and gives all that came."""
        deadline = time.monotonic() + limit
        while words not in self.received:
            if time.monotonic() > deadline:
                raise AssertionError(f"{words!r} did not come: {self.received[-300:]!r}")
            data = self.socket.recv(65536)
            if not data:
                raise AssertionError(f"the stream ended before {words!r}: {self.received[-300:]!r}")
            self.received += data
            if not self.received.startswith(b"HTTP/1.1 200 "):
                raise AssertionError(f"no stream: {self.received[:300]!r}")
        return self.received

    def wait_for_end(self, limit=PATIENCE):
        """Returns when the server has ended the stream: with its last chunk, or with the connection."""
        deadline = time.monotonic() + limit
        while not self.received.endswith(b"\r\n0\r\n\r\n"):
            self.socket.settimeout(max(0.1, deadline - time.monotonic()))
            data = self.socket.recv(65536)
            if not data:
                return
            self.received += data

    def drain(self):
        """Takes what has come without waiting for more."""
        self.socket.setblocking(False)
        try:
            while data := self.socket.recv(65536):
                self.received = (self.received + data)[-100_000:]
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(PATIENCE)

    def close(self):
        self.socket.close()
