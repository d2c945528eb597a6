"""Pass-through never buffers: streams, large bodies, 100-continue, cancellation (A5 and A6 of the wire rules)."""
import hashlib
import os
import threading
import unittest

import wire
from case import FORWARD, PROFILED, REVERSE, ProxyCase

MIB = 1 << 20
BIG = int(os.environ.get("BIG_MIB", "256")) * MIB
BLOCK = bytes(range(256)) * 1024


class Streams(ProxyCase):
    def stream(self, media, framing):
        """The provider sends event n+1 only after the client has told that it holds event n."""
        held = threading.Semaphore(0)
        events = [b"data: %d\n\n" % i for i in range(5)]

        def handler(ex):
            ex.read_body()
            coding = "Transfer-Encoding: chunked\r\n" if framing == "chunked" else "Content-Length: 45\r\n" \
                if framing == "length" else ""
            ex.send(f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n{coding}\r\n")
            for event in events:
                ex.send(wire.chunked([event])[:-5] if framing == "chunked" else event)
                if not held.acquire(timeout=10):
                    return
            if framing == "chunked":
                ex.send("0\r\n\r\n")
            ex.keep = framing != "close"

        self.handle(handler)
        for base in (FORWARD, REVERSE, PROFILED):
            with self.subTest(media, framing=framing, base=base):
                self.take_stream(base, events, held)

    def take_stream(self, base, events, held):
        conn = self.connect()
        conn.send(f"GET {base}/stream HTTP/1.1\r\nHost: {base[7:] or 'a'}\r\n\r\n")
        r = conn.response(whole=False)
        body, got = conn.body(r), b""
        for n, event in enumerate(events, 1):
            while len(got) < n * len(event):
                got += next(body)
            held.release()
        got += b"".join(body)
        self.assertEqual((b"".join(events), None), (got, r.broken))

    def test_events_arrive_one_by_one(self):
        for media, framing in (("text/event-stream", "chunked"),
                               ("Text/Event-Stream; charset=utf-8", "close"),
                               ("application/json", "chunked"), ("application/octet-stream", "length"),
                               ("text/plain", "close")):
            self.stream(media, framing)

    def test_upload_is_not_held_back(self):
        arrived = threading.Semaphore(0)

        def handler(ex):
            for _ in ex.pieces():
                arrived.release()
            ex.reply(200, {}, "ok")

        self.handle(handler)
        conn = self.connect()
        conn.send(f"POST {FORWARD}/up HTTP/1.1\r\nHost: plain.test\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(5):
            conn.send("5\r\nhello\r\n")
            self.assertTrue(arrived.acquire(timeout=10), "a chunk is held back")
        conn.send("0\r\n\r\n")
        self.assertEqual(200, conn.response().status)

    def test_answer_before_the_end_of_the_upload(self):
        self.handle(lambda ex: (ex.reply(413, {"Connection": "close"}, "too big"), ex.drop()))
        conn = self.connect()
        conn.send(f"POST {FORWARD}/up HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 1000000\r\n\r\nfirst")
        r = conn.response()
        self.assertEqual((413, b"too big"), (r.status, r.body))

    def test_large_download_with_flat_memory(self):
        digest = hashlib.sha256(BLOCK * (BIG // len(BLOCK))).hexdigest() if BIG <= 64 * MIB else None

        def handler(ex):
            ex.read_body()
            ex.send(f"HTTP/1.1 200 OK\r\nContent-Length: {BIG}\r\n\r\n")
            for _ in range(BIG // len(BLOCK)):
                ex.send(BLOCK)

        self.handle(handler)
        conn = self.connect(timeout=60)
        before, peak, size, sha = self.opid.rss(), 0, 0, hashlib.sha256()
        conn.send(f"GET {FORWARD}/big HTTP/1.1\r\nHost: plain.test\r\n\r\n")
        r = conn.response(whole=False)
        for n, piece in enumerate(conn.body(r)):
            size += len(piece)
            if digest:
                sha.update(piece)
            if n % 256 == 0:
                peak = max(peak, self.opid.rss())
        self.assertEqual((BIG, None), (size, r.broken))
        if digest:
            self.assertEqual(digest, sha.hexdigest())
        self.assertLess(peak - before, 16 * MIB, "memory grows with the body")

    def test_large_upload_with_flat_memory(self):
        sizes = []

        def handler(ex):
            sizes.append(sum(len(p) for p in ex.pieces()))
            ex.reply(200, {}, "ok")

        self.handle(handler)
        for base in (FORWARD, REVERSE):
            conn = self.connect(timeout=60)
            before, peak = self.opid.rss(), 0
            conn.send(f"POST {base}/big HTTP/1.1\r\nHost: {base[7:] or 'a'}\r\nContent-Length: {BIG}\r\n\r\n")
            for n in range(BIG // len(BLOCK)):
                self.assertTrue(conn.send(BLOCK))
                if n % 64 == 0:
                    peak = max(peak, self.opid.rss())
            self.assertEqual(200, conn.response().status)
            self.assertEqual(BIG, sizes.pop())
            self.assertLess(peak - before, 16 * MIB, "memory grows with the body")

    def test_slow_reader_holds_the_provider_back(self):
        sent, finished = [0], threading.Event()

        def handler(ex):
            ex.read_body()
            ex.send(f"HTTP/1.1 200 OK\r\nContent-Length: {64 * MIB}\r\n\r\n")
            try:
                for _ in range(64 * MIB // len(BLOCK)):
                    ex.send(BLOCK)
                    sent[0] += len(BLOCK)
                finished.set()
            except OSError:
                pass

        self.handle(handler)
        conn = self.connect(receive_buffer=65536)
        before = self.opid.rss()
        conn.send(f"GET {FORWARD}/slow HTTP/1.1\r\nHost: plain.test\r\n\r\n")
        conn.response(whole=False)
        self.assertFalse(finished.wait(1.0), "64 MiB went into nowhere")
        self.assertLess(self.opid.rss() - before, 16 * MIB)

    def test_continue_is_relayed(self):
        def handler(ex):
            self.assertEqual("100-continue", ex.headers.get("Expect"))
            ex.send("HTTP/1.1 100 Continue\r\n\r\n")
            ex.reply(200, {}, ex.read_body())

        self.handle(handler)
        for base in (FORWARD, REVERSE):
            conn = self.connect()
            conn.send(f"POST {base}/x HTTP/1.1\r\nHost: {base[7:] or 'a'}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            self.assertEqual(100, conn.head().status)
            conn.send("hello")
            self.assertEqual(b"hello", conn.response().body)

    def test_final_answer_instead_of_a_continue(self):
        self.handle(lambda ex: (ex.reply(401, {"Connection": "close"}, "who"), ex.drop()))
        conn = self.connect()
        conn.send(f"POST {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        self.assertEqual((401, b"who"), (lambda r: (r.status, r.body))(conn.response()))

    def test_after_a_final_answer_no_body_is_waited_for(self):
        asked = threading.Event()
        self.handle(lambda ex: (ex.reply(200, {}, "kept"), asked.wait(20)))
        conn = self.connect()
        conn.send(f"POST {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        r = conn.response()
        self.assertEqual((200, b"kept", True), (r.status, r.body, r.closes))
        self.assertTrue(conn.at_end())
        asked.set()

    def test_silent_provider_does_not_block_the_upload(self):
        self.handle(lambda ex: ex.reply(200, {}, ex.read_body()))
        conn = self.connect()
        conn.send(f"POST {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        conn.send("hello")
        self.assertEqual(b"hello", conn.response().body)

    def test_other_expectations(self):
        r = self.connect().request("POST", REVERSE + "/x", {"Expect": "magic"}, "a")
        self.assert_problem(r, "expectation-failed")
        self.assert_nothing_sent()

    def test_client_gone_cancels_the_provider(self):
        gone = threading.Event()

        def handler(ex):
            ex.read_body()
            ex.keep = False
            if ex.peer_gone(10):
                gone.set()

        self.handle(handler)
        for base in (FORWARD, REVERSE):
            for how in ("close", "reset"):
                with self.subTest(base=base, how=how):
                    gone.clear()
                    seen = self.count()
                    conn = self.connect()
                    conn.send(f"GET {base}/x HTTP/1.1\r\nHost: {base[7:] or 'a'}\r\n\r\n")
                    self.provider.wait(lambda: self.count() > seen, "the request at the provider")
                    getattr(conn, how)()
                    self.assertTrue(gone.wait(5), "the provider still waits")

    def test_half_closed_client_gets_its_answer(self):
        go = threading.Event()
        self.handle(lambda ex: (ex.read_body(), go.wait(10), ex.reply(200, {}, "late")))
        conn = self.connect()
        conn.send(f"GET {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nConnection: close\r\n\r\n")
        conn.half_close()
        self.provider.wait(lambda: self.count() > self.seen, "the request at the provider")
        go.set()
        self.assertEqual(b"late", conn.response().body)

    def test_encoded_and_partial_answers_are_untouched(self):
        body = bytes(range(256))
        for status, headers in ((200, {"Content-Encoding": "br"}),
                                (206, {"Content-Range": "bytes 0-255/900"}),
                                (200, {"Content-Type": "multipart/mixed; boundary=x"})):
            self.handle(lambda ex: (ex.read_body(), ex.reply(status, headers, body)))
            r = self.connect().request("GET", FORWARD + "/x", host="plain.test")
            self.assertEqual((status, body), (r.status, r.body))
            for name, value in headers.items():
                self.assertEqual(value, r.headers.get(name))


if __name__ == "__main__":
    unittest.main()
