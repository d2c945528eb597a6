"""Start, health, drain, restart."""
import os
import signal
import stat
import threading
import unittest

import client
import wire
from case import FORWARD, REVERSE, ProxyCase
from client import Conn
from opid import merge


class Lifecycle(ProxyCase):
    def setUp(self):
        super().setUp()
        if not self.opid.alive():
            self.opid.start()

    def test_health(self):
        for path in ("/healthz", "/readyz", "/metrics"):
            r = self.opid.admin("GET", path, token="")
            self.assertEqual(200, r.status, r)

    def test_the_admin_token_is_private_and_stays(self):
        path = os.path.join(self.opid.data, "admin.token")
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        token = self.opid.admin_token
        self.assertGreaterEqual(len(token), 20)
        self.opid.restart()
        self.assertEqual(token, self.opid.admin_token)

    def drain(self, running):
        """Starts `running()` in a thread, sends SIGTERM once the provider has the request, then lets it go on."""
        go, answers = threading.Event(), []
        self.handle(lambda ex: (ex.read_body(), go.wait(15), ex.reply(201, {}, "done")))
        thread = threading.Thread(target=lambda: answers.append(running()))
        seen = self.count()
        thread.start()
        self.provider.wait(lambda: self.count() > seen, "the request at the provider")
        self.opid.process.send_signal(signal.SIGTERM)

        def closed():
            try:
                Conn(self.opid.proxy).close()
                return False
            except ConnectionRefusedError:
                return True
        client.until(closed, "no new connections")
        self.assertTrue(self.opid.alive())
        go.set()
        thread.join(30)
        self.assertEqual(0, self.opid.process.wait(20))
        return answers[0]

    def test_sigterm_lets_a_write_finish(self):
        r = self.drain(lambda: self.opid.call("POST", REVERSE + "/w", {"Operation-Id": "drain-1"}, "x"))
        self.assertEqual((201, b"done"), (r.status, r.body))
        self.opid.start()
        r = self.opid.call("POST", REVERSE + "/w", {"Operation-Id": "drain-1"}, "x")
        self.assertEqual((201, True), (r.status, r.replayed))

    def test_sigterm_lets_a_read_finish(self):
        r = self.drain(lambda: self.opid.call("GET", FORWARD + "/r", host="plain.test"))
        self.assertEqual((201, b"done"), (r.status, r.body))

    def test_sigterm_with_idle_connections_ends_at_once(self):
        conn = self.connect()
        self.assertEqual(200, conn.request("GET", REVERSE + "/x").status)
        self.assertEqual(0, self.opid.terminate(timeout=4))
        self.assertTrue(conn.at_end())

    def test_the_drain_limit_ends_what_hangs(self):
        self.opid.write_config(merge(self.opid.config,
                                     {"timeouts": {"drain": "500ms", "upstream_response": "60s"}}))
        self.opid.restart()
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.handle(lambda ex: (ex.read_body(), gate.wait(30), ex.drop()))
        result = []

        def call():
            try:
                result.append(self.opid.call("POST", REVERSE + "/w", {"Operation-Id": "hang-1"}, "x"))
            except wire.Closed:
                result.append(None)

        thread = threading.Thread(target=call)
        seen = self.count()
        thread.start()
        self.provider.wait(lambda: self.count() > seen, "the request at the provider")
        self.opid.terminate(timeout=10)
        thread.join(30)
        self.opid.write_config(merge(self.opid.config,
                                     {"timeouts": {"drain": "5s", "upstream_response": "5s"}}))
        self.opid.start()
        self.assertIn(self.opid.status("hang-1"), ("unknown", "needs_review"))
        self.assertTrue(result[0] is None or result[0].status >= 400)

    def test_no_operation_is_left_in_progress_by_a_crash(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.handle(lambda ex: (ex.read_body(), gate.wait(30), ex.drop()))
        threads = []
        before = len(self.provider.attempts)

        def call(n):
            try:
                self.opid.call("POST", REVERSE + "/w", {"Operation-Id": f"lost-{n}"}, "x")
            except (wire.Closed, ConnectionError):
                pass

        for n in range(5):
            threads.append(threading.Thread(target=call, args=(n,)))
            threads[-1].start()
        self.provider.wait_attempts(before + 5)
        self.opid.kill()
        for thread in threads:
            thread.join(30)
        self.opid.start()
        for n in range(5):
            self.assertIn(self.opid.settled(f"lost-{n}"), ("unknown", "needs_review"))


if __name__ == "__main__":
    unittest.main()
