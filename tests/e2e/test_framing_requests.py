"""Message framing of requests: what is refused, and the exact bytes of what goes on (A1 of the wire rules)."""
import unittest

from case import REVERSE, WAYS, ProxyCase
from wire import Closed

# name, request bytes ({t} is the target, {h} the Host), allowed statuses. Each must close the connection and send nothing.
POST = "POST {t} HTTP/1.1\r\nHost: {h}\r\n"
GET = "GET {t} HTTP/1.1\r\nHost: {h}\r\n"
REFUSED = [
    ("F01 length and coding", POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {400}),
    ("F01 coding and length", POST + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
     {400}),
    ("F01 gzip and length", POST + "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", {400}),
    ("F02 gzip alone", POST + "Transfer-Encoding: gzip\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {h}\r\n\r\n",
     {400}),
    ("F03 chunked, gzip", POST + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", {400}),
    ("F03 chunked, chunked", POST + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", {400}),
    ("F03 xchunked", POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", {400, 501}),
    ("F03 quoted", POST + 'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n', {400}),
    ("F04 gzip, chunked", POST + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {501}),
    ("F05 leading comma", POST + "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n", {400}),
    ("F05 trailing comma", POST + "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", {400}),
    ("F05 parameter", POST + "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n", {400}),
    ("F05 empty", POST + "Transfer-Encoding:\r\n\r\n", {400}),
    ("F05 identity line", POST + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {400}),
    ("F06 two lines", POST + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {400}),
    ("F07 coding in 1.0", "POST {t} HTTP/1.0\r\nHost: {h}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     {400}),
    ("F10 two lengths", POST + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", {400}),
    ("F10 list of lengths", POST + "Content-Length: 5, 6\r\n\r\nhello!", {400}),
    ("F12 space before colon", GET + "X-A : 1\r\n\r\n", {400}),
    ("F12 space before the length's colon", POST + "Content-Length : 5\r\n\r\nhello", {400}),
    ("F13 folded", GET + "X-A: 1\r\n folded\r\n\r\n", {400}),
    ("F13 folded length", POST + "Content-Length:\r\n 5\r\n\r\nhello", {400}),
    ("F13 folded coding", POST + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", {400}),
    ("F14 bare LF after the line", "GET {t} HTTP/1.1\nHost: {h}\r\n\r\n", {400}),
    ("F14 bare LF after a field", "GET {t} HTTP/1.1\r\nHost: {h}\nX-A: 1\r\n\r\n", {400}),
    ("F15 lone LF ends the head", GET + "\n", {400}),
    ("F16 bare CR", GET + "X-A: a\rb\r\n\r\n", {400}),
    ("F16 NUL", GET + "X-A: a\0b\r\n\r\n", {400}),
    ("F16 control", GET + "X-A: a\x01b\r\n\r\n", {400}),
    ("F16 DEL", GET + "X-A: a\x7fb\r\n\r\n", {400}),
    ("F17 high byte in a name", GET + "X-\xc3: 1\r\n\r\n", {400}),
    ("F17 @ in a name", GET + "X@A: 1\r\n\r\n", {400}),
    ("F17 empty name", GET + ": 1\r\n\r\n", {400}),
    ("F17 no colon", GET + "nothing\r\n\r\n", {400}),
    ("F18 first line starts with a space", "GET {t} HTTP/1.1\r\n X-A: 1\r\nHost: {h}\r\n\r\n", {400}),
    ("F18 first line starts with a tab", "GET {t} HTTP/1.1\r\n\tX-A: 1\r\nHost: {h}\r\n\r\n", {400}),
    ("F19 no Host", "GET {t} HTTP/1.1\r\n\r\n", {400}),
    ("F19 two Hosts", GET + "Host: {h}\r\n\r\n", {400}),
    ("F19 Host with userinfo", "GET {t} HTTP/1.1\r\nHost: a@{h}\r\n\r\n", {400}),
    ("F19 Host with a path", "GET {t} HTTP/1.1\r\nHost: {h}/x\r\n\r\n", {400}),
    ("F19 Host with a comma", "GET {t} HTTP/1.1\r\nHost: {h},x\r\n\r\n", {400}),
    ("F23 HTTP/2.0", "GET {t} HTTP/2.0\r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F23 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505}),
    ("F23 HTTP/0.9", "GET {t}\r\n", {400, 505}),
    ("F23 lower case", "GET {t} http/1.1\r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F23 HTTP/1.10", "GET {t} HTTP/1.10\r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F24 two spaces", "GET  {t} HTTP/1.1\r\nHost: {h}\r\n\r\n", {400}),
    ("F24 tab", "GET\t{t} HTTP/1.1\r\nHost: {h}\r\n\r\n", {400}),
    ("F24 trailing space", "GET {t} HTTP/1.1 \r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F24 space in the target", "GET {t}a b HTTP/1.1\r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F24 no target", "GET HTTP/1.1\r\nHost: {h}\r\n\r\n", {400, 505}),
    ("F25 control byte in the target", "GET {t}\x01 HTTP/1.1\r\nHost: {h}\r\n\r\n", {400}),
    ("F25 fragment", "GET {t}#f HTTP/1.1\r\nHost: {h}\r\n\r\n", {400}),
]
REFUSED += [(f"F08 length {v!r}", POST + f"Content-Length: {v}\r\n\r\nhello", {400})
            for v in ("+5", "-5", "0x5", "1_0", "5 5", "", "9223372036854775808", "99999999999999999999999",
                      "5a")]
BAD_CHUNKS = [(f"F28 size {size!r}", size + "\r\nhello\r\n0\r\n\r\n")
              for size in ("0x5", "+5", "-0", " 5", "5 ", "5junk", "0_5", "", "FFFFFFFFFFFFFFFFF", "g")]
BAD_CHUNKS += [
    ("F29 no CRLF after the data", "5\r\nhelloX\r\n0\r\n\r\n"),
    ("F29 longer than its size", "3\r\nhello\r\n0\r\n\r\n"),
    ("F30 bare LF after the size", "5\nhello\r\n0\r\n\r\n"),
    ("F30 bare LF in an extension", "5;a\n\r\nhello\r\n0\r\n\r\n"),
    ("F30 NUL in an extension", "5;a\0b\r\nhello\r\n0\r\n\r\n"),
    ("F30 CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
    ("F32 extension over its limit", "5;" + "x" * 9000 + "\r\nhello\r\n0\r\n\r\n"),
    ("F50 leading zeros", "0" * 40 + "5\r\nhello\r\n0\r\n\r\n"),
    ("F15 last chunk with a lone LF", "5\r\nhello\r\n0\n\r\n"),
    ("F15 final blank with a lone LF", "5\r\nhello\r\n0\r\n\n"),
]
REFUSED_GUARDED_ONLY = BAD_CHUNKS   # a guarded write is read whole first, so a late fault is still a 400


def host_of(base):
    return base[7:] if base.startswith("http://") else "opid.test"


class Refused(ProxyCase):
    config = {"timeouts": {"head": "3s", "body_stall": "3s"}}

    def refuse(self, base, data, statuses):
        conn = self.connect(timeout=10)
        conn.send(data.replace("{t}", base + "/x").replace("{h}", host_of(base)).encode("latin-1"))
        r = conn.response()
        self.assertIn(r.status, statuses, r)
        self.assert_problem(r)
        self.assertTrue(r.closes, r)
        self.assertTrue(conn.at_end(), "the connection stays open")
        self.assert_nothing_sent()

    def test_refused_heads(self):
        for way, base in WAYS.items():
            for name, data, statuses in REFUSED:
                with self.subTest(name, way=way):
                    self.refuse(base, data, statuses)
        self.assert_alive()

    def test_refused_heads_byte_by_byte(self):
        for name, data, statuses in REFUSED[::4]:
            with self.subTest(name):
                conn = self.connect(timeout=10)
                conn.send_pieces(data.replace("{t}", "/demo/x").replace("{h}", "a").encode("latin-1"))
                self.assertIn(conn.response().status, statuses)
                self.assert_nothing_sent()
        self.assert_alive()

    def test_bad_chunks_of_guarded_writes(self):
        head = "POST /demo/x HTTP/1.1\r\nHost: a\r\nOperation-Id: chunk-{n}\r\nTransfer-Encoding: chunked\r\n\r\n"
        for n, (name, body) in enumerate(REFUSED_GUARDED_ONLY):
            with self.subTest(name):
                conn = self.connect(timeout=10)
                conn.send((head.replace("{n}", str(n)) + body).encode("latin-1"))
                r = conn.response()
                self.assertIn(r.status, {400, 413}, r)
                self.assertTrue(conn.at_end())
                self.assert_nothing_sent()
                self.assertIn(self.opid.status(f"chunk-{n}"), (None, "prepared"))
        self.assert_alive()

    def test_bad_chunks_of_passed_through_requests(self):
        """400, or the upstream connection is dropped without a terminator: the provider never sees a whole request."""
        for way, base in WAYS.items():
            for name, body in BAD_CHUNKS:
                with self.subTest(name, way=way):
                    whole = []

                    def handler(ex):
                        ex.read_body()
                        whole.append(ex)
                        ex.reply(200, {}, "ok")

                    self.handle(handler)
                    conn = self.connect(timeout=10)
                    conn.send((f"POST {base}/x HTTP/1.1\r\nHost: {host_of(base)}\r\nTransfer-Encoding: chunked\r\n\r\n"
                               + body).encode("latin-1"))
                    try:
                        self.assertIn(conn.response().status, {400, 413})
                        self.assertTrue(conn.at_end())
                    except Closed:
                        pass    # the head had been sent on already: the exchange is dropped
                    self.assertEqual([], whole)
        self.assertEqual([], self.provider.faults)
        self.assert_alive()

    def test_nothing_behind_a_refused_request_is_executed(self):
        conn = self.connect()
        conn.send("POST /demo/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"
                  "GET /demo/second HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(400, conn.response().status)
        self.assertTrue(conn.at_end())
        self.assert_nothing_sent()

    def test_slow_head_ends_with_408(self):
        conn = self.connect(timeout=15)
        conn.send("GET /demo/x HTTP/1.1\r\nHo")
        r = conn.response()
        self.assert_problem(r, "request-timeout")
        self.assertTrue(conn.at_end())


class Accepted(ProxyCase):
    def sent(self, data):
        """Sends the bytes, expects a 200, and gives what the provider saw."""
        conn = self.connect()
        conn.send(data if isinstance(data, bytes) else data.encode("latin-1"))
        r = conn.response()
        self.assertEqual(200, r.status, r)
        self.assertEqual(self.seen + 1, self.count())
        self.seen = self.count()
        return self.last

    def test_host_is_optional_in_1_0(self):
        self.sent("GET http://plain.test/x HTTP/1.0\r\n\r\n")
        self.assertEqual("plain.test", self.last.headers.get("Host"))

    def test_blank_lines_before_a_request(self):
        conn = self.connect()
        for blank in ("\r\n", "\r\n\r\n", "\r\n"):
            conn.send(blank + "GET /demo/x HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertEqual(200, conn.response().status)

    def test_minor_versions_count_as_1_1(self):
        for minor in (2, 9):
            with self.subTest(minor):
                x = self.sent(f"GET /demo/x HTTP/1.{minor}\r\nHost: a\r\n\r\n")
                self.assertEqual("HTTP/1.1", x.version)

    def test_targets_go_on_byte_for_byte(self):
        for path in ("/caf\xc3\xa9", "/a|b", '/"q"', "/{x}", "/a\\b", "/a%00b", "/a%0d%0ab", "/%2e%2e/x",
                     "/a//b", "/a/../b",
                     "/?", "/?a=1&a=2;b", "/%7Euser", "/a%2Fb", "/;p=1", "/a?x=/demo/"):
            for way, base in WAYS.items():
                with self.subTest(path, way=way):
                    host = base[7:] or "a"
                    self.assertEqual(path,
                                     self.sent(f"GET {base}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").target)

    def test_methods_keep_their_case(self):
        for method in ("QUERY", "PROPFIND", "get", "M-SEARCH"):
            with self.subTest(method):
                self.assertEqual(method,
                                 self.sent(f"{method} http://plain.test/x HTTP/1.1\r\nHost: plain.test\r\n\r\n").method)

    def test_equal_lengths_become_one_or_are_refused(self):
        for lines in ("Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5",
                      "Content-Length: 0005"):
            with self.subTest(lines):
                conn = self.connect()
                conn.send(f"POST /demo/x HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\nhello")
                r = conn.response()
                if r.status == 200:
                    self.assertEqual(["5"], self.last.headers.all("Content-Length"))
                    self.assertEqual(b"hello", self.last.body)
                else:
                    self.assertEqual(400, r.status)

    def test_length_stays_length_and_chunked_stays_chunked(self):
        for base in WAYS.values():
            host = base[7:] or "a"
            x = self.sent(f"POST {base}/x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nhello")
            self.assertEqual(("length", b"hello"), (x.framing, x.body))
            x = self.sent(f"POST {base}/x HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: Chunked\r\n\r\n"
                          "2;ext=1\r\nhe\r\n03\r\nllo\r\n0\r\n\r\n")
            self.assertEqual(("chunked", b"hello"), (x.framing, x.body))
            self.assertNotIn(b"ext=1", x.raw)

    def test_bodies_of_get_and_delete_go_on(self):
        for method in ("GET", "DELETE", "OPTIONS"):
            with self.subTest(method):
                x = self.sent(f"{method} /demo/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
                self.assertEqual((method, b"hi"), (x.method, x.body))

    def test_trailers_reach_the_provider_but_never_the_head(self):
        x = self.sent("POST http://plain.test/x HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                      "2\r\nhi\r\n0\r\nX-Sum: 9\r\n\r\n")
        self.assertEqual("9", x.trailers.get("X-Sum"))
        for name in ("Content-Length", "Transfer-Encoding", "Host", "Authorization", "Connection", "Upgrade",
                     "Cookie",
                     "Content-Type", "Idempotency-Key", "Operation-Id", "Proxy-Authorization"):
            with self.subTest(name):
                conn = self.connect()
                conn.send("POST /demo/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                          f"2\r\nhi\r\n0\r\n{name}: 5\r\n\r\n")
                r = conn.response()
                self.assertIn(r.status, (200, 400), r)
                if r.status == 200:
                    self.assertNotIn(name, self.last.trailers)
                    self.assertNotEqual("5", self.last.headers.get(name))
                    self.assertEqual(200, conn.request("GET", REVERSE + "/again").status)

    def test_the_target_beats_the_host(self):
        x = self.sent("GET http://plain.test/x HTTP/1.1\r\nHost: other.test\r\n\r\n")
        self.assertEqual(["plain.test"], x.headers.all("Host"))
        self.assertEqual("/x", x.target)

    def test_bytes_after_a_chunked_body_are_the_next_request(self):
        conn = self.connect()
        conn.send("POST /demo/one HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
                  "GET /demo/two HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual([200, 200], [conn.response().status, conn.response().status])
        self.assertEqual("/two", self.last.target)

    def test_every_split_of_a_request(self):
        data = b"POST /demo/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
        conn = self.connect()
        for at in range(1, len(data), 3):
            with self.subTest(at):
                conn.send(data[:at])
                conn.send(data[at:])
                self.assertEqual(200, conn.response().status)
                self.assertEqual(b"abc", self.last.body)


if __name__ == "__main__":
    unittest.main()
