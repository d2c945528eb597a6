"""Every input is bounded and the process survives all of it (A11 of the wire rules)."""
import random
import unittest

import wire
from case import FORWARD, REVERSE, ProxyCase


class Limits(ProxyCase):
    def test_heads_up_to_the_limit(self):
        for size in (8_000, 30_000, 58_000):
            with self.subTest(size):
                value = "c" * size
                self.handle(lambda ex: (ex.read_body(), ex.reply(200, {"X-Big": value}, "ok")))
                for base in (FORWARD, REVERSE):
                    r = self.connect().request("GET", base + "/x", {"X-Large": value}, host=base[7:] or "a")
                    self.assertEqual((200, value), (r.status, r.headers.get("X-Big")))
                    self.assertEqual(value, self.last.headers.get("X-Large"))

    def test_heads_over_the_limit(self):
        for size in (61_500, 65_530, 65_536, 70_000, 300_000):
            with self.subTest(size):
                conn = self.connect()
                conn.send(f"GET {REVERSE}/x HTTP/1.1\r\nHost: a\r\nX-Large: {'c' * size}\r\n\r\n")
                r = conn.response()
                self.assert_problem(r, "head-too-large")
                self.assertTrue(conn.at_end())
        self.assert_nothing_sent()
        self.assert_alive()

    def test_answers_with_a_head_over_the_limit(self):
        for size in (65_530, 65_536, 70_000):
            with self.subTest(size):
                self.handle(lambda ex: (ex.read_body(),
                                        ex.send(f"HTTP/1.1 200 OK\r\nX: {'c' * size}\r\n\r\n"), ex.drop()))
                r = self.connect().request("GET", FORWARD + "/x", host="plain.test")
                self.assert_problem(r, "upstream-invalid")
        self.handle(lambda ex: (ex.read_body(), ex.reply(200, {}, "ok")))
        self.assert_alive()

    def test_many_fields(self):
        for count, fits in ((500, True), (514, False), (10_000, False)):
            with self.subTest(count):
                conn = self.connect()
                conn.send(f"GET {REVERSE}/x HTTP/1.1\r\nHost: a\r\n" + "A: \r\n" * count + "\r\n")
                r = conn.response()
                self.assertEqual(200 if fits else 431, r.status)

    def test_long_targets(self):
        for length, status in ((16_000, 200), (17_000, 414), (40_000, 414)):
            with self.subTest(length):
                conn = self.connect()
                conn.send(f"GET {REVERSE}/{'t' * length} HTTP/1.1\r\nHost: a\r\n\r\n")
                r = conn.response()
                self.assertEqual(status, r.status)
                if status == 414:
                    self.assert_problem(r, "target-too-long")
                    self.assertTrue(conn.at_end())

    def test_an_endless_request_line(self):
        conn = self.connect()
        for _ in range(64):
            if not conn.send("G" * 16384):
                break
        try:
            self.assertIn(conn.response().status, (400, 414, 431, 501))
        except wire.Closed:
            pass
        self.assert_alive()

    def test_trailers_over_the_limit(self):
        conn = self.connect()
        conn.send(f"POST {REVERSE}/x HTTP/1.1\r\nHost: a\r\nOperation-Id: tr-1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
                  + "X-T: " + "t" * 70_000 + "\r\n\r\n")
        self.assertIn(conn.response().status, (400, 431))
        self.assertTrue(conn.at_end())
        self.assert_nothing_sent()

    def test_one_byte_chunks_with_flat_memory(self):
        sizes = []
        self.handle(lambda ex: (sizes.append(sum(len(p) for p in ex.pieces())), ex.reply(200, {}, "ok")))
        conn = self.connect(timeout=60)
        before = self.opid.rss()
        conn.send(f"POST {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        for _ in range(200):
            if not conn.send(b"1\r\na\r\n" * 5000):
                break
            sent += 5000
        conn.send("0\r\n\r\n")
        r = conn.response()
        self.assertIn(r.status, (200, 400, 413))
        if r.status == 200:
            self.assertEqual([sent], sizes)
        self.assertLess(self.opid.rss() - before, 16 << 20)

    def test_garbage_never_ends_the_process(self):
        rng = random.Random(20260101)
        seeds = [b"GET /demo/x HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"POST http://plain.test/x HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                 b"POST /demo/x HTTP/1.1\r\nHost: a\r\nOperation-Id: g\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
                 b"CONNECT plain.test:80 HTTP/1.1\r\nHost: plain.test\r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]
        for n in range(300):
            data = bytearray(rng.choice(seeds))
            for _ in range(rng.randint(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            with self.subTest(n=n, data=bytes(data)):
                conn = self.connect(timeout=5)
                conn.send(bytes(data))
                conn.half_close()
                try:
                    conn.sock.settimeout(5)
                    while conn.reader.fill():
                        pass
                except (wire.Closed, TimeoutError):
                    pass
                conn.close()
        self.assertEqual([], self.provider.faults)
        self.assert_alive()

    def test_many_open_connections(self):
        conns = [self.connect() for _ in range(300)]
        self.assertEqual(200, conns[150].request("GET", REVERSE + "/x").status)
        for conn in conns:
            conn.close()
        self.assert_alive()


if __name__ == "__main__":
    unittest.main()
