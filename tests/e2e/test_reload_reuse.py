"""After a reload no request goes where a profile no longer leads, whatever connections rest."""
import unittest

from client import Conn
from opid import Opid, base_config, demo_profile
from provider import Provider


class Reload(unittest.TestCase):
    def setUp(self):
        def named(name):
            return lambda ex: (ex.read_body(), ex.reply(200, {}, name))

        self.old, self.new = Provider(handler=named("old")), Provider(handler=named("new"))
        self.opid = Opid(base_config(), [self.profile(self.old)])
        for part in (self.old, self.new, self.opid):
            self.addCleanup(part.close)

    @staticmethod
    def profile(provider):
        return {**demo_profile("api.demo.test"), "upstream_address": provider.authority}

    def test_a_request_that_began_before_it_leaves_no_connection_behind(self):
        conn = Conn(self.opid.proxy)
        self.addCleanup(conn.close)
        conn.send("POST /demo/x HTTP/1.1\r\nHost: x\r\nOperation-Id: r-1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        self.assertEqual(100, conn.head().status)  # the profile is chosen, the body is still to come
        self.opid.write_profiles([self.profile(self.new)])
        self.assertEqual(2, self.opid.reload().status // 100)
        conn.send("abcd")
        self.assertEqual(b"old", conn.response().body)
        for n in range(2, 5):  # on the same connection, so by the same thread
            conn.send(f"POST /demo/x HTTP/1.1\r\nHost: x\r\nOperation-Id: r-{n}\r\nContent-Length: 4\r\n\r\nabcd")
            self.assertEqual(b"new", conn.response().body)
        self.assertEqual((1, 3), (len(self.old.attempts), len(self.new.attempts)))


if __name__ == "__main__":
    unittest.main()
