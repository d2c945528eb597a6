"""Which fields go on, which are taken off, and what opid adds (A2 of the wire rules)."""
import unittest

from case import FORWARD, PROFILED, REVERSE, WAYS, ProxyCase


class Requests(ProxyCase):
    def sent(self, base, lines, method="GET"):
        conn = self.connect()
        host = base[7:] or "a"
        conn.send(f"{method} {base}/x HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n".encode("latin-1"))
        r = conn.response(method)
        self.assertEqual(200, r.status, r)
        return self.last

    def test_hop_by_hop_fields_stay_here(self):
        lines = ("Connection:\r\nConnection: close, X-FOO ,x-bar\r\nX-Foo: 1\r\nX-Bar: 2\r\nX-Stay: 3\r\nKeep-Alive: 5\r\n"
                 "Proxy-Connection: keep-alive\r\nTE: gzip\r\nHTTP2-Settings: x\r\nUpgrade: h2c\r\n")
        for way, base in WAYS.items():
            with self.subTest(way):
                x = self.sent(base, lines)
                for name in ("X-Foo", "X-Bar", "Keep-Alive", "Proxy-Connection", "TE", "HTTP2-Settings",
                             "Upgrade"):
                    self.assertNotIn(name, x.headers)
                self.assertEqual("3", x.headers.get("X-Stay"))

    def test_proxy_credentials_stay_here(self):
        for way, base in WAYS.items():
            with self.subTest(way):
                x = self.sent(base,
                              "Proxy-Authorization: Basic YTpi\r\nProxy-Authenticate: x\r\nAuthorization: Bearer b\r\n")
                self.assertNotIn("Proxy-Authorization", x.headers)
                self.assertEqual("Bearer b", x.headers.get("Authorization"))

    def test_vital_fields_cannot_be_listed_away(self):
        for name, value in (("Authorization", "Bearer x"), ("Cookie", "a=b"), ("Content-Type", "text/x"),
                            ("Idempotency-Key", "k"), ("X-Forwarded-For", None), ("Host", None)):
            with self.subTest(name):
                conn = self.connect()
                field = f"{name}: {value}\r\n" if value else ""
                conn.send(f"GET {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nConnection: {name}\r\n{field}\r\n")
                r = conn.response()
                self.assertIn(r.status, (200, 400))
                if r.status == 200:
                    self.assertIn("Host", self.last.headers)
                    if value:
                        self.assertEqual(value, self.last.headers.get(name))

    def test_listed_operation_id_still_counts(self):
        conn = self.connect()
        conn.send("POST /demo/x HTTP/1.1\r\nHost: a\r\nConnection: Operation-Id\r\nOperation-Id: listed-1\r\nContent-Length: 0\r\n\r\n")
        r = conn.response()
        if r.status != 400:
            self.assertEqual("listed-1", r.headers.get("Operation-Id"))

    def test_via_both_ways(self):
        for way, base in WAYS.items():
            with self.subTest(way):
                conn = self.connect()
                r = conn.request("GET", base + "/x", host=base[7:] or "a")
                self.assertIn("1.1 opid", self.last.headers.get("Via", ""))
                self.assertIn("1.1 opid", r.headers.get("Via", ""))

    def test_forwarded_for(self):
        x = self.sent(REVERSE, "X-Forwarded-For: 9.9.9.9\r\n")
        self.assertEqual(["127.0.0.1"], x.headers.all("X-Forwarded-For"))
        for base in (FORWARD, PROFILED):
            x = self.sent(base, "")
            for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"):
                self.assertNotIn(name, x.headers)

    def test_nothing_is_added_or_changed(self):
        lines = [("User-Agent", "t/1"), ("Accept", "*/*"), ("Accept-Encoding", "br"), ("X-dOuBle", "1"),
                 ("X-dOuBle", "2"),
                 ("X-Bytes", "\xe9\xff"), ("Date", "x"), ("ETag", '"a"'), ("Range", "bytes=0-1"),
                 ("X-Empty", "")]
        for way, base in WAYS.items():
            with self.subTest(way):
                x = self.sent(base, "".join(f"{n}: {v}\r\n" for n, v in lines))
                got = [p for p in x.headers.pairs if p[0] not in ("Host", "Via", "X-Forwarded-For",
                                                                  "Connection")]
                self.assertEqual(lines, got)

    def test_no_user_agent_is_invented(self):
        x = self.sent(FORWARD, "")
        self.assertEqual({"host", "via"}, {n.lower() for n in x.headers.names()} - {"connection"})

    def test_operation_fields_are_taken_off_of_reads_too(self):
        for base in (REVERSE, PROFILED):
            x = self.sent(base, "Operation-Id: a\r\nOperation-Anything: b\r\noperation-wait: 3\r\n")
            self.assertEqual([], [n for n in x.headers.names() if n.lower().startswith("operation")])

    def test_hosts_without_a_profile_are_left_alone(self):
        x = self.sent(FORWARD, "Operation-Id: a\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n", "POST")
        self.assertEqual("k", x.headers.get("Idempotency-Key"))

    def test_max_forwards(self):
        for method in ("OPTIONS", "TRACE"):
            with self.subTest(method):
                before = self.count()
                r = self.connect().request(method, FORWARD + "/x", {"Max-Forwards": "0"}, host="plain.test")
                self.assertEqual((200, before), (r.status, self.count()))
                self.sent(FORWARD, "Max-Forwards: 3\r\n", method)
                self.assertEqual("2", self.last.headers.get("Max-Forwards"))
        self.assertEqual("3", self.sent(FORWARD, "Max-Forwards: 3\r\n").headers.get("Max-Forwards"))

    def test_a_loop_is_refused(self):
        for base in (FORWARD, PROFILED, REVERSE):
            with self.subTest(base):
                r = self.connect().request("GET", base + "/x", {"Via": "1.1 opid"}, host=base[7:] or "a")
                self.assert_problem(r, "loop")
        r = self.connect().request("GET", f"http://127.0.0.1:{self.opid.ports['proxy']}/demo/x", host="a")
        self.assertIn(r.status, (403, 404, 508), r)
        self.assert_nothing_sent()


class Answers(ProxyCase):
    def get(self, headers, base=FORWARD):
        self.handle(lambda ex: (ex.read_body(), ex.reply(200, headers, "ok")))
        return self.connect().request("GET", base + "/x", host=base[7:] or "a")

    def test_hop_by_hop_fields_of_an_answer(self):
        for base in (FORWARD, REVERSE):
            r = self.get([("Connection", "keep-alive, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=1"),
                          ("Proxy-Connection", "x"), ("X-Stay", "2")], base)
            for name in ("X-Hop", "Keep-Alive", "Proxy-Connection"):
                self.assertNotIn(name, r.headers)
            self.assertEqual("2", r.headers.get("X-Stay"))

    def test_close_of_the_provider_is_not_the_clients(self):
        self.handle(lambda ex: (ex.read_body(), ex.reply(200, {"Connection": "close"}, "ok"), ex.drop()))
        conn = self.connect()
        for _ in range(3):
            r = conn.request("GET", FORWARD + "/x", host="plain.test")
            self.assertEqual((200, False), (r.status, r.closes))

    def test_repeated_fields_keep_their_lines_and_order(self):
        pairs = [("Set-Cookie", "a=1, b"), ("X-Q", "1"), ("Set-Cookie", "c=2"), ("X-Q", "2"),
                 ("Date", "yesterday"), ("Server", "s")]
        r = self.get(pairs)
        for name in ("Set-Cookie", "X-Q", "Date", "Server"):
            self.assertEqual([v for n, v in pairs if n == name], r.headers.all(name))

    def test_forged_fields_of_opid_are_taken_off(self):
        for base in (FORWARD, REVERSE, PROFILED):
            r = self.get([("Opid-Problem", "needs-review"), ("X-Stay", "2")], base)
            self.assertEqual((None, "2"), (r.problem, r.headers.get("X-Stay")))

    def test_an_answer_of_407_is_relayed(self):
        self.handle(lambda ex: (ex.read_body(), ex.reply(407, {}, "no")))
        r = self.connect().request("GET", FORWARD + "/x", host="plain.test")
        self.assertEqual((407, b"no", None), (r.status, r.body, r.problem))

    def test_redirects_are_relayed(self):
        for status in (301, 302, 303, 307, 308):
            self.handle(lambda ex,
                        s=status: (ex.read_body(), ex.reply(s, {"Location": "http://10.0.0.1/"}, "")))
            r = self.connect().request("GET", FORWARD + "/x", host="plain.test")
            self.assertEqual((status, "http://10.0.0.1/"), (r.status, r.headers.get("Location")))


if __name__ == "__main__":
    unittest.main()
