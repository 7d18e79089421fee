# SPDX-License-Identifier: MIT
"""The page's server as a hostile page, program or user meets it: byte by byte, without a browser."""

import json
import os
import re
import socket
import stat
import unittest

from harness import wire
from harness.process import PATIENCE
from harness.wire import ask, own_fields
from harness.world import World

FOREIGN = "http://evil.example"
POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'",
    "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
}
# Routes of the local interface that a page may use, with what they do to the agent when they are let through.
ROUTES = {
    "/api/v1/status": ["GET"], "/api/v1/events": ["GET"], "/api/v1/logs": ["GET", "DELETE"],
    "/api/v1/tunnel": ["POST"], "/api/v1/provision": ["POST"], "/api/v1/deprovision": ["POST"],
    "/api/v1/refresh": ["POST"], "/api/v1/settings": ["GET", "PUT"], "/api/v1/forwards": ["GET"],
    "/api/v1/config": ["GET", "PUT"], "/api/v1/config/preview": ["POST"], "/api/v1/config/export": ["POST"],
    "/api/v1/netcheck": ["GET"], "/api/v1/bugreport": ["POST"], "/api/v1/hwid": ["GET"],
    "/api/v1/reset": ["POST"], "/api/v1/traffic": ["GET"],
}


class HTTPCase(unittest.TestCase):
    """A session of its own for each class."""

    read_only = False

    @classmethod
    def setUpClass(cls):
        cls.agent = World.shared.agent
        cls.port, cls.session = cls.enter(cls.read_only)

    @classmethod
    def enter(cls, read_only=False):
        port, link = cls.fresh_link(read_only)
        answer = cls.login(port, {"link": link})
        assert answer.status == 200, answer
        return port, answer.document["session"]

    @classmethod
    def fresh_link(cls, read_only=False):
        address, _, link = cls.agent.link(read_only=read_only).partition("#t=")
        return int(address.rstrip("/").rpartition(":")[2]), link

    @staticmethod
    def login(port, document, **fields):
        return ask(
            port, "POST", "/api/v1/ui/login", own_fields(port, method="POST", **fields),
            json.dumps(document).encode())

    def get(self, target, **fields):
        return ask(self.port, "GET", target, own_fields(self.port, self.session, **fields))

    def send(self, method, target, document=None, **fields):
        body = None if method == "DELETE" else json.dumps({} if document is None else document).encode()
        return ask(self.port, method, target, own_fields(self.port, self.session, method, **fields), body)

    def assertRefused(self, answer, status, code=None, words=""):
        self.assertEqual(answer.status, status, f"{words}: {answer}")
        if code is not None:
            self.assertEqual(answer.code, code, f"{words}: {answer}")
            self.assertEqual(answer.document["schema"], 1)
        self.assertNotIn("access-control-allow-origin", answer.fields)


class LinkTests(HTTPCase):
    def test_a_link_lets_in_once(self):
        port, link = self.fresh_link()
        # 256 bits in base64url.
        self.assertRegex(link, r"^[A-Za-z0-9_-]{43}$")
        first = self.login(port, {"link": link})
        self.assertEqual(first.status, 200, first)
        self.assertEqual(first.document["schema"], 1)
        self.assertIs(first.document["read_only"], False)
        self.assertEqual(first.document["idle_timeout"], 1800)
        self.assertRegex(first.document["session"], r"^[A-Za-z0-9_-]{43,}$")
        self.assertNotEqual(first.document["session"], link)
        self.assertRefused(self.login(port, {"link": link}), 401, "link-used")
        answer = ask(port, "GET", "/api/v1/status", own_fields(port, first.document["session"]))
        self.assertEqual(answer.status, 200)

    def test_what_is_no_link_lets_nobody_in(self):
        for link in ("", "x", "A" * 43, "A" * 5000, "\u0000", "../../etc/passwd"):
            with self.subTest(link[:20]):
                answer = self.login(self.port, {"link": link})
                self.assertIn(answer.status, (400, 401), answer)
                self.assertIn(answer.code, ("link-unknown", "bad-request", "config-invalid"), answer)
        for document in ({}, {"link": 1}, {"link": None}, [], "x", {"link": ["a"]}):
            with self.subTest(document):
                self.assertIn(self.login(self.port, document).status, (400, 401))
        answer = ask(self.port, "POST", "/api/v1/ui/login", own_fields(self.port, method="POST"), b"{")
        self.assertEqual(answer.status, 400, answer)

    def test_a_password_lets_nobody_in_where_none_is_set(self):
        self.assertIn(self.login(self.port, {"password": ""}).status, (400, 401))
        self.assertIn(self.login(self.port, {"password": "x"}).status, (400, 401))

    def test_a_link_is_no_session_and_a_session_no_link(self):
        port, link = self.fresh_link()
        self.assertRefused(ask(port, "GET", "/api/v1/status", own_fields(port, link)), 401, "session-ended")
        self.assertRefused(self.login(port, {"link": self.session}), 401, "link-unknown")

    def test_links_are_bounded(self):
        links = [self.fresh_link() for _ in range(40)]
        answers = [self.login(port, {"link": link}).status for port, link in links]
        self.assertLessEqual(answers.count(200), 32)
        self.assertEqual(answers[-1], 200, "the newest link works")

    def test_sessions_are_bounded_and_the_newest_works(self):
        sessions = [self.enter()[1] for _ in range(70)]
        working = [
            session for session in sessions
            if ask(self.port, "GET", "/api/v1/hwid", own_fields(self.port, session)).status == 200]
        self.assertLessEqual(len(working), 64)
        self.assertIn(sessions[-1], working)
        for session in sessions:
            ask(self.port, "POST", "/api/v1/ui/logout", own_fields(self.port, session, "POST"), b"{}")
        # The class's own may have had to make room.
        type(self).port, type(self).session = self.enter()


class SessionTests(HTTPCase):
    def test_nothing_below_the_interface_is_open_without_a_session(self):
        for path, methods in ROUTES.items():
            for method in methods:
                for fields in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"},
                               {"Authorization": "Basic " + self.session}, {"Authorization": self.session},
                               {"Cookie": f"session={self.session}"}, {"X-Session": self.session}):
                    answer = ask(
                        self.port, method, path, own_fields(self.port, method=method, **fields),
                        None if method in ("GET", "DELETE") else b"{}")
                    self.assertRefused(answer, 401, "session-ended", f"{method} {path} {fields}")
        for query in (f"?session={self.session}", f"?t={self.session}", f"?access_token={self.session}"):
            answer = ask(self.port, "GET", "/api/v1/status" + query, own_fields(self.port))
            self.assertRefused(answer, 401, "session-ended", query)

    def test_a_session_reads_what_the_command_line_reads(self):
        answer = self.get("/api/v1/status")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.document["schema"], 1)
        own = self.agent.status()
        for name in ("provisioned", "version", "startedAt", "hwid"):
            self.assertEqual(answer.document.get(name), own.get(name), name)
        self.assertEqual(self.get("/api/v1/settings").status, 200)
        self.assertEqual(self.get("/api/v1/traffic").document["interval"], 5)

    def test_a_session_ends_when_its_user_ends_it(self):
        port, session = self.enter()
        stream = wire.Stream(port, session)
        stream.wait_for(b"event: snapshot")
        answer = ask(port, "POST", "/api/v1/ui/logout", own_fields(port, session, "POST"), b"{}")
        self.assertIn(answer.status, (200, 204), answer)
        self.assertRefused(ask(port, "GET", "/api/v1/status", own_fields(port, session)), 401, "session-ended")
        # The stream ends with the session.
        stream.wait_for_end()
        stream.close()

    def test_secrets_are_in_no_log_and_no_file(self):
        port, link = self.fresh_link()
        session = self.login(port, {"link": link}).document["session"]
        ask(port, "GET", "/api/v1/status", own_fields(port, session))
        places = {"log": self.agent.child.last_words(), "logs": json.dumps(self.get("/api/v1/logs").document)}
        for folder in (self.agent.state, self.agent.runtime):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        places[path] = file.read().decode(errors="replace")
        self.assertIn(os.path.join(self.agent.state, "ui-sessions.json"), places)
        for place, text in places.items():
            self.assertNotIn(link, text, place)
            self.assertNotIn(session, text, place)
        mode = os.stat(os.path.join(self.agent.state, "ui-sessions.json")).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        with open(f"/proc/{self.agent.child.pid}/cmdline") as file:
            self.assertNotIn(session, file.read())

    def test_what_is_for_the_socket_alone_is_not_there(self):
        for method, path in (
                ("POST", "/api/v1/ui/session"), ("GET", "/api/v1/ui/session"), ("GET", "/metrics"),
                ("GET", "/api/v1/nothing"), ("GET", "/api/v2/status"), ("GET", "/api"), ("GET", "/nothing.js")):
            answer = self.send(method, path) if method == "POST" else self.get(path)
            self.assertEqual(answer.status, 404, f"{method} {path}: {answer}")

    def test_the_health_of_the_agent_needs_no_session(self):
        self.assertIn(ask(self.port, "GET", "/healthz").status, (200, 204))


class ReadOnlyTests(HTTPCase):
    read_only = True

    def test_a_read_only_session_reads_and_changes_nothing(self):
        self.assertEqual(self.get("/api/v1/status").status, 200)
        self.assertEqual(self.get("/api/v1/logs").status, 200)
        before = self.agent.status()["wantsUp"]
        for path, methods in ROUTES.items():
            for method in methods:
                if method == "GET":
                    continue
                document = {"up": not before} if path == "/api/v1/tunnel" else {}
                self.assertRefused(self.send(method, path, document), 403, "read-only", f"{method} {path}")
        self.assertEqual(self.agent.status()["wantsUp"], before)

    def test_login_says_that_it_is_read_only(self):
        port, link = self.fresh_link(read_only=True)
        self.assertIs(self.login(port, {"link": link}).document["read_only"], True)


class HostTests(HTTPCase):
    def test_only_the_pages_own_names_are_answered(self):
        good = [f"127.0.0.1:{self.port}", f"localhost:{self.port}", f"LocalHost:{self.port}", f"[::1]:{self.port}"]
        bad = [
            "127.0.0.1", "localhost", "localhost:1", f"127.0.0.2:{self.port}", f"evil.example:{self.port}",
            "evil.example", f"127.0.0.1.evil.example:{self.port}", f"localhost.evil.example:{self.port}",
            f"evil.example#127.0.0.1:{self.port}", f"user@127.0.0.1:{self.port}", f"0.0.0.0:{self.port}",
            f"127.0.0.1:{self.port}.evil.example", f"192.0.2.2:{self.port}", f"[::]:{self.port}", f"127.1:{self.port}"]
        for path in ("/", "/page.css", "/api/v1/status", "/healthz"):
            for host in good:
                answer = self.get(path, Host=host)
                self.assertIn(answer.status, (200, 204), f"{host} {path}: {answer}")
            for host in bad:
                self.assertRefused(self.get(path, Host=host), 421, words=f"{host} {path}")
        for host in bad:
            answer = self.send("POST", "/api/v1/ui/login", {"link": "x"}, Host=host, Origin=f"http://{host}")
            self.assertRefused(answer, 421, words=host)

    def test_no_name_and_two_names_are_refused(self):
        own = f"127.0.0.1:{self.port}"
        for host in (None, "", [own, "evil.example"], ["evil.example", own]):
            answer = self.get("/api/v1/status", Host=host)
            self.assertIn(answer.status, (400, 421), f"{host}: {answer}")

    def test_the_page_listens_on_loopback_alone(self):
        for address in ("192.0.2.2",):
            with self.assertRaises(OSError):
                socket.create_connection((address, self.port), timeout=PATIENCE).close()


class OriginTests(HTTPCase):
    # A change that says too little is refused with 400, and changes nothing, when it gets that far.
    def change(self, **fields):
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        return ask(
            self.port, "POST", "/api/v1/tunnel",
            {"Authorization": f"Bearer {self.session}", "Content-Type": "application/json", **fields}, b"{}")

    def test_a_change_must_prove_that_it_comes_from_the_page(self):
        own = f"http://127.0.0.1:{self.port}"
        for fields in (
                {"Sec_Fetch_Site": "same-origin"}, {"Origin": own}, {"Origin": own, "Sec_Fetch_Site": "same-origin"},
                {"Host": f"localhost:{self.port}", "Origin": f"http://localhost:{self.port}"}):
            self.assertRefused(self.change(**fields), 400, "bad-request", fields)
        for fields in (
                {}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "none"},
                {"Sec_Fetch_Site": "rubbish"}, {"Origin": FOREIGN}, {"Origin": "null"}, {"Origin": ""},
                {"Origin": f"http://127.0.0.1:{self.port + 1}"}, {"Origin": f"https://127.0.0.1:{self.port}"},
                {"Origin": "http://127.0.0.1"}, {"Origin": f"http://127.0.0.1:{self.port}.evil.example"},
                {"Origin": f"http://localhost:{self.port}"},
                {"Origin": FOREIGN, "Sec_Fetch_Site": "same-origin"},
                {"Origin": own, "Sec_Fetch_Site": "cross-site"}, {"Origin": own, "Sec_Fetch_Site": "same-site"},
                {"Origin": [own, FOREIGN]}, {"Sec_Fetch_Site": ["same-origin", "cross-site"]},
                {"Referer": own + "/"}):
            self.assertRefused(self.change(**fields), 403, "cross-origin", fields)

    def test_login_from_elsewhere_does_not_use_up_a_link(self):
        port, link = self.fresh_link()
        answer = self.login(port, {"link": link}, **{"Origin": FOREIGN, "Sec-Fetch-Site": "cross-site"})
        self.assertRefused(answer, 403, "cross-origin")
        self.assertEqual(self.login(port, {"link": link}).status, 200)

    def test_reading_from_elsewhere_is_refused(self):
        for site in ("cross-site", "same-site"):
            answer = self.get("/api/v1/status", **{"Sec-Fetch-Site": site})
            self.assertRefused(answer, 403, "cross-origin", site)
        for site in ("same-origin", "none", None):
            self.assertEqual(self.get("/api/v1/status", **{"Sec-Fetch-Site": site}).status, 200, site)

    def test_a_preflight_gets_no_permission(self):
        for path in ("/", "/api/v1/status", "/api/v1/tunnel", "/api/v1/ui/login"):
            answer = ask(self.port, "OPTIONS", path, {
                "Origin": FOREIGN, "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization,content-type",
                "Access-Control-Request-Private-Network": "true"})
            self.assertGreaterEqual(answer.status, 400, path)
            self.assertEqual([name for name in answer.fields if name.startswith("access-control")], [], path)

    def test_content_other_than_json_is_refused(self):
        for kind in (None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                     "application/jsonx", "text/json", "application/json-seq", "text/plain, application/json"):
            answer = self.send("POST", "/api/v1/tunnel", **{"Content-Type": kind})
            self.assertRefused(answer, 415, "unsupported-media-type", kind)
            answer = self.send("POST", "/api/v1/ui/login", {"link": "x"}, **{"Content-Type": kind})
            self.assertRefused(answer, 415, "unsupported-media-type", kind)
        for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON"):
            answer = self.send("POST", "/api/v1/tunnel", **{"Content-Type": kind})
            self.assertRefused(answer, 400, "bad-request", kind)

    def test_each_path_takes_its_methods_alone(self):
        for path, methods in {**ROUTES, "/": ["GET"], "/page.css": ["GET"], "/api/v1/ui/login": ["GET", "POST"]}.items():
            for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
                if method in methods:
                    continue
                answer = ask(self.port, method, path, own_fields(self.port, self.session, method),
                             b"{}" if method in ("POST", "PUT") else None)
                self.assertEqual(answer.status, 405, f"{method} {path}: {answer}")
                self.assertIn(methods[0], answer.fields["allow"])


class FieldTests(HTTPCase):
    def answers(self):
        """Answers of every kind, with a name for each."""
        bad = {"Host": "evil.example"}
        etag = self.get("/").fields["etag"]
        yield "the page", self.get("/")
        yield "a style sheet", self.get("/page.css")
        yield "unchanged", self.get("/", **{"If-None-Match": etag})
        yield "the status", self.get("/api/v1/status")
        yield "nothing there", self.get("/nothing")
        yield "no route", self.get("/api/v1/nothing")
        yield "no session", ask(self.port, "GET", "/api/v1/status", own_fields(self.port))
        yield "another host", self.get("/", **bad)
        yield "from elsewhere", self.get("/api/v1/status", **{"Sec-Fetch-Site": "cross-site"})
        yield "wrong method", self.send("PUT", "/api/v1/status")
        yield "wrong kind", self.send("POST", "/api/v1/tunnel", **{"Content-Type": "text/plain"})
        yield "wrong content", self.send("POST", "/api/v1/tunnel")
        yield "health", self.get("/healthz")
        yield "too much", ask(
            self.port, "POST", "/api/v1/config/preview",
            own_fields(self.port, self.session, "POST", **{"Content-Length": "4000000"}))

    def test_every_answer_carries_the_fields_that_protect(self):
        seen = set()
        for name, answer in self.answers():
            with self.subTest(name):
                seen.add(answer.status)
                fields = answer.fields
                policy = dict(
                    part.strip().split(" ", 1) for part in fields["content-security-policy"].split(";"))
                self.assertEqual(policy, POLICY)
                self.assertEqual(fields["x-content-type-options"], "nosniff")
                self.assertEqual(fields["referrer-policy"], "no-referrer")
                self.assertEqual(fields["cross-origin-opener-policy"], "same-origin")
                self.assertEqual(fields["cross-origin-resource-policy"], "same-origin")
                self.assertEqual(fields["x-frame-options"], "DENY")
                self.assertIn("permissions-policy", fields)
                self.assertNotIn("set-cookie", fields)
                self.assertEqual([one for one in fields if one.startswith("access-control")], [])
        self.assertGreaterEqual(seen, {200, 304, 400, 401, 403, 404, 405, 413, 415, 421})

    def test_files_are_checked_again_and_answers_never_kept(self):
        first = self.get("/")
        self.assertEqual(first.fields["content-type"], "text/html; charset=utf-8")
        self.assertEqual(first.fields["cache-control"], "no-cache")
        self.assertRegex(first.fields["etag"], r'^"[^"]{8,}"$')
        self.assertEqual(self.get("/", **{"If-None-Match": first.fields["etag"]}).status, 304)
        self.assertEqual(self.get("/", **{"If-None-Match": "*"}).status, 304)
        self.assertEqual(self.get("/", **{"If-None-Match": f'"x", {first.fields["etag"]}'}).status, 304)
        self.assertEqual(self.get("/", **{"If-None-Match": '"x"'}).status, 200)
        self.assertNotEqual(self.get("/page.css").fields["etag"], first.fields["etag"])
        for path in ("/api/v1/status", "/api/v1/logs", "/api/v1/settings"):
            self.assertEqual(self.get(path).fields["cache-control"], "no-store", path)
        login = self.login(self.port, {"link": "x"})
        self.assertEqual(login.fields["cache-control"], "no-store")
        head = ask(self.port, "HEAD", "/", own_fields(self.port))
        self.assertEqual((head.status, head.body), (200, b""))

    def test_the_page_names_nothing_outside_and_is_there_whole(self):
        page = self.get("/").body.decode()
        files = {"/page.css"} | set(re.findall(r'(?:src|href)="(/[^"]+)"', page))
        self.assertNotRegex(page, r'(?:src|href|action)="(?!/|#)')
        kinds = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
        for path in files:
            answer = self.get(path)
            self.assertEqual(answer.status, 200, path)
            self.assertEqual(answer.fields["content-type"], kinds[path.rpartition(".")[2]], path)
            self.assertNotRegex(answer.body.decode().replace("http://www.w3.org/", ""), r"https?://(?!vpn\.example)")

    def test_nothing_outside_the_pages_folder_is_served(self):
        for path in ("/../agent.json", "/%2e%2e/agent.json", "/..%2fagent.json", "//etc/passwd", "/./index.html",
                     "/index.html/", "/page.css/../index.html", "/%00", "/index.html%00.css", "/.git/config", "/*",
                     "/api/v1/../../etc/passwd", "/agent.json", "/ui-sessions.json", "/\\..\\x"):
            answer = ask(self.port, "GET", path, own_fields(self.port, self.session))
            self.assertIn(answer.status, (400, 404), f"{path}: {answer}")

    def test_garbage_does_not_hurt(self):
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", os.urandom(4000),
                     b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 200_000 + b"\r\n\r\n",
                     b"POST /api/v1/ui/login HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
                     b"POST /api/v1/ui/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
                # Some of it may be the beginning of a request, which the server waits for.
                connection.settimeout(5)
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass
        self.assertEqual(self.get("/api/v1/status").status, 200)
