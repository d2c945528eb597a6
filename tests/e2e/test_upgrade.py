"""Upgrades: WebSocket passes as raw bytes, everything else is plain HTTP (A8 of the wire rules)."""
import unittest

from case import FORWARD, REVERSE, WAYS, ProxyCase
from provider import echo_websocket
from wire import head_bytes

ASK = [("Upgrade", "websocket"), ("Connection", "Upgrade, X-Gone"), ("X-Gone", "1"),
       ("Proxy-Authorization", "Basic YTpi"),
       ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
       ("Sec-WebSocket-Protocol", "chat"), ("Sec-WebSocket-Extensions", "permessage-deflate")]


class Upgrades(ProxyCase):
    def ask(self, base, headers=ASK, early=b"", method="GET", version="HTTP/1.1"):
        conn = self.connect()
        conn.send(head_bytes(f"{method} {base}/socket {version}",
                             [("Host", base[7:] or "a"), *headers]) + early)
        return conn, conn.response(method)

    def test_handshake_and_echo(self):
        self.handle(echo_websocket)
        for way, base in WAYS.items():
            with self.subTest(way):
                conn, r = self.ask(base)
                self.assertEqual(101, r.status)
                self.assertEqual("websocket", r.headers.get("Upgrade", "").lower())
                self.assertIn("upgrade", r.headers.get("Connection", "").lower())
                self.assertIn("Sec-WebSocket-Accept", r.headers)
                x = self.last
                self.assertEqual("websocket", x.headers.get("Upgrade"))
                self.assertEqual("upgrade", x.headers.get("Connection", "").lower())
                self.assertEqual("permessage-deflate", x.headers.get("Sec-WebSocket-Extensions"))
                for name in ("X-Gone", "Proxy-Authorization"):
                    self.assertNotIn(name, x.headers)
                frames = bytes(range(256)) * 40
                conn.send(frames)
                self.assertEqual(frames, conn.reader.exact(len(frames)))
                conn.half_close()
                self.assertEqual(b"", conn.reader.rest())

    def test_bytes_that_come_early(self):
        def handler(ex):
            ex.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nSERVER FIRST")
            ex.send(ex.reader.exact(12))
            ex.keep = False
        self.handle(handler)
        conn, r = self.ask(FORWARD, early=b"CLIENT FIRST")
        self.assertEqual(101, r.status)
        self.assertEqual(b"SERVER FIRSTCLIENT FIRST", conn.reader.exact(24))

    def test_answer_without_connection_upgrade_is_accepted(self):
        self.handle(lambda ex: (ex.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nhi"),
                                ex.drop()))
        conn, r = self.ask(FORWARD)
        self.assertEqual((101, b"hi"), (r.status, conn.reader.exact(2)))

    def test_refused_upgrades_are_ordinary_answers(self):
        for status in (200, 401, 426):
            self.handle(lambda ex: (ex.read_body(), ex.reply(status, {}, "no")))
            conn, r = self.ask(REVERSE)
            self.assertEqual((status, b"no"), (r.status, r.body))
            self.assertEqual(status, conn.request("GET", REVERSE + "/again").status)

    def test_other_protocols_are_served_as_http(self):
        for protocol in ("h2c", "TLS/1.0", "foo"):
            conn, r = self.ask(FORWARD,
                               [("Upgrade", protocol), ("Connection", "Upgrade, HTTP2-Settings"),
                                ("HTTP2-Settings", "AAMAAABk")])
            self.assertEqual(200, r.status)
            for name in ("Upgrade", "HTTP2-Settings"):
                self.assertNotIn(name, self.last.headers)

    def test_upgrade_in_1_0_is_ignored(self):
        _, r = self.ask(FORWARD, version="HTTP/1.0")
        self.assertEqual(200, r.status)
        self.assertNotIn("Upgrade", self.last.headers)

    def test_switch_that_nobody_asked_for(self):
        for headers, answer in ([], "websocket"), (ASK, "h2c"):
            self.handle(lambda ex: (ex.send(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: {answer}\r\nConnection: Upgrade\r\n\r\n"), ex.drop()))
            _, r = self.ask(FORWARD, headers)
            self.assertEqual(502, r.status)

    def test_client_gone(self):
        ended = []

        def handler(ex):
            try:
                echo_websocket(ex)
            finally:
                ended.append(1)
        self.handle(handler)
        conn, _ = self.ask(FORWARD)
        conn.reset()
        self.provider.wait(lambda: ended, "the end of the socket", 5)


if __name__ == "__main__":
    unittest.main()
