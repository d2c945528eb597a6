"""HTTP inside an intercepted tunnel: kept connections, large bodies, events one by one, upgrades, half-closes, framing."""
import hashlib
import os
import ssl
import unittest

import wire
from client import until
from listener import Listener
from opid import merge
from provider import echo_websocket
from tls_case import OPENAI, STRIPE, InterceptCase

MIB = 1 << 20
BIG = int(os.environ.get("TUNNEL_MIB", "32")) * 2 * MIB
BLOCK = os.urandom(1 << 16)


def digest_of(size):
    sha = hashlib.sha256()
    for _ in range(size // len(BLOCK)):
        sha.update(BLOCK)
    return sha.hexdigest()


class Connections(InterceptCase):
    def test_kept_alive(self):
        conn = self.inside(OPENAI)
        for n in range(5):
            r = self.get(conn, OPENAI, f"/{n}")
            self.assert_ok(r)
            self.assertFalse(r.closes)
            self.assertEqual(f"/{n}", self.last.target)

    def test_pipelined(self):
        def handler(ex):
            ex.read_body()
            ex.reply(200, {}, f"{ex.method} {ex.target}")
        self.handle(handler)
        conn = self.inside(OPENAI)
        conn.send(b"".join(wire.head_bytes(f"GET /{n} HTTP/1.1", {"Host": OPENAI}) for n in range(3))
                  + wire.head_bytes("POST /p HTTP/1.1", {"Host": OPENAI, "Operation-Id": "piped", "Content-Length": "1"})
                  + b"x" + wire.head_bytes("GET /last HTTP/1.1", {"Host": OPENAI}))
        answers = [conn.response().body for _ in range(5)]
        self.assertEqual([b"GET /0", b"GET /1", b"GET /2", b"POST /p", b"GET /last"], answers)

    def test_close_is_announced_and_clean(self):
        conn = self.inside(OPENAI)
        r = self.get(conn, OPENAI, headers={"Connection": "close"})
        self.assert_ok(r)
        self.assertTrue(r.closes)
        self.assertEqual(b"", conn.sock.recv(1))    # close_notify: a bare end would have raised

    def test_http_1_0_inside(self):
        conn = self.inside(OPENAI)
        r = conn.request("GET", "/x", host=OPENAI, version="HTTP/1.0")
        self.assertEqual((200, b"ok"), (r.status, r.body))

    def test_head_and_bodyless_answers(self):
        conn = self.inside(OPENAI)
        self.handle(lambda ex: (ex.read_body(), ex.reply(204 if ex.target == "/none" else 200, {}, "12345")))
        r = conn.request("HEAD", "/x", host=OPENAI)
        self.assertEqual((200, "5", b""), (r.status, r.headers.get("Content-Length"), r.body))
        self.assertEqual(204, self.get(conn, OPENAI, "/none").status)
        self.assertEqual(b"12345", self.get(conn, OPENAI).body)

    def test_bad_framing_is_refused_inside_as_outside(self):
        host = f"Host: {OPENAI}\r\n"
        for name, text in {
            "both": f"POST /x HTTP/1.1\r\n{host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "coding": f"POST /x HTTP/1.1\r\n{host}Transfer-Encoding: gzip\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n",
            "no host": "GET /x HTTP/1.1\r\n\r\n",
            "two hosts": f"GET /x HTTP/1.1\r\n{host}{host}\r\n",
            "folded": f"GET /x HTTP/1.1\r\n{host}A: b\r\n c\r\n\r\n",
            "head": f"GET /x HTTP/1.1\r\n{host}A: {'a' * 70_000}\r\n\r\n",
            "garbage": "\x01\x02\x03 nonsense\r\n\r\n",
            "connect": f"CONNECT {STRIPE}:443 HTTP/1.1\r\nHost: {STRIPE}:443\r\n\r\n",
        }.items():
            with self.subTest(name):
                conn = self.inside(OPENAI)
                conn.send(text)
                r = conn.response()
                self.assertIn(r.status, (400, 405, 421, 431, 501), r)
                self.assertIsNotNone(r.problem)
        self.assert_nothing_sent()

    def test_via_once_each_way(self):
        r = self.get(self.inside(OPENAI), OPENAI)
        self.assertEqual((1, 1), (len(r.headers.all("Via")), len(self.last.headers.all("Via"))))
        self.assertNotIn("X-Forwarded-For", self.last.headers)

    def test_expect_continue(self):
        def handler(ex):
            if ex.headers.get("Expect"):
                ex.send("HTTP/1.1 100 Continue\r\n\r\n")
            ex.read_body()
            ex.reply(200, {}, ex.body)
        self.handle(handler)
        for op in ({}, {"Operation-Id": "expects"}):
            conn = self.inside(OPENAI)
            conn.send(wire.head_bytes("POST /x HTTP/1.1", {"Host": OPENAI, "Expect": "100-continue",
                                                           "Content-Length": "5", **op}))
            self.assertEqual(100, conn.head().status)
            conn.send("hello")
            self.assertEqual((200, b"hello"), (lambda r: (r.status, r.body))(conn.response()))


class Bodies(InterceptCase):
    def digesting(self, ex):
        sha = hashlib.sha256()
        for piece in ex.pieces():
            sha.update(piece)
        ex.reply(200, {}, sha.hexdigest())

    def upload(self, size, headers, framing="length"):
        conn = self.inside(OPENAI)
        extra = {"Content-Length": str(size)} if framing == "length" else {"Transfer-Encoding": "chunked"}
        conn.send(wire.head_bytes("POST /upload HTTP/1.1", {"Host": OPENAI, **extra, **headers}))
        for _ in range(size // len(BLOCK)):
            conn.send(BLOCK if framing == "length" else b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK))
        if framing == "chunked":
            conn.send(b"0\r\n\r\n")
        return conn.response()

    def test_uploads(self):
        self.handle(self.digesting)
        for size, headers, framing in ((16 * MIB, {"Operation-Id": "up-1"}, "length"),
                                       (16 * MIB, {"Operation-Id": "up-2"}, "chunked"),
                                       (BIG, {}, "length"), (BIG, {}, "chunked")):
            with self.subTest(size, framing=framing, guarded=bool(headers)):
                r = self.upload(size, headers, framing)
                self.assertEqual((200, digest_of(size).encode()), (r.status, r.body), r)
                self.assertEqual(bool(headers), "Operation-Status" in r.headers)

    def test_a_guarded_body_over_the_limit(self):
        conn = self.inside(OPENAI)
        r = conn.request("POST", "/x", {"Operation-Id": "over", "Content-Length": str(16 * MIB + 1)}, b"", host=OPENAI)
        self.assert_problem(r, "body-too-large", method="POST")
        self.assert_nothing_sent()

    def test_downloads(self):
        for framing in ("length", "chunked", "close"):
            with self.subTest(framing):
                def handler(ex):
                    ex.read_body()
                    head = {"length": {"Content-Length": str(BIG)}, "chunked": {"Transfer-Encoding": "chunked"},
                            "close": {"Connection": "close"}}[framing]
                    ex.send(wire.head_bytes("HTTP/1.1 200 OK", head))
                    for _ in range(BIG // len(BLOCK)):
                        ex.send(b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK) if framing == "chunked" else BLOCK)
                    if framing == "chunked":
                        ex.send("0\r\n\r\n")
                    if framing == "close":
                        ex.keep = False
                        ex.sock = ex.sock.unwrap()     # says that the body ends here
                self.handle(handler)
                conn = self.inside(OPENAI)
                conn.send(wire.head_bytes("GET /big HTTP/1.1", {"Host": OPENAI}))
                r, sha = conn.response(whole=False), hashlib.sha256()
                for piece in conn.body(r):
                    sha.update(piece)
                self.assertEqual((None, digest_of(BIG)), (r.broken, sha.hexdigest()))

    def test_a_body_that_ends_without_close_notify_is_not_passed_off_as_whole(self):
        def handler(ex):
            ex.read_body()
            ex.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf of it")
            ex.keep = False
            os.close(ex.sock.detach())      # the connection ends, TLS does not
        self.handle(handler)
        conn = self.inside(OPENAI)
        conn.send(wire.head_bytes("GET /x HTTP/1.1", {"Host": OPENAI}))
        r = conn.response()
        self.assertTrue(r.status == 502 or r.broken, r)

    def test_events_one_by_one(self):
        for op in ({}, {"Operation-Id": "events"}):
            gates = [f"{bool(op)}-{n}" for n in range(4)]

            def handler(ex):
                ex.read_body()
                ex.send(wire.head_bytes("HTTP/1.1 200 OK", {"Content-Type": "text/event-stream",
                                                            "Transfer-Encoding": "chunked"}))
                for n, gate in enumerate(gates):
                    event = b"data: %d\n\n" % n
                    ex.send(b"%x\r\n%s\r\n" % (len(event), event))
                    self.provider.gate(gate).wait(20)
                ex.send("0\r\n\r\n")
            self.handle(handler)
            conn = self.inside(OPENAI)
            conn.send(wire.head_bytes("POST /v1/chat HTTP/1.1", {"Host": OPENAI, "Content-Length": "2", **op}) + b"{}")
            r = conn.response(whole=False)
            body, got = conn.body(r), b""
            for n, gate in enumerate(gates):    # the next event is made only after this one has come
                while b"data: %d\n\n" % n not in got:
                    got += next(body)
                self.provider.open_gate(gate)
            self.assertEqual([], list(body))
            self.assertIsNone(r.broken)
        self.assertEqual("succeeded", self.opid.settled("events"))
        r = self.write(self.inside(OPENAI), OPENAI, "events", "{}", "/v1/chat")
        self.assertTrue(r.replayed or r.problem == "payload-mismatch", r)


class Upgrades(InterceptCase):
    def test_websocket(self):
        ended = []

        def handler(ex):
            try:
                echo_websocket(ex)
            except OSError:
                pass
            finally:
                ended.append(1)
        self.handle(handler)
        conn = self.inside(OPENAI)
        conn.send(wire.head_bytes("GET /socket HTTP/1.1", [
            ("Host", OPENAI), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Extensions", "permessage-deflate")]))
        r = conn.response()
        self.assertEqual(101, r.status, r)
        self.assertIn("Sec-WebSocket-Accept", r.headers)
        self.assertEqual("permessage-deflate", self.last.headers.get("Sec-WebSocket-Extensions"))
        frames = bytes(range(256)) * 400
        for _ in range(3):
            conn.send(frames)
            self.assertEqual(frames, conn.reader.exact(len(frames)))
        conn.sock.send_close_notify()
        conn.sock.sock.shutdown(1)
        self.provider.wait(lambda: ended, "the end of the socket")

    def test_half_close_still_gets_the_whole_answer(self):
        for how in ("close_notify", "both"):
            with self.subTest(how):
                gate = f"half-{how}"

                def handler(ex):
                    ex.read_body()
                    self.provider.gate(gate).wait(20)
                    ex.reply(200, {}, b"z" * 300_000)
                self.handle(handler)
                conn = self.inside(OPENAI)
                seen = self.count()
                conn.send(wire.head_bytes("GET /slow HTTP/1.1", {"Host": OPENAI}))
                self.provider.wait(lambda: self.count() > seen, "the request")
                conn.sock.send_close_notify()
                if how == "both":
                    conn.sock.sock.shutdown(1)
                self.provider.open_gate(gate)
                r = conn.response()
                self.assertEqual((200, 300_000, None), (r.status, len(r.body), r.broken))


class BlindTls(InterceptCase):
    """TLS from end to end through a blind tunnel: byte for byte, a large amount each way."""

    def test_large_amounts_both_ways(self):
        sums = []

        def serve(sock, _):
            reader, sha, size = wire.Reader(sock, log_limit=0), hashlib.sha256(), 0
            while size < BIG:
                piece = reader.some()
                size += len(piece)
                sha.update(piece)
            sums.append(sha.hexdigest())
            for _ in range(BIG // len(BLOCK)):
                sock.sendall(BLOCK)
        origin = Listener(serve, tls=self.ca.context("big.test"))
        self.addCleanup(origin.close)
        self.opid.write_config(merge(self.opid.config, {"egress": {"resolve": {"big.test:443": origin.authority}}}))
        self.opid.restart()
        conn, r = self.tunnel("big.test:443", timeout=60)
        self.assertEqual(200, r.status)
        conn.start_tls(ssl.create_default_context(cafile=self.ca.ca_file), "big.test")
        for _ in range(BIG // len(BLOCK)):
            conn.sock.sendall(BLOCK)
        sha, size = hashlib.sha256(), 0
        while size < BIG:
            piece = conn.sock.recv(1 << 18)
            self.assertTrue(piece, "cut")
            size += len(piece)
            sha.update(piece)
        self.assertEqual(([digest_of(BIG)], digest_of(BIG)), (sums, sha.hexdigest()))
        until(lambda: self.opid.alive(), "opid lives")


if __name__ == "__main__":
    unittest.main()
