"""Guarded writes inside intercepted tunnels: one effect whatever is lost, tenants, credentials, two hosts of one agent."""
import json
import unittest

import outcomes
import wire
from case import reply_ok
from opid import merge
from tls_case import GITHUB, OPENAI, STRIPE, InterceptCase

DONE = {"commit": 1, "status": 201, "headers": {"Content-Type": "application/json"}, "body": '{"id":"re_1"}'}
DROP = {"commit": 1, "then": "drop"}
CHARGE, ISSUE = "/v1/charges", "/repos/ada/engine/issues"


class Writes(InterceptCase):
    def expect(self, r, word, op=None):
        self.assertEqual([], outcomes.check_word(r, word, op))

    def test_first_replay_mismatch_on_one_connection(self):
        self.script(DONE, keyed=True)
        conn = self.inside(STRIPE)
        for word, body in (("PASS 201", '{"a":1}'), ("REPLAY 201", '{"a":1}'), ("REPLAY 201", '{ "a": 1.0 }'),
                           ("MISMATCH", '{"a":2}'), ("REPLAY 201", '{"a":1}')):
            r = self.write(conn, STRIPE, "inside-1", body, CHARGE)
            self.expect(r, word, "inside-1")
            if not r.problem:
                self.assertEqual(b'{"id":"re_1"}', r.body)
        self.expect(self.write(self.inside(STRIPE), STRIPE, "inside-1", path=CHARGE), "REPLAY 201")
        self.assert_effects(1)
        x = self.provider.attempts[-1]
        self.assertEqual((STRIPE, 1), (x.headers.get("Host"), len(x.key("header:Idempotency-Key"))))
        self.assertNotIn("Operation-Id", x.headers)

    def test_the_same_write_in_reverse_mode_is_the_same_operation(self):
        self.script(DONE, keyed=True)
        self.expect(self.write(self.inside(STRIPE), STRIPE, "both-ways", path=CHARGE), "PASS 201")
        r = self.connect().request("POST", "/stripe" + CHARGE, {"Operation-Id": "both-ways",
                                                                "Content-Type": "application/json"}, '{"a":1}')
        self.expect(r, "REPLAY 201")
        self.assert_effects(1)

    def test_a_lost_answer_heals_where_the_provider_honours_keys(self):
        self.script(DROP, keyed=True)
        conn = self.inside(STRIPE)
        self.expect(self.write(conn, STRIPE, "lost-1", path=CHARGE), "DONE 201")
        self.expect(self.write(conn, STRIPE, "lost-1", path=CHARGE), "REPLAY 201")
        self.assert_effects(1)

    def test_a_lost_answer_is_held_where_nobody_honours_keys(self):
        for how in ({"then": "drop"}, {"then": "rst"}, {"then": "cut", "status": 201, "body": '{"id":"x"}', "bytes": 4}):
            with self.subTest(how):
                op = "held-" + how["then"]
                self.script({"commit": 1, **how})
                conn = self.inside(GITHUB)
                for _ in range(2):
                    r = self.write(conn, GITHUB, op, path=ISSUE)
                    self.expect(r, "needs-review", op)
                    if r.closes:
                        conn = self.inside(GITHUB)
                self.expect(self.write(self.inside(GITHUB), GITHUB, op, path=ISSUE), "needs-review", op)
                self.assert_effects(1)

    def test_what_was_never_sent_may_be_tried_again(self):
        self.script(DONE)
        conn = self.inside(GITHUB)
        for trouble, cure in ((self.provider.refuse, self.provider.listen),
                              (lambda: setattr(self.provider, "tls_broken", True),
                               lambda: setattr(self.provider, "tls_broken", False))):
            self.provider.drop_all()
            trouble()
            try:
                self.expect(self.write(conn, GITHUB, "unsent-1", path=ISSUE), "not-sent", "unsent-1")
            finally:
                cure()
            self.assertEqual("prepared", self.opid.status("unsent-1"))
        self.expect(self.write(conn, GITHUB, "unsent-1", path=ISSUE), "PASS 201")
        self.assert_effects(1)

    def test_an_error_of_the_provider_comes_through_as_it_is(self):
        body = '{"message":"Validation Failed"}'
        self.script({"status": 422, "body": body}, {"status": 503, "commit": 1, "body": "busy"})
        conn = self.inside(GITHUB)
        r = self.write(conn, GITHUB, "err-1", path=ISSUE)
        self.assertEqual((422, None, "failed"), (r.status, r.problem, r.headers.get("Operation-Status")))
        r = self.write(conn, GITHUB, "err-2", path=ISSUE)
        self.expect(r, "UNKNOWN")
        self.expect(self.write(conn, GITHUB, "err-2", path=ISSUE), "needs-review", "err-2")
        self.assert_effects(1)

    def test_a_write_without_an_id_is_refused_or_passes_as_the_profile_says(self):
        conn = self.inside(STRIPE)
        r = conn.request("POST", CHARGE, {}, "a=1", host=STRIPE)
        self.assert_problem(r, "operation-id-missing", method="POST")
        self.assert_nothing_sent()
        conn = self.inside(OPENAI)
        self.assert_ok(conn.request("POST", "/v1/x", {}, "a=1", host=OPENAI))

    def test_a_client_that_leaves_changes_nothing(self):
        for op, leave in (("left-1", lambda c: c.close()), ("left-2", lambda c: c.reset()),
                          ("left-3", lambda c: c.sock.send_close_notify())):
            with self.subTest(op):
                self.script({**DONE, "gate_before": op})
                conn = self.inside(STRIPE)
                before = len(self.provider.attempts)
                conn.send(wire.head_bytes(f"POST {CHARGE} HTTP/1.1", [
                    ("Host", STRIPE), ("Operation-Id", op), ("Content-Type", "application/json"),
                    ("Content-Length", "7")]) + b'{"a":1}')
                self.provider.wait_attempts(before + 1)
                leave(conn)
                self.provider.open_gate(op)
                self.assertEqual("succeeded", self.opid.settled(op))
                self.expect(self.write(self.inside(STRIPE), STRIPE, op, path=CHARGE), "REPLAY 201")
                self.assert_effects(1)

    def test_a_kill_in_the_middle_is_resumed_under_the_same_key(self):
        self.script({**DROP, "gate": "killed"}, keyed=True)
        conn = self.inside(STRIPE)
        before = len(self.provider.attempts)
        conn.send(wire.head_bytes(f"POST {CHARGE} HTTP/1.1", [
            ("Host", STRIPE), ("Operation-Id", "killed-1"), ("Content-Type", "application/json"),
            ("Content-Length", "7")]) + b'{"a":1}')
        self.provider.wait(lambda: self.provider.effects == self.effects + 1, "the effect")
        self.opid.restart(hard=True)
        self.provider.open_gate("killed")
        r = self.write(self.inside(STRIPE), STRIPE, "killed-1", path=CHARGE)
        for _ in range(20):     # while the recovery at the start works on it, a caller is told to wait
            if not r.problem:
                break
            self.assertIn(r.problem, ("operation-in-progress", "outcome-unknown"))
            r = self.write(self.inside(STRIPE), STRIPE, "killed-1", path=CHARGE, headers={"Operation-Wait": "1"})
        self.expect(r, "DONE 201")
        self.assert_effects(1)
        keys = {x.key("header:Idempotency-Key")[0] for x in self.provider.attempts[before:]}
        self.assertEqual(1, len(keys))


class Tenants(InterceptCase):
    config = {"tenants": [{"name": "amy", "tokens": ["env:AMY"]}, {"name": "bob", "tokens": ["env:BOB"]}]}
    env = {"AMY": "amy-secret-token", "BOB": "bob-secret-token"}
    AMY = {"Proxy-Authorization": "Bearer amy-secret-token"}
    BOB = {"Proxy-Authorization": "Basic Ym9iOmJvYi1zZWNyZXQtdG9rZW4="}     # bob:bob-secret-token

    def assert_secrets_stay(self):
        for x in self.provider.attempts + self.provider.lookups:
            self.assertNotIn("Proxy-Authorization", x.headers)
            self.assertNotRegex(x.raw.decode("latin-1"), "secret-token|Ym9iOmJvYi")
        self.assertNotRegex(self.opid.log, "secret-token|Ym9iOmJvYi")

    def test_a_407_keeps_the_connection(self):
        conn, r = self.tunnel(f"{OPENAI}:443")
        for wrong in ({}, {"Proxy-Authorization": "Bearer nobody"}, {"Proxy-Authorization": "Basic !"}):
            self.assert_problem(r, "tenant-unauthenticated")
            self.assertEqual((407, False, "length"), (r.status, r.closes, r.framing))
            self.assertIn("Proxy-Authenticate", r.headers)
            r = conn.request("CONNECT", f"{OPENAI}:443", wrong, host=f"{OPENAI}:443")
        r = conn.request("CONNECT", f"{OPENAI}:443", self.AMY, host=f"{OPENAI}:443")
        self.assertEqual(200, r.status)
        self.handshake(conn, self.trust, OPENAI)
        self.assert_ok(self.get(conn, OPENAI))
        self.assert_secrets_stay()

    def test_the_tunnels_tenant_counts_inside(self):
        self.script(DONE, {**DONE, "body": '{"id":"re_2"}'})
        amy, bob = self.inside(STRIPE, headers=self.AMY), self.inside(STRIPE, headers=self.BOB)
        for conn, body, replayed in ((amy, b"re_1", False), (bob, b"re_2", False), (amy, b"re_1", True),
                                     (bob, b"re_2", True)):
            r = self.write(conn, STRIPE, "shared", path=CHARGE)
            self.assertEqual((201, replayed), (r.status, r.replayed), r)
            self.assertIn(body, r.body)
        self.assert_effects(2)
        self.assertEqual({"amy", "bob"}, {o["tenant"] for o in self.opid.operations() if o["id"] == "shared"})
        self.assert_secrets_stay()

    def test_a_proxy_credential_inside_is_taken_off_and_changes_nobody(self):
        self.script(DONE, {**DONE, "body": '{"id":"re_2"}'})
        amy = self.inside(STRIPE, headers=self.AMY)
        r = self.write(amy, STRIPE, "inner", path=CHARGE, headers=self.BOB)
        self.assertIn(r.status, (201, 407), r)
        self.assertEqual([], [o for o in self.opid.operations() if o["id"] == "inner" and o["tenant"] == "bob"])
        r = self.write(amy, STRIPE, "inner-2", path=CHARGE, headers={"Operation-Tenant": "bob"})
        self.assertEqual([], [o for o in self.opid.operations() if o["id"] == "inner-2" and o["tenant"] == "bob"])
        self.assert_secrets_stay()

    def test_the_provider_gets_the_callers_own_credential(self):
        self.provider.handler = reply_ok
        conn = self.inside(OPENAI, headers=self.AMY)
        self.assert_ok(self.get(conn, OPENAI, headers={"Authorization": "Bearer for-the-provider"}))
        self.assertEqual("Bearer for-the-provider", self.last.headers.get("Authorization"))
        self.assert_secrets_stay()


class Credentials(InterceptCase):
    env = {"STRIPE_AUTH": "Bearer sk_live_injected"}

    @classmethod
    def profiles(cls, authority):
        keys = {"credentials": {"header": "Authorization", "value": "env:STRIPE_AUTH", "inject": True}}
        return [merge(p, keys) if p["provider"] == "stripe" else p for p in super().profiles(authority)]

    def test_the_profiles_credential_goes_in_and_the_callers_placeholder_out(self):
        self.script(DONE, DONE, keyed=True)
        for n, own in enumerate(({}, {"Authorization": "Bearer placeholder"})):
            conn = self.inside(STRIPE)
            r = self.write(conn, STRIPE, f"inject-{n}", path=CHARGE, headers=own)
            self.assertEqual(201, r.status, r)
            self.assertEqual(["Bearer sk_live_injected"], self.provider.attempts[-1].headers.all("Authorization"))
            self.assertEqual(200, self.get(conn, STRIPE, "/v1/charges", own).status)
            self.assertEqual(["Bearer sk_live_injected"], self.provider.lookups[-1].headers.all("Authorization"))
        self.assertNotIn("sk_live_injected", json.dumps(self.opid.operations()) + self.opid.log)


if __name__ == "__main__":
    unittest.main()
