"""The way into an intercepted tunnel: CONNECT and ClientHello in every shape, what is relayed unseen, what is refused."""
import ssl
import time
import unittest

import wire
from case import reply_ok
from client import Conn, until
from listener import Listener
from opid import merge
from tls_case import BLIND, GITHUB, OPENAI, PLAIN, STRIPE, InterceptCase, trusting_all_names
from tls_certs import dns_names, issuer_name, loaded
from tls_wire import TlsSocket, records

TARGET = f"{OPENAI}:443"


class Connects(InterceptCase):
    def enter(self, conn, r, host=OPENAI):
        self.assertEqual(200, r.status, r)
        self.handshake(conn, self.trust, host)
        self.assert_ok(self.get(conn, host))

    def test_the_answer_has_no_framing(self):
        _, r = self.tunnel(TARGET)
        self.assertEqual((200, []), (r.status, [n for n in ("Content-Length", "Transfer-Encoding") if n in r.headers]))

    def test_the_shapes_that_clients_use(self):
        for version, headers in (
                ("HTTP/1.0", {}), ("HTTP/1.0", {"Host": TARGET}),
                ("HTTP/1.1", {"Host": OPENAI, "Connection": "close"}),
                ("HTTP/1.1", {"Host": TARGET, "Proxy-Connection": "close"}),
                ("HTTP/1.1", {"Host": TARGET, "Proxy-Connection": "Keep-Alive", "User-Agent": "x"}),
                ("HTTP/1.1", {"Host": "elsewhere.test:1"})):
            with self.subTest(version, headers=headers):
                conn, r = self.tunnel(TARGET, headers, version)
                self.enter(conn, r)
                self.assert_ok(self.get(conn, OPENAI))

    def test_names_in_other_spellings(self):
        for target in ("API.OpenAI.com:443", "api.openai.com.:443"):
            with self.subTest(target):
                conn, r = self.tunnel(target)
                if r.status == 400:     # refusing an odd name is allowed, going past the profile is not
                    continue
                self.enter(conn, r)
                self.assertEqual(OPENAI, self.last.headers.get("Host"))

    def test_the_hello_right_behind_the_head(self):
        conn = Conn(self.opid.proxy)
        self.addCleanup(conn.close)
        tls = TlsSocket(conn.sock, self.trust, OPENAI)
        conn.send(wire.head_bytes(f"CONNECT {TARGET} HTTP/1.1", {"Host": TARGET}) + tls.hello())
        self.assertEqual(200, conn.response("CONNECT").status)
        tls.incoming.write(bytes(conn.reader.buffer))   # what came behind the answer is TLS
        tls.handshake()
        conn.sock, conn.reader = tls, wire.Reader(tls)
        self.assert_ok(self.get(conn, OPENAI))

    def hello_in(self, split, context=None):
        conn, _ = self.tunnel(TARGET)
        tls = TlsSocket(conn.sock, context or self.trust, OPENAI)
        for piece in split(tls.hello()):
            self.assertTrue(conn.send(piece))
        tls.handshake()
        conn.sock, conn.reader = tls, wire.Reader(tls)
        self.assert_ok(self.get(conn, OPENAI))

    def test_the_hello_one_byte_a_segment(self):
        self.hello_in(lambda hello: [hello[i:i + 1] for i in range(len(hello))])

    def test_the_hello_in_many_records(self):
        for size in (1, 7, 200):
            with self.subTest(size):
                self.hello_in(lambda hello: [records(hello, size)])

    def test_long_hellos(self):
        for size in (2_500, 8_000, 14_000):
            with self.subTest(size):
                padding = [f"{i:03}" + "x" * 240 for i in range(size // 244)]
                self.hello_in(lambda hello: [hello[:100], hello[100:]],
                              self.trusting(alpn=("http/1.1", *padding)))

    def test_a_hello_that_is_too_long_or_broken_ends_at_once(self):
        broken = bytearray(TlsSocket(None, self.trust, OPENAI).hello())
        broken[43] = 0xff   # the session ID's length
        for name, data in (("endless", b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + b"\0" * 40_000), ("broken", bytes(broken))):
            with self.subTest(name):
                conn, _ = self.tunnel(TARGET)
                conn.send(data)
                try:
                    answer = conn.reader.rest()
                except wire.Closed:
                    answer = b""
                self.assertIn(answer[:1], (b"", b"\x15"), answer[:60])
        self.assert_nothing_sent()
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))

    def test_tls_on_the_plain_port_is_no_proxy_request(self):
        conn = Conn(self.opid.proxy)
        self.addCleanup(conn.close)
        conn.send(TlsSocket(None, self.trust, OPENAI).hello())
        try:
            conn.reader.rest()      # ends: what came before the end is of no use to a TLS client
        except wire.Closed:
            pass
        self.assert_ok(self.get(self.inside(OPENAI), OPENAI))


class Names(InterceptCase):
    def refused(self, target, name, context=None):
        conn, r = self.tunnel(target)
        self.assertEqual(200, r.status)
        context = context or trusting_all_names(self.trust_file)
        tls = TlsSocket(conn.sock, context, name)
        with self.assertRaises((ssl.SSLError, OSError)) as failure:
            tls.handshake()
        self.assertIsNone(tls.certificate, "a certificate was shown")
        self.assertRegex(str(failure.exception).upper().replace("_", " "), "UNRECOGNIZED NAME")

    @property
    def trust_file(self):
        return self.opid.data + "/ca/ca.pem"

    def test_another_name_in_the_hello_is_refused(self):
        minted = self.minted()
        for name in (GITHUB, BLIND, "unknown.test", "xn--nxasmq6b.test", "a_b.test", "openai.com"):
            with self.subTest(name):
                self.refused(TARGET, name)
        self.assertEqual(minted, self.minted(), "certificates minted meanwhile")
        self.assert_nothing_sent()

    def minted(self):
        """The metrics that count minted certificates, as their lines."""
        text = self.opid.admin("GET", "/metrics", token="").body.decode()
        return [line for line in text.splitlines() if "mint" in line and not line.startswith("#")]

    def test_the_same_name_in_other_spellings_is_the_same(self):
        for name in ("API.OPENAI.COM", "api.openai.com."):
            with self.subTest(name):
                conn, _ = self.tunnel(TARGET)
                self.handshake(conn, trusting_all_names(self.trust_file), name)
                self.assert_ok(self.get(conn, OPENAI))

    def test_a_tunnel_to_an_unprofiled_host_stays_blind_whatever_the_hello_says(self):
        conn = self.inside(BLIND, trusting_all_names(self.ca.ca_file), sni=STRIPE)
        self.assertEqual("opid test CA", issuer_name(loaded(conn.sock.certificate)))
        self.assert_ok(self.get(conn, STRIPE))
        self.assertNotIn("Via", self.origin.lookups[-1].headers)

    def test_no_name_in_the_hello(self):
        conn = self.inside(OPENAI, trusting_all_names(self.trust_file), sni=None)
        self.assertEqual([OPENAI], dns_names(loaded(conn.sock.certificate)))
        self.assert_ok(self.get(conn, OPENAI))

    def test_another_host_inside_is_misdirected(self):
        for host in (GITHUB, BLIND, f"{OPENAI}:444"):
            for way in ("host", "absolute"):
                with self.subTest(host, way=way):
                    conn = self.inside(OPENAI)
                    target = "/x" if way == "host" else f"https://{host}/x"
                    r = conn.request("POST", target, {"Operation-Id": "misdirected"}, "x", host=host)
                    self.assert_problem(r, "misdirected", method="POST")
                    if r.closes:
                        self.assertTrue(conn.at_end())
                    else:
                        self.assert_ok(self.get(conn, OPENAI))
        self.assertEqual([], [x for x in self.provider.attempts if x.headers.get("Operation-Id")])
        self.assertIsNone(self.opid.operation("misdirected"))

    def test_spellings_of_the_own_host_inside(self):
        """They are one operation; reads keep the client's spelling, which may be signed."""
        conn, started = self.inside(OPENAI), time.monotonic()
        for target, host in (("/x", f"{OPENAI}:443"), ("/x", "API.openai.com"), (f"https://{OPENAI}/x", OPENAI),
                             (f"https://{OPENAI}:443/x", OPENAI)):
            with self.subTest(target, host=host):
                self.assert_ok(conn.request("GET", target, host=host))
                self.assertEqual(("/x", OPENAI), (self.last.target, self.last.headers.get("Host").lower()
                                                  .removesuffix(":443")))
                r = conn.request("POST", target, {"Operation-Id": "spelling"}, "x", host=host)
                self.assertEqual(("/x", "succeeded"), (self.last.target, r.headers.get("Operation-Status")), r)
        self.assertEqual(1, len([x for x in self.provider.attempts if x.body == b"x" and x.at > started]))

    def test_absolute_https_on_the_plain_port(self):
        conn = self.connect()
        self.assert_ok(conn.request("GET", f"https://{OPENAI}/x", host=OPENAI))
        r = conn.request("POST", f"https://{OPENAI}/x", {"Operation-Id": "absolute-1"}, "x", host=OPENAI)
        self.assertEqual((200, "succeeded"), (r.status, r.headers.get("Operation-Status")), r)
        again = self.inside(OPENAI).request("POST", "/x", {"Operation-Id": "absolute-1"}, "x", host=OPENAI)
        self.assertTrue(again.replayed, again)     # the same intent whichever way it came


class Unread(InterceptCase):
    """What is relayed unseen, and HTTP in the clear inside a tunnel."""

    @classmethod
    def profiles(cls, authority):
        cls.raw = Listener(lambda sock, n: cls.behave(sock))
        cls.addClassCleanup(cls.raw.close)
        quiet = {"provider": "quiet", "hosts": ["quiet.test"], "upstream_address": cls.raw.authority, "key": "none"}
        return super().profiles(authority) + [quiet]

    def behave_as(self, function):
        type(self).behave = staticmethod(function)

    def test_a_silent_client_is_relayed_to_a_server_that_speaks_first(self):
        self.behave_as(lambda sock: (sock.sendall(b"220 hello\r\n"), sock.sendall(sock.recv(100))))
        conn, r = self.tunnel("quiet.test:443")
        self.assertEqual(200, r.status)
        self.assertEqual(b"220 hello\r\n", conn.reader.exact(11))
        conn.send("EHLO")
        self.assertEqual(b"EHLO", conn.reader.exact(4))
        self.assertIn("quiet.test", self.opid.log)

    def test_other_protocols_are_relayed_from_their_first_byte(self):
        for data in (b"SSH-2.0-test\r\n", b"\0\x01\x02binary", b"ab", b"GETX\r\n", b"\x80\x2e\x01\x03"):
            with self.subTest(data):
                self.behave_as(lambda sock: sock.sendall(wire.Reader(sock).exact(len(data) + 4)))
                conn, _ = self.tunnel("quiet.test:443", early=data[:1])
                conn.send(data[1:])
                conn.send("tail")
                self.assertEqual(data + b"tail", conn.reader.exact(len(data) + 4))

    def test_h2_alone_is_relayed_to_the_origin_itself(self):
        def serve(sock):
            tls = self.ca.context("quiet.test", alpn=("h2",)).wrap_socket(sock, server_side=True)
            tls.sendall(tls.selected_alpn_protocol().encode() + b":" + tls.recv(100))
            tls.close()
        for offer in (("h2",), ("h2", "h3")):
            with self.subTest(offer):
                self.behave_as(serve)
                conn, _ = self.tunnel("quiet.test:443")
                context = trusting_all_names(self.ca.ca_file, offer)
                tls = self.handshake(conn, context, "quiet.test")
                self.assertEqual(("h2", "opid test CA"),
                                 (tls.tls.selected_alpn_protocol(), issuer_name(loaded(tls.certificate))))
                conn.send("hi")
                self.assertEqual(b"h2:hi", conn.reader.exact(5))
        self.assertRegex(self.opid.log, "quiet.test.*(?i:alpn|http/1.1|h2)")

    def test_clear_http_on_port_80_of_a_profiled_host_is_guarded(self):
        conn, r = self.tunnel(f"{PLAIN}:80")
        self.assertEqual(200, r.status)
        r = self.write(conn, PLAIN, "clear-1")
        self.assertEqual((200, "succeeded"), (r.status, r.headers.get("Operation-Status")), r)
        self.assertTrue(self.write(conn, PLAIN, "clear-1").replayed)
        self.assertEqual(1, len(self.clear.attempts))
        self.assertIn("Via", self.clear.attempts[0].headers)

    def test_clear_http_to_a_provider_behind_tls_never_goes_past_the_guard(self):
        conn, r = self.tunnel(f"{GITHUB}:80")
        self.assertEqual(200, r.status)
        r = self.write(conn, GITHUB, "clear-tls", path="/repos/a/b/issues")
        self.assertTrue(r.problem or "Operation-Status" in r.headers, r)
        self.assertFalse([x for x in self.clear.attempts if x.headers.get("Operation-Id")])

    def test_clear_http_with_another_host_inside(self):
        conn, _ = self.tunnel(f"{PLAIN}:80")
        r = conn.request("POST", "/x", {"Operation-Id": "clear-other"}, "x", host=OPENAI)
        self.assert_problem(r, "misdirected", method="POST")


class Refusing(InterceptCase):
    config = {"interception": {"h2_only": "refuse"}}

    def test_h2_alone_gets_an_alert_where_the_configuration_says_so(self):
        conn, _ = self.tunnel(TARGET)
        with self.assertRaises(ssl.SSLError) as failure:
            self.handshake(conn, self.trusting(alpn=("h2",)), OPENAI)
        self.assertIn("NO_APPLICATION_PROTOCOL", str(failure.exception).upper().replace(" ", "_"))
        self.assert_nothing_sent()
        until(lambda: OPENAI in self.opid.log, "a line in the log")


class Reloads(InterceptCase):
    def test_a_profile_that_comes_and_goes(self):
        profiles = self.profiles(self.provider.authority)
        without = [p for p in profiles if p["provider"] != "github"]
        self.opid.write_config(merge(self.opid.config, {"egress": {"resolve": {
            f"{GITHUB}:443": self.origin.authority}}}))
        self.opid.restart()
        old = self.inside(GITHUB)
        self.assert_ok(self.get(old, GITHUB))
        self.opid.write_profiles(without)
        self.assertEqual(200, self.opid.reload().status)
        try:        # the connection that lives: whole answers or a clean end, and no crash
            r = self.get(old, GITHUB)
            self.assertIsNone(r.broken)
        except wire.Closed:
            pass
        blind = self.inside(GITHUB, trusting_all_names(self.ca.ca_file))
        self.assertEqual("opid test CA", issuer_name(loaded(blind.sock.certificate)))
        self.opid.write_profiles(profiles)
        self.assertEqual(200, self.opid.reload().status)
        self.assert_ok(self.get(self.inside(GITHUB), GITHUB))
        self.origin.handler = reply_ok

    def test_the_doctor_host_is_answered_here(self):
        host = "doctor.opid.invalid"
        conn = self.inside(host)
        for nonce in ("n-4711", "n-4712"):
            r = self.get(conn, host, f"/echo/{nonce}")
            self.assertEqual(200, r.status, r)
            self.assertIn(nonce.encode(), r.body)
        self.assert_nothing_sent()


if __name__ == "__main__":
    unittest.main()
