"""A provider that speaks before it has the whole request: hints, an early head, an early refusal."""
import hashlib
import threading
import unittest

from case import FORWARD, REVERSE, ProxyCase

BODY = (b'{"kind":"search","pad":"' + b"0123456789abcdef" * (12 << 16) + b'"}')  # beyond what sockets hold
DIGEST = hashlib.sha256(BODY).hexdigest()
HINT = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"


class EarlyAnswers(ProxyCase):
    # A write with an ID is guarded; a search is read whole, as its rule looks into the body, and then relayed.
    profile = {
        "identity": {"missing": "pass"},
        "rules": [{"name": "search", "match": {"method": "POST", "path": "/search", "body": {"/kind": "search"}},
                   "class": "read"}],
    }
    numbers = iter(range(1000))
    JSON = {"Content-Type": "application/json"}

    def ways(self):
        yield "guarded", REVERSE + "/pay", {"Operation-Id": f"early-{next(self.numbers)}"}
        yield "read whole", REVERSE + "/search", {}
        yield "streamed", FORWARD + "/up", {}

    def ask(self, target, headers, **more):
        return self.opid.call("POST", target, {**self.JSON, **headers}, BODY, host="plain.test", **more)

    def test_hints_keep_no_byte_of_the_request_back(self):
        def handler(ex):
            ex.send(HINT + HINT)
            ex.read_body()
            ex.reply(200, {}, hashlib.sha256(ex.body).hexdigest())

        self.handle(handler)
        for way, target, headers in self.ways():
            with self.subTest(way):
                before = len(self.provider.attempts)
                r = self.ask(target, headers)
                self.assertEqual((200, DIGEST.encode()), (r.status, r.body))
                self.assertEqual(before + 1, len(self.provider.attempts))

    def test_an_early_head_keeps_no_byte_of_the_request_back(self):
        def handler(ex):
            ex.send("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n")
            ex.read_body()
            ex.send(hashlib.sha256(ex.body).hexdigest())

        self.handle(handler)
        for way, target, headers in self.ways():
            with self.subTest(way):
                r = self.ask(target, headers)
                self.assertEqual((200, DIGEST.encode()), (r.status, r.body))

    def test_an_early_whole_answer_keeps_no_byte_of_the_request_back(self):
        read = threading.Event()

        def handler(ex):
            ex.send("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok")
            ex.read_body()
            read.set()

        self.handle(handler)
        for way, target, headers in self.ways():
            with self.subTest(way):
                read.clear()
                before = len(self.provider.attempts)
                for replayed in (False, True) if way == "guarded" else (False,):
                    r = self.ask(target, headers)
                    self.assertEqual((202, b"ok", replayed), (r.status, r.body, r.replayed))
                self.assertTrue(read.wait(20), "the rest of the request never came")
                self.assertEqual(before + 1, len(self.provider.attempts))
                self.assertEqual(BODY, self.provider.attempts[-1].body)

    def test_a_known_outcome_waits_for_no_provider_that_takes_nothing_more(self):
        over = threading.Event()

        def handler(ex):
            ex.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
            over.wait(50)  # takes nothing of the body; opid would wait 60 s for a whole exchange

        self.handle(handler)
        name = f"early-{next(self.numbers)}"
        r = self.ask(REVERSE + "/pay", {"Operation-Id": name})
        over.set()
        self.assertEqual((200, b"done", "succeeded"), (r.status, r.body, r.headers.get("operation-status")))

    def test_an_early_refusal_waits_for_no_byte_of_the_request(self):
        answered = threading.Event()

        def handler(ex):
            ex.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
            answered.wait(20)  # takes nothing of the body meanwhile
            ex.drop()

        self.handle(handler)
        for way, target, headers in list(self.ways())[:2]:  # a streaming client may meet a reset first
            with self.subTest(way):
                answered.clear()
                r = self.ask(target, headers)
                answered.set()
                self.assertEqual((413, b"big"), (r.status, r.body))


if __name__ == "__main__":
    unittest.main()
