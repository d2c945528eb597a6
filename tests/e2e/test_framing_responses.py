"""Message framing of answers in pass-through: what reaches the client, byte by byte where it matters."""
import threading
import unittest

import wire
from case import FORWARD, REVERSE, ProxyCase


class Answers(ProxyCase):
    def answering(self, raw, close=True):
        def handler(ex):
            ex.read_body()
            ex.send(raw)
            ex.keep = not close
        self.handle(handler)

    def get(self, path="/x", method="GET", version="HTTP/1.1", base=FORWARD):
        conn = self.connect()
        conn.send(f"{method} {base}{path} {version}\r\nHost: plain.test\r\n\r\n")
        return conn, conn.response(method)

    def test_body_to_the_end_of_the_connection(self):
        for base in (FORWARD, REVERSE):
            self.answering("HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nuntil the end")
            conn, r = self.get(base=base)
            self.assertEqual((b"until the end", "chunked", None), (r.body, r.framing, r.broken))
            _, r = self.get(version="HTTP/1.0", base=base)
            self.assertEqual((b"until the end", "close"), (r.body, r.framing))

    def test_body_to_the_end_cut_by_a_reset(self):
        def handler(ex):
            ex.read_body()
            ex.send("HTTP/1.1 200 OK\r\n\r\npart")
            self.gate.wait(10)
            ex.rst()
        self.gate = threading.Event()
        self.handle(handler)
        conn = self.connect()
        conn.send("GET http://plain.test/x HTTP/1.1\r\nHost: plain.test\r\n\r\n")
        r = conn.response(whole=False)
        body = conn.body(r)
        self.assertEqual(b"part", next(body))
        self.gate.set()
        self.assertEqual([], list(body))
        self.assertIsNotNone(r.broken, "a reset looks like the end of the body")

    def test_head_204_304(self):
        for method, raw, status, length in (
                ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", 200, "1234"),
                ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, None),
                ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\nETag: \"a\"\r\n\r\n", 304, "77"),
                ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, None),
                ("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 204, None)):
            with self.subTest(raw, method=method):
                self.answering(raw, close=False)
                conn, r = self.get(method=method)
                self.assertEqual(status, r.status)
                self.assertEqual(length, r.headers.get("Content-Length"))
                if status != 200:
                    self.assertNotIn("Transfer-Encoding", r.headers)
                self.handle(lambda ex: (ex.read_body(), ex.reply(200, {}, "next")))
                self.assertEqual(b"next", conn.request("GET", FORWARD + "/next", host="plain.test").body)

    def test_extra_bytes_after_an_answer_are_never_the_next_answer(self):
        self.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", close=False)
        conn, r = self.get()
        self.assertEqual(b"ok", r.body)
        self.handle(lambda ex: (ex.read_body(), ex.reply(200, {}, "good")))
        self.assertEqual(b"good", conn.request("GET", FORWARD + "/next", host="plain.test").body)

    def test_extra_bytes_are_not_the_answer_to_a_pipelined_request_either(self):
        self.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", close=False)
        conn = self.connect()
        request = f"GET {FORWARD}/%s HTTP/1.1\r\nHost: plain.test\r\n\r\n"
        conn.send(request % "one" + request % "two")
        self.assertEqual(b"ok", conn.response().body)
        self.assertEqual(b"ok", conn.response().body)

    def test_length_and_coding_at_once(self):
        self.answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        _, r = self.get()
        if r.status == 200:
            self.assertEqual((b"hi", None), (r.body, r.headers.get("Content-Length")))
        else:
            self.assert_problem(r, "upstream-invalid")

    def test_status_line_without_a_reason(self):
        for line in ("HTTP/1.1 200", "HTTP/1.1 200 "):
            with self.subTest(line):
                self.answering(line + "\r\nContent-Length: 2\r\n\r\nok")
                _, r = self.get()
                self.assertEqual((200, b"ok"), (r.status, r.body))

    def test_interim_answers(self):
        raw = ("HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\nHTTP/1.1 102 Processing\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"
               "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        self.answering(raw)
        _, r = self.get()
        self.assertEqual((200, b"ok"), (r.status, r.body))
        self.assertEqual([102, 103], [s for s, _ in r.interim if s != 100])
        for _, headers in r.interim:
            self.assertNotIn("X-Hop", headers)
        _, r = self.get(version="HTTP/1.0")
        self.assertEqual((200, []), (r.status, r.interim))

    def test_too_many_interim_answers(self):
        self.answering("HTTP/1.1 103 Early Hints\r\n\r\n" * 33 + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        _, r = self.get()
        self.assert_problem(r, "upstream-invalid")

    def test_empty_chunked_answer_has_one_last_chunk(self):
        self.answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", close=False)
        conn, r = self.get()
        self.assertEqual((b"", "chunked"), (r.body, r.framing))
        self.assertEqual(200, conn.request("GET", FORWARD + "/again", host="plain.test").status)

    def test_trailers_of_an_answer(self):
        self.answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                       + wire.chunked(["abc"], [("X-Sum", "7")]), close=False)
        _, r = self.get()
        self.assertEqual((b"abc", "7"), (r.body, r.trailers.get("X-Sum")))
        _, r = self.get(version="HTTP/1.0")
        self.assertEqual((b"abc", "close"), (r.body, r.framing))

    def test_malformed_answers_are_502(self):
        for raw in ("garbage\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nbad name: 1\r\n\r\n",
                    "HTTP/2.0 200 OK\r\n\r\n",
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nX-Big: " + "x" * 70000 + "\r\n\r\n"):
            with self.subTest(raw[:60]):
                self.answering(raw)
                _, r = self.get()
                self.assertEqual(502, r.status, r)
                self.assert_problem(r)
        self.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        self.assert_alive()

    def test_nothing_but_a_close_is_502(self):
        self.handle(lambda ex: (ex.read_body(), ex.drop()))
        conn, r = self.get(method="POST")
        self.assertEqual(502, r.status)
        self.assert_problem(r)

    def test_cut_bodies_are_cut_for_the_client_too(self):
        for raw in ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            for base in (FORWARD, REVERSE):
                with self.subTest(raw, base=base):
                    self.answering(raw)
                    _, r = self.get(base=base)
                    self.assertTrue(r.broken is not None or r.status == 502, r)
                    self.assertNotIn(b"problem", r.body if r.status == 200 else b"")
        self.assert_alive()


if __name__ == "__main__":
    unittest.main()
