"""Keep-alive, pipelining, and the race with an idle connection that dies (A7 of the wire rules)."""
import threading
import unittest

from case import FORWARD, REVERSE, ProxyCase
from client import build


class Reuse(ProxyCase):
    def test_many_requests_on_one_connection(self):
        conn = self.connect()
        for n in range(50):
            r = conn.request("GET", REVERSE + f"/{n}")
            self.assertEqual((200, b"ok", False), (r.status, r.body, r.closes))

    def test_close_is_honoured(self):
        conn = self.connect()
        r = conn.request("GET", REVERSE + "/x", {"Connection": "Close"})
        self.assertTrue(r.closes)
        self.assertTrue(conn.at_end())

    def test_http_1_0_closes_by_default(self):
        conn = self.connect()
        r = conn.request("GET", REVERSE + "/x", version="HTTP/1.0")
        self.assertNotIn("Transfer-Encoding", r.headers)
        self.assertTrue(conn.at_end())

    def test_http_1_0_keep_alive_is_consistent(self):
        conn = self.connect()
        r = conn.request("GET", REVERSE + "/x", {"Connection": "keep-alive"}, version="HTTP/1.0")
        if "keep-alive" in r.headers.get("Connection", "").lower():
            self.assertEqual(200, conn.request("GET", REVERSE + "/y", version="HTTP/1.0").status)
        else:
            self.assertTrue(conn.at_end())

    def test_pipelined_requests_are_answered_in_order(self):
        self.handle(lambda ex: (ex.read_body(), ex.reply(200, {}, ex.target)))
        conn = self.connect()
        conn.send(b"".join(build("GET", REVERSE + f"/{n}") for n in range(20)))
        self.assertEqual([b"/%d" % n for n in range(20)], [conn.response().body for _ in range(20)])

    def test_nothing_behind_an_error_is_executed(self):
        conn = self.connect()
        conn.send(build("GET",
                        REVERSE + "/1") + b"GET /demo/2 HTTP/1.1\r\nHost: a\r\nBad Name: 1\r\n\r\n" + build("GET", REVERSE + "/3"))
        self.assertEqual([200, 400], [conn.response().status, conn.response().status])
        self.assertTrue(conn.at_end())
        self.assertEqual(self.seen + 1, self.count())

    def test_a_read_survives_a_dead_idle_connection(self):
        conn = self.connect()
        for n in range(5):
            with self.subTest(n):
                self.assertEqual(200, conn.request("GET", FORWARD + "/1", host="plain.test").status)
                self.provider.drop_all()
                self.assertEqual(200, conn.request("GET", FORWARD + "/2", host="plain.test").status)

    def test_a_read_on_a_reused_connection_is_retried_once(self):
        def handler(ex):
            ex.read_body()
            if ex.nth > 1:
                ex.rst()
            else:
                ex.reply(200, {}, "fresh")
        self.handle(handler)
        conn = self.connect()
        for n in range(4):
            self.assertEqual(b"fresh", conn.request("GET", FORWARD + f"/{n}", host="plain.test").body)

    def test_a_write_is_never_retried(self):
        def handler(ex):
            ex.read_body()
            if ex.method == "POST":
                ex.rst()
            else:
                ex.reply(200, {}, "ok")
        self.handle(handler)
        for base in (FORWARD, REVERSE):
            with self.subTest(base):
                conn = self.connect()
                conn.request("GET", base + "/warm", host=base[7:] or "a")
                before = len(self.provider.attempts)
                headers = {"Idempotency-Key": "k"} if base == FORWARD else {}
                r = conn.request("POST", base + "/w", headers, "x", host=base[7:] or "a")
                self.assertEqual(502, r.status, r)
                self.assertEqual(before + 1, len(self.provider.attempts))

    def test_errors_of_the_provider_are_not_retried(self):
        for status in (429, 500, 502, 503):
            seen = self.count()
            self.handle(lambda ex, s=status: (ex.read_body(), ex.reply(s, {"Retry-After": "1"}, "no")))
            r = self.connect().request("GET", FORWARD + "/x", host="plain.test")
            self.assertEqual((status, b"no", seen + 1), (r.status, r.body, self.count()))

    def test_stray_bytes_on_an_idle_connection_discard_it(self):
        late = threading.Event()

        def handler(ex):
            ex.read_body()
            ex.reply(200, {}, "one")
            if ex.target == "/1":
                ex.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
                late.set()

        self.handle(handler)
        conn = self.connect()
        self.assertEqual(b"one", conn.request("GET", FORWARD + "/1", host="plain.test").body)
        self.assertTrue(late.wait(5))
        self.assertEqual(b"one", conn.request("GET", FORWARD + "/2", host="plain.test").body)

    def test_answer_before_the_whole_request_closes(self):
        self.handle(lambda ex: (ex.reply(200, {}, "early"), setattr(ex, "keep", False)))
        conn = self.connect()
        conn.send(f"POST {FORWARD}/x HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 100000\r\n\r\nstart")
        r = conn.response()
        self.assertEqual(b"early", r.body)
        self.assertTrue(r.closes or conn.at_end(5))

    def test_two_identical_writes_at_once_make_one_attempt(self):
        go = threading.Event()
        self.handle(lambda ex: (ex.read_body(), go.wait(10), ex.reply(201, {}, ex.target)))
        before, answers = len(self.provider.attempts), []

        def call():
            answers.append(self.opid.call("POST", REVERSE + "/pay", {"Operation-Id": "twin-1"}, "a"))

        threads = [threading.Thread(target=call) for _ in range(8)]
        for t in threads:
            t.start()
        self.provider.wait_attempts(before + 1)
        go.set()
        for t in threads:
            t.join(30)
        self.assertEqual(before + 1, len(self.provider.attempts))
        self.assertEqual({201}, {r.status for r in answers})
        self.assertEqual(1, sum(not r.replayed for r in answers), "exactly one answer is unmarked")
        self.assertEqual(1, len({r.headers.get("Operation-Attempt") for r in answers}))

    def test_two_payloads_race_for_one_id(self):
        for n in range(20):
            before, answers = len(self.provider.attempts), []
            threads = [threading.Thread(target=lambda b=body: answers.append(
                self.opid.call("POST", REVERSE + "/pay", {"Operation-Id": f"race-{n}"},
                               b))) for body in ("left", "right")]
            for t in threads:
                t.start()
            for t in threads:
                t.join(30)
            self.assertEqual([200, 422], sorted(r.status for r in answers))
            self.assertEqual(before + 1, len(self.provider.attempts))


if __name__ == "__main__":
    unittest.main()
