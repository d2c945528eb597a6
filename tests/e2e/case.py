"""What the unittest files share: an opid with a fake provider behind it, and the ways to reach the provider."""
import unittest

import outcomes
from client import Conn
from opid import Opid, base_config, demo_profile, merge
from provider import Provider

FORWARD = "http://plain.test"       # forward mode, a host without a profile
PROFILED = "http://api.demo.test"   # forward mode, the demo profile's host
REVERSE = "/demo"                   # reverse mode
WAYS = {"forward": FORWARD, "profiled": PROFILED, "reverse": REVERSE}


def reply_ok(ex):
    ex.read_body()
    ex.reply(200, {"Content-Type": "text/plain"}, "ok")


class ProxyCase(unittest.TestCase):
    """One opid and one provider for the class. Writes without an operation ID pass through (identity.missing: pass)."""

    config = {}
    profile = {"identity": {"missing": "pass"}}
    env = {}

    @classmethod
    def setUpClass(cls):
        cls.provider = Provider(handler=reply_ok)
        at = cls.provider.authority
        names = {f"{h}:80": at for h in ("plain.test", "api.demo.test")}
        config = base_config(egress={"allow": ["127.0.0.0/8"], "resolve": names})
        cls.opid = Opid(merge(config, cls.config), cls.profiles(at), env=cls.env)

    @classmethod
    def profiles(cls, authority):
        return [merge(demo_profile(authority), cls.profile)]

    @classmethod
    def tearDownClass(cls):
        cls.provider.close()
        cls.opid.close()

    def setUp(self):
        self.provider.handler = reply_ok
        self.seen = self.count()

    def run(self, result=None):  # shows the log of opid after a failed test
        before = len(result.failures) + len(result.errors) if result is not None else 0
        out = super().run(result)
        if result is not None and len(result.failures) + len(result.errors) > before and hasattr(self,
                                                                                                 "opid"):
            self.opid.show_log(25)
        return out

    def count(self):
        return len(self.provider.attempts) + len(self.provider.lookups)

    @property
    def last(self):
        """The last exchange that the provider saw."""
        return max(self.provider.attempts + self.provider.lookups, key=lambda x: x.at)

    def handle(self, handler):
        self.provider.handler = handler

    def connect(self, **more):
        conn = Conn(self.opid.proxy, **more)
        self.addCleanup(conn.close)
        return conn

    def assert_problem(self, r, slug=None, method="GET"):
        self.assertEqual([], outcomes.check_problem(r, slug, method=method))

    def assert_nothing_sent(self):
        self.assertEqual(self.seen, self.count(), "the provider has seen a request")

    def assert_alive(self):
        self.assertTrue(self.opid.alive(), "opid has ended")
        self.assertEqual(200, self.opid.call("GET", REVERSE + "/alive").status)
