"""A bad configuration is refused at the start with every mistake; a reload is all or nothing."""
import os
import signal
import subprocess
import threading
import unittest

import client
from case import reply_ok
from opid import BINARY, Opid, StartFailed, base_config, demo_profile
from provider import Provider


class BadConfigurations(unittest.TestCase):
    def refused(self, config, profiles=(), env=None):
        with self.assertRaises(StartFailed) as failure:
            Opid(config, profiles, env=env).close()
        self.assertGreater(failure.exception.code, 0, "ended by a signal")
        return failure.exception.log

    def test_unknown_keys_name_file_line_and_the_nearest_key(self):
        log = self.refused("listen:\n  proxi: 127.0.0.1:0\n  admin: 127.0.0.1:0\ndata: ./data\npolicies: [policies]\n")
        self.assertIn("opid.yaml:2", log)
        self.assertIn("proxi", log)
        self.assertIn("proxy", log.replace("proxi", ""))

    def test_every_mistake_is_listed(self):
        log = self.refused("listen: {proxy: 127.0.0.1:0, admin: 127.0.0.1:0}\n"
                           "data: ./data\n"
                           "policies: [policies]\n"
                           "limits: {request_body: many}\n"
                           "timeouts:\n"
                           "  connect: 5 parsecs\n"
                           "  tsl: 5s\n"
                           "wrong_key: 1\n")
        for line, word in ((4, "request_body"), (6, "connect"), (7, "tsl"), (8, "wrong_key")):
            self.assertIn(f"opid.yaml:{line}", log)
            self.assertIn(word, log)

    def test_profiles_are_checked_too(self):
        log = self.refused(base_config(),
                           {"demo.yaml": "provider: demo\nhosts: [api.demo.test]\nkey:\n  carier: none\n"
                                                        "rules:\n  - {name: a, match: {method: POST, path: /a}, class: wrote}\n",
                                           "other.yaml": "hosts: [x.test]\nprovider: other\nverdicts: [{status: 9999, verdict: maybe}]\n"})
        for text in ("demo.yaml:4", "carier", "carrier", "demo.yaml:6", "class", "other.yaml:3", "verdict"):
            self.assertIn(text, log)

    def test_broken_yaml(self):
        self.assertIn("opid.yaml:", self.refused("listen: [unclosed\ndata: x\n"))

    def test_secrets_by_reference_only(self):
        log = self.refused(base_config(tenants=[{"name": "a", "tokens": ["plain-canary-text"]}]))
        self.assertIn("tokens", log)
        self.assertNotIn("plain-canary-text", log)
        log = self.refused(base_config(tenants=[{"name": "a", "tokens": ["env:NOT_SET_ANYWHERE"]}]))
        self.assertIn("NOT_SET_ANYWHERE", log)

    def test_two_providers_of_one_name_or_host(self):
        one = "provider: demo\nhosts: [a.test]\n"
        self.assertIn("demo",
                      self.refused(base_config(), {"a.yaml": one, "b.yaml": one.replace("a.test", "b.test")}))
        self.assertIn("a.test",
                      self.refused(base_config(), {"a.yaml": one, "b.yaml": one.replace("demo", "demo2")}))

    def test_missing_files(self):
        log = self.refused(base_config(policies=["no-such-folder"]))
        self.assertIn("no-such-folder", log)
        done = subprocess.run([BINARY, "serve", "--config", "/no/such/opid.yaml"], capture_output=True,
                              text=True, timeout=30)
        self.assertGreater(done.returncode, 0)
        self.assertIn("/no/such/opid.yaml", done.stderr)

    def test_a_port_in_use(self):
        provider = Provider()
        self.addCleanup(provider.close)
        log = self.refused(base_config(listen={"proxy": provider.authority}))
        self.assertIn(provider.authority, log)

    def test_the_data_folder_has_one_owner(self):
        with Opid(base_config(), []) as first:
            second = base_config(data=os.path.abspath(first.data))
            self.assertIn("data", self.refused(second))
            self.assertEqual(200, client.once(first.admin_address, "GET", "/readyz", host="127.0.0.1").status)


class Reloads(unittest.TestCase):
    def setUp(self):
        self.provider = Provider(handler=reply_ok)
        self.addCleanup(self.provider.close)
        self.opid = Opid(base_config(), [demo_profile(self.provider.authority)])
        self.addCleanup(self.opid.close)

    def status_of(self, name):
        return self.opid.call("GET", f"/{name}/x").status

    def profile(self, name):
        return {**demo_profile(self.provider.authority), "provider": name, "hosts": [f"api.{name}.test"]}

    def test_reload_through_the_api(self):
        self.opid.write_profiles([self.profile("demo"), self.profile("fresh")])
        self.assertEqual(404, self.status_of("fresh"))
        self.assertEqual(2, self.opid.reload().status // 100)
        self.assertEqual((200, 200), (self.status_of("fresh"), self.status_of("demo")))

    def test_reload_by_signal(self):
        self.opid.write_profiles([self.profile("demo"), self.profile("fresh")])
        self.opid.hup()
        client.until(lambda: self.status_of("fresh") == 200, "the new profile is in force")

    def test_a_bad_file_changes_nothing(self):
        self.opid.write_profiles({"demo.yaml": "provider: demo2\nhosts: [a.test]\n",
                                  "bad.yaml": "provider: bad\nhost: [x]\n"})
        r = self.opid.reload()
        self.assertIn(r.status, (400, 422), r)
        self.assertIn(b"bad.yaml:2", r.body)
        self.assertEqual((200, 404), (self.status_of("demo"), self.status_of("demo2")))
        before = len(self.opid.log)
        self.opid.hup()
        client.until(lambda: "bad.yaml" in self.opid.log[before:], "a log line about the bad file")
        self.assertEqual((200, 404), (self.status_of("demo"), self.status_of("demo2")))

    def test_traffic_during_reloads(self):
        stop, bad = threading.Event(), []

        def traffic():
            n = 0
            while not stop.is_set():
                n += 1
                r = self.opid.call("POST", "/demo/w", {"Operation-Id": f"reload-{threading.get_ident()}-{n}"},
                                   "x")
                if r.status != 200:
                    bad.append(r)

        threads = [threading.Thread(target=traffic) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(20):
            self.opid.reload()
        stop.set()
        for t in threads:
            t.join(30)
        self.assertEqual([], bad)


class Commands(unittest.TestCase):
    def test_version_and_bad_usage(self):
        done = subprocess.run([BINARY, "version"], capture_output=True, text=True, timeout=30)
        self.assertEqual(0, done.returncode)
        self.assertRegex(done.stdout, r"\d+\.\d+")
        done = subprocess.run([BINARY, "no-such-command"], capture_output=True, text=True, timeout=30)
        self.assertNotEqual(0, done.returncode)
        self.assertNotEqual(-signal.SIGABRT, done.returncode)


if __name__ == "__main__":
    unittest.main()
