"""Where a request may go: providers, egress rules, tenants, opid's own addresses, problems."""
import json
import unittest

import client
from case import FORWARD, PROFILED, REVERSE, ProxyCase, reply_ok
from listener import TestCa
from opid import Opid, StartFailed, base_config, demo_profile
from provider import Provider


class Routes(ProxyCase):
    def get(self, target, host="a", **more):
        return self.connect().request("GET", target, host=host, **more)

    def test_unknown_provider(self):
        for target in ("/nobody/x", "/nobody", "/demox/x"):
            with self.subTest(target):
                self.assert_problem(self.get(target), "unknown-provider")
        self.assert_nothing_sent()

    def test_head_problems_have_no_body(self):
        conn = self.connect()
        r = conn.request("HEAD", "/nobody/x")
        self.assertEqual((404, "unknown-provider"), (r.status, r.problem))
        self.assertEqual(200, conn.request("GET", REVERSE + "/x").status)

    def test_reverse_mode_takes_the_prefix_off(self):
        for target, path in (("/demo/a?b=/demo", "/a?b=/demo"), ("/demo", "/"), ("/demo/", "/"),
                             ("/demo?q=1", "/?q=1"), ("/demo//x", "//x")):
            with self.subTest(target):
                self.assertEqual(200, self.get(target).status)
                self.assertEqual(path, self.last.target)
                self.assertEqual(self.provider.authority, self.last.headers.get("Host"))

    def test_origin_form_on_our_own_address_is_local(self):
        r = self.get("/", host=f"127.0.0.1:{self.opid.ports['proxy']}")
        self.assertLess(r.status, 500)
        self.assert_nothing_sent()

    def test_schemes_that_are_not_http(self):
        for target in ("ftp://plain.test/x", "file:///etc/passwd", "ws://plain.test/", "gopher://plain.test/",
                       "http:/plain.test/", "http://"):
            with self.subTest(target):
                self.assertIn(self.get(target, host="plain.test").status, (400, 501))
        self.assert_nothing_sent()

    def test_userinfo_is_refused_and_not_logged(self):
        r = self.get("http://user:canary-password@plain.test/x", host="plain.test")
        self.assertEqual(400, r.status)
        self.assertNotIn("canary-password", self.opid.log)

    def test_unreachable_upstreams(self):
        for target in ("http://nowhere.invalid/x", "http://127.0.0.1:1/x"):
            with self.subTest(target):
                self.assert_problem(self.get(target), "unreachable")

    def test_own_listeners_through_the_proxy(self):
        for port in ("admin", "proxy"):
            r = self.get(f"http://127.0.0.1:{self.opid.ports[port]}/v1/operations", host="a")
            self.assertIn(r.status, (403, 508), r)

    def test_provider_with_a_port_of_its_own(self):
        config = base_config(listen={"providers": {"demo": "127.0.0.1:0"}})
        with Opid(config, self.profiles(self.provider.authority)) as opid:
            r = client.once(("127.0.0.1", opid.ports["demo"]), "GET", "/demo/x", host="a")
            self.assertEqual((200, "/demo/x"), (r.status, self.last.target))

    def test_operation_id_and_status_on_every_guarded_answer(self):
        for base, host in ((REVERSE, "a"), (PROFILED, "api.demo.test")):
            r = self.connect().request("POST", base + "/w", {"Operation-Id": "routes-" + host}, "x",
                                       host=host)
            self.assertEqual(("routes-" + host, "succeeded"),
                             (r.headers.get("Operation-Id"), r.headers.get("Operation-Status")))
            self.assertIn("Operation-Attempt", r.headers)


class Egress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.provider = Provider(handler=reply_ok)
        cls.opid = Opid(base_config(egress={"allow": [],
                                            "resolve": {"fixed.test:80": cls.provider.authority}}),
                        [demo_profile(cls.provider.authority)])

    @classmethod
    def tearDownClass(cls):
        cls.provider.close()
        cls.opid.close()

    def test_private_and_metadata_addresses_are_refused(self):
        port = self.provider.port
        before = self.provider.connections
        for host in ("127.0.0.1", "localhost", "localhost.", "127.1", "0x7f.0.0.1", "2130706433",
                     "0177.0.0.1", "0.0.0.0", "10.0.0.1",
                     "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[::1]",
                     "[::ffff:127.0.0.1]", "[fd00:ec2::254]",
                     "[fe80::1]", "[64:ff9b::7f00:1]", "metadata.google.internal",
                     "METADATA.google.internal.", "224.0.0.1", "255.255.255.255"):
            for form in ("absolute", "connect"):
                with self.subTest(host, form=form):
                    if form == "absolute":
                        r = self.opid.call("GET", f"http://{host}:{port}/x", host=host)
                    else:
                        r = self.opid.call("CONNECT", f"{host}:{port}", host=host)
                    self.assertIn(r.status, (400, 403, 502), r)
                    self.assertIsNotNone(r.problem)
        self.assertEqual(before, self.provider.connections)

    def test_fixed_addresses_and_profiles_are_allowed(self):
        self.assertEqual(200, self.opid.call("GET", "http://fixed.test/x", host="fixed.test").status)
        self.assertEqual(200, self.opid.call("GET", "/demo/x").status)

    def test_allow_never_lifts_metadata(self):
        with Opid(base_config(egress={"allow": ["0.0.0.0/0"]}), []) as opid:
            r = opid.call("GET", "http://169.254.169.254/latest/meta-data", host="a", timeout=10)
            self.assertEqual(403, r.status, r)

    def test_allow_lifts_private(self):
        with Opid(base_config(), []) as opid:
            self.assertEqual(200, opid.call("GET", f"http://{self.provider.authority}/x", host="a").status)


class Tenants(unittest.TestCase):
    def test_credentials_of_both_modes(self):
        provider = Provider(handler=reply_ok)
        self.addCleanup(provider.close)
        config = base_config(tenants=[{"name": "amy", "tokens": ["env:AMY_OLD", "env:AMY_NEW"]}],
                             egress={"resolve": {"plain.test:80": provider.authority}})
        with Opid(config, [demo_profile(provider.authority)],
                  env={"AMY_OLD": "old-secret-1", "AMY_NEW": "new-secret-1"}) as opid:
            conn = opid.connect()
            self.addCleanup(conn.close)
            for target, status, challenge in ((FORWARD + "/x", 407, "Proxy-Authenticate"),
                                              (REVERSE + "/x", 401, "WWW-Authenticate")):
                for wrong in ({}, {"Proxy-Authorization": "Bearer nope"},
                              {"Proxy-Authorization": "Basic !!"}):
                    r = conn.request("GET", target, wrong, host="plain.test")
                    self.assertEqual((status, "tenant-unauthenticated"), (r.status, r.problem))
                    self.assertIn(challenge, r.headers)
                for token in ("old-secret-1", "new-secret-1"):
                    r = conn.request("GET", target, {"Proxy-Authorization": f"Bearer {token}"},
                                     host="plain.test")
                    self.assertEqual(200, r.status)
            r = conn.request("CONNECT", "plain.test:80", host="plain.test:80")
            self.assertEqual((407, False), (r.status, r.closes))
            r = conn.request("CONNECT", "plain.test:80", {"Proxy-Authorization": "Bearer old-secret-1"},
                             host="plain.test:80")
            self.assertEqual(200, r.status)

    def test_a_bind_that_is_not_loopback_needs_tenants(self):
        with self.assertRaises(StartFailed) as failure:
            Opid(base_config(listen={"proxy": "0.0.0.0:0"}), [])
        self.assertIn("tenants", failure.exception.log)


class OverTls(unittest.TestCase):
    def test_reverse_mode_verifies_the_provider(self):
        ca, other = TestCa(), TestCa()
        provider = Provider(handler=reply_ok, tls=ca.context("api.demo.test"))
        self.addCleanup(provider.close)
        base = {"provider": "demo", "hosts": ["api.demo.test"], "upstream_address": provider.authority,
                "identity": {"missing": "pass"}}
        for trust, write, status in ((ca, "ok-1", 200), (other, "bad-1", 502)):
            with Opid(base_config(), [{**base, "tls": {"ca": f"file:{trust.ca_file}"}}]) as opid:
                r = opid.call("GET", "/demo/x")
                self.assertEqual(status, r.status, r)
                r = opid.call("POST", "/demo/w", {"Operation-Id": write}, json.dumps({"a": 1}))
                self.assertEqual(status, r.status, r)
                if status == 502:
                    self.assertEqual(("not-sent", "prepared"), (r.problem, opid.status(write)))
        self.assertEqual("api.demo.test", provider.attempts[0].headers.get("Host"))
        self.assertEqual(1, len(provider.attempts))


if __name__ == "__main__":
    unittest.main()
