"""CONNECT: blind tunnels byte for byte, and what is refused (A3 of the wire rules)."""
import hashlib
import os
import threading
import unittest

import wire
from case import ProxyCase
from client import trusting
from listener import Listener, TestCa
from opid import merge

MIB = 1 << 20
SIZE = int(os.environ.get("TUNNEL_MIB", "32")) * MIB
BLOCK = os.urandom(65536)


class Tunnels(ProxyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.raw = Listener(lambda sock, n: cls.behave(sock))
        names = {"raw.test:443": cls.raw.authority, "raw.test:80": cls.raw.authority,
                 "down.test:443": "127.0.0.1:1"}
        cls.opid.write_config(merge(cls.opid.config, {"egress": {"resolve": names}}))
        cls.opid.restart()

    @classmethod
    def tearDownClass(cls):
        cls.raw.close()
        super().tearDownClass()

    def behave_as(self, function):
        type(self).behave = staticmethod(function)

    def tunnel(self, target="raw.test:443", version="HTTP/1.1", headers=None, early=b"", timeout=20):
        conn = self.connect(timeout=timeout)
        headers = {"Host": target} if headers is None else headers
        conn.send(wire.head_bytes(f"CONNECT {target} {version}", headers) + early)
        r = conn.response("CONNECT")
        return conn, r

    def test_established_without_framing(self):
        self.behave_as(lambda sock: sock.recv(1))
        _, r = self.tunnel()
        self.assertEqual(200, r.status)
        for name in ("Content-Length", "Transfer-Encoding"):
            self.assertNotIn(name, r.headers)

    def test_odd_clients(self):
        def echo(sock):
            sock.sendall(sock.recv(100))
        self.behave_as(echo)
        for version, headers in (("HTTP/1.0", {}), ("HTTP/1.1", {"Host": "raw.test", "Connection": "close"}),
                                 ("HTTP/1.1", {"Host": "raw.test:443", "Proxy-Connection": "close"}),
                                 ("HTTP/1.1", {"Host": "other.test:1"}),
                                 ("HTTP/1.1", {"Host": "raw.test:443", "User-Agent": "x"})):
            with self.subTest(version, headers=headers):
                conn, r = self.tunnel(version=version, headers=headers)
                self.assertEqual(200, r.status)
                conn.send("hello")
                self.assertEqual(b"hello", conn.reader.exact(5))

    def test_early_bytes_come_first(self):
        def collect(sock):
            sock.sendall(wire.Reader(sock).exact(12))
        self.behave_as(collect)
        conn, r = self.tunnel(early=b"early\0")
        self.assertEqual(200, r.status)
        conn.send(b"later\xff")
        self.assertEqual(b"early\0later\xff", conn.reader.exact(12))

    def test_server_speaks_first(self):
        self.behave_as(lambda sock: sock.sendall(b"220 hello\r\n"))
        for target in ("raw.test:443", "raw.test:80"):
            conn, _ = self.tunnel(target)
            self.assertEqual(b"220 hello\r\n", conn.reader.rest())

    def test_bytes_both_ways_at_once(self):
        expected = hashlib.sha256(BLOCK * (SIZE // len(BLOCK))).digest()
        results = []

        def pump(sock):
            for _ in range(SIZE // len(BLOCK)):
                sock.sendall(BLOCK)

        def drain(read):
            sha, size = hashlib.sha256(), 0
            while size < SIZE:
                data = read(65536)
                if not data:
                    break
                sha.update(data)
                size += len(data)
            return sha.digest()

        def serve(sock):
            thread = threading.Thread(target=pump, args=(sock,))
            thread.start()
            results.append(drain(sock.recv))
            thread.join()

        self.behave_as(serve)
        conn, _ = self.tunnel(timeout=60)
        thread = threading.Thread(target=pump, args=(conn.sock,))
        thread.start()
        self.assertEqual(expected, drain(conn.reader.some))
        thread.join()
        self.raw.wait(lambda: results, "the server's sum")
        self.assertEqual([expected], results)

    def test_half_close(self):
        def serve(sock):
            data = wire.Reader(sock).rest()
            sock.sendall(b"you sent %d" % len(data))
        self.behave_as(serve)
        conn, _ = self.tunnel()
        conn.send("x" * 100000)
        conn.half_close()
        self.assertEqual(b"you sent 100000", conn.reader.rest())

    def test_half_close_of_the_server(self):
        got = []

        def serve(sock):
            sock.sendall(b"bye")
            sock.shutdown(1)
            got.append(wire.Reader(sock).rest())
            self.raw.note()
        self.behave_as(serve)
        conn, _ = self.tunnel()
        self.assertEqual(b"bye", conn.reader.rest())
        conn.send("still here")
        conn.half_close()
        self.raw.wait(lambda: got, "the client's last bytes")
        self.assertEqual([b"still here"], got)

    def test_client_reset_ends_the_tunnel(self):
        ended = threading.Event()

        def serve(sock):
            try:
                sock.recv(1)
            finally:
                ended.set()
        self.behave_as(serve)
        conn, _ = self.tunnel()
        conn.reset()
        self.assertTrue(ended.wait(5))

    def test_tls_of_the_origin_is_untouched(self):
        ca = TestCa()
        context = ca.context("raw.test", alpn=("h2", "http/1.1"))

        def serve(sock):
            tls = context.wrap_socket(sock, server_side=True)
            tls.sendall(tls.selected_alpn_protocol().encode() + b":" + tls.recv(100))
            tls.close()
        self.behave_as(serve)
        conn, _ = self.tunnel()
        conn.start_tls(trusting(ca.ca_file, alpn=("h2",)), "raw.test")
        conn.send("secret")
        self.assertEqual(b"h2:secret", conn.reader.exact(9))

    def test_bad_targets(self):
        for target in ("raw.test", "raw.test:", "raw.test:0", "raw.test:65536", "raw.test:443/x",
                       "http://raw.test:443",
                       "u@raw.test:443", ":443", "/demo/x", "raw.test:4x", "[fe80::1%25eth0]:443", "[::1:443",
                       "*"):
            with self.subTest(target):
                _, r = self.tunnel(target, headers={"Host": "raw.test"})
                self.assertIn(r.status, (400, 403), r)
        self.assert_alive()

    def test_connect_with_a_body_is_refused(self):
        for field in ("Content-Length: 5", "Transfer-Encoding: chunked"):
            conn = self.connect()
            conn.send(f"CONNECT raw.test:443 HTTP/1.1\r\nHost: raw.test\r\n{field}\r\n\r\nhello")
            self.assertEqual(400, conn.response().status)
            self.assertTrue(conn.at_end())

    def test_unreachable_is_told_before_any_200(self):
        for target in ("down.test:443", "nowhere.invalid:443"):
            with self.subTest(target):
                conn, r = self.tunnel(target)
                self.assertIn(r.status, (502, 504))
                self.assert_problem(r, "unreachable")

    def test_own_ports_and_mail_are_refused(self):
        for port in (self.opid.ports["proxy"], self.opid.ports["admin"], 25):
            with self.subTest(port):
                _, r = self.tunnel(f"127.0.0.1:{port}")
                self.assertIn(r.status, (403, 508), r)

    def test_cleartext_http_inside_a_tunnel_to_a_host_without_profile(self):
        def serve(sock):
            wire.Reader(sock).line()
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        self.behave_as(serve)
        conn, _ = self.tunnel("raw.test:80")
        conn.send("GET / HTTP/1.1\r\nHost: raw.test\r\n\r\n")
        r = conn.response()
        self.assertEqual((b"hi", False), (r.body, "Via" in r.headers))

    def test_a_profiled_host_is_refused_clearly_or_intercepted(self):
        _, r = self.tunnel("api.demo.test:443")
        if r.status != 200:
            self.assertIn(r.status, (403, 501), r)
            self.assert_problem(r)


if __name__ == "__main__":
    unittest.main()
