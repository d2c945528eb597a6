"""The admin API: who may see what, what an operation looks like, how doubt is settled by hand."""
import unittest

import client
from case import REVERSE, ProxyCase


class Admin(ProxyCase):
    config = {"admin": {"tokens": [{"name": "vera", "role": "viewer", "token": "env:T_VIEW"},
                                   {"name": "otto", "role": "operator", "token": "env:T_OPER"},
                                   {"name": "apo", "role": "approver", "token": "env:T_APPR"}]}}
    env = {"T_VIEW": "viewer-token-000001", "T_OPER": "operator-token-0001", "T_APPR": "approver-token-0001"}

    def write(self, op, path="/w", body='{"a":1}'):
        return self.opid.call("POST", REVERSE + path,
                              {"Operation-Id": op, "Content-Type": "application/json"}, body)

    def admin(self, method, path, body=None, token="operator-token-0001", **more):
        return self.opid.admin(method, path, body, token=token, **more)

    def lose(self, op):
        self.handle(lambda ex: (ex.read_body(), ex.drop()))
        self.assertEqual("needs-review", self.write(op).problem)

    def test_everything_but_health_needs_a_token(self):
        for path in ("/v1/operations", "/v1/operations/x", "/v1/events"):
            for token in ("", "wrong", "viewer-token-00000"):
                self.assertEqual(401, self.admin("GET", path, token=token).status)
        for path in ("/healthz", "/readyz", "/metrics"):
            self.assertEqual(200, self.admin("GET", path, token="").status)

    def test_roles(self):
        self.lose("roles-1")
        for token, status in (("viewer-token-000001", 403), ("approver-token-0001", 403),
                              ("operator-token-0001", 200)):
            r = self.admin("POST", "/v1/operations/roles-1/resolution", {"as": "failed", "reason": "seen"},
                           token=token)
            self.assertEqual(status, r.status if r.status != 204 else 200)
        self.assertEqual(403, self.admin("POST", "/v1/policies/reload", token="viewer-token-000001").status)
        self.assertEqual(200, self.admin("GET", "/v1/operations", token="viewer-token-000001").status)

    def test_foreign_host_and_origin_are_refused(self):
        for headers, host in ([("Origin", "http://evil.test")], None), ([], "evil.test"):
            r = client.once(self.opid.admin_address, "GET", "/v1/operations",
                            [*headers, ("Authorization", "Bearer operator-token-0001")],
                            host=host or f"127.0.0.1:{self.opid.ports['admin']}")
            self.assertIn(r.status, (400, 403, 421), r)

    def test_an_operation(self):
        self.write("shape-1")
        op = self.opid.operation("shape-1")
        for name in ("id", "tenant", "provider", "rule", "status", "digest", "raw_digest", "intent",
                     "attempts", "provider_key", "provider_ref",
                     "approval", "next_step", "created", "updated"):
            self.assertIn(name, op)
        self.assertEqual(("shape-1", "default", "demo", "succeeded"),
                         (op["id"], op["tenant"], op["provider"], op["status"]))
        self.assertEqual(1, len(op["attempts"]))
        for name in ("id", "started", "ended", "evidence", "verdict", "http_status"):
            self.assertIn(name, op["attempts"][0])
        self.assertEqual((200, "succeeded"), (op["attempts"][0]["http_status"], op["attempts"][0]["verdict"]))

    def test_history(self):
        self.lose("hist-1")
        self.admin("POST", "/v1/operations/hist-1/resolution",
                   {"as": "not_executed", "reason": "asked them on the phone"})
        self.handle(lambda ex: (ex.read_body(), ex.reply(201, {}, "ok")))
        self.assertEqual(201, self.write("hist-1").status)
        r = self.admin("GET", "/v1/operations/hist-1/history")
        self.assertEqual(200, r.status)
        text = r.body.decode()
        for word in ("in_progress", "needs_review", "prepared", "succeeded", "asked them on the phone",
                     "otto"):
            self.assertIn(word, text)
        self.assertEqual(2, len(self.opid.operation("hist-1")["attempts"]))

    def test_lists_and_filters(self):
        self.write("list-ok")
        self.lose("list-lost")
        ids = {o["id"] for o in self.opid.operations(status="needs_review")}
        self.assertIn("list-lost", ids)
        self.assertNotIn("list-ok", ids)
        self.assertIn("list-ok", {o["id"] for o in self.opid.operations(provider="demo", tenant="default")})
        self.assertEqual([], self.opid.operations(provider="nobody"))

    def test_pages(self):
        for n in range(60):
            self.write(f"page-{n:03}")
        r = self.admin("GET", "/v1/operations?limit=25")
        ids = [o["id"] for o in r.json["operations"]]
        self.assertLessEqual(len(ids), 25)
        everything = [(o["id"], o["provider"]) for o in self.opid.operations()]
        self.assertEqual(len(everything), len(set(everything)))
        self.assertEqual(60, sum(i.startswith("page-") for i, _ in everything))

    def test_ids_with_odd_characters(self):
        for op in ("a/b", "a?b", "a%2Fb", "a#b", "a:b;c", "..", "a&b=c", '"'):
            with self.subTest(op):
                self.opid.call("POST", REVERSE + "/w", {"Operation-Id": op if op != '"' else '"\\""'}, "x")
                found = self.opid.operation(op)
                self.assertEqual(op, found and found["id"])

    def test_unknown_operations(self):
        self.assertEqual(404, self.admin("GET", "/v1/operations/nobody").status)
        self.assertEqual(404,
                         self.admin("POST", "/v1/operations/nobody/cancellation", {"reason": "x"}).status)
        self.assertEqual(404, self.admin("GET", "/v1/nothing").status)
        self.assertEqual(405, self.admin("DELETE", "/v1/operations").status)

    def test_one_native_key_at_two_providers_is_ambiguous(self):
        self.opid.write_profiles(self.profiles(self.provider.authority) + [{**self.profiles(self.provider.authority)[0], "provider": "second", "hosts": ["api.second.test"]}])
        self.assertEqual(2, self.opid.reload().status // 100)
        for name in ("demo", "second"):
            self.opid.call("POST", f"/{name}/w", {"Idempotency-Key": "both"}, "x")
        self.assertEqual(409, self.admin("GET", "/v1/operations/both").status)
        self.assertEqual("second", self.opid.operation("both", provider="second")["provider"])

    def test_bad_bodies(self):
        self.lose("bad-1")
        for body in ({}, {"as": "failed"}, {"as": "failed", "reason": ""}, {"as": "x", "reason": "y"}, [],
                     "text", None):
            with self.subTest(body):
                self.assertEqual(400, self.admin("POST", "/v1/operations/bad-1/resolution", body).status)
        self.assertEqual("needs_review", self.opid.status("bad-1"))

    def test_openapi_and_console(self):
        r = self.admin("GET", "/openapi.json")
        self.assertEqual(200, r.status)
        self.assertIn("/v1/operations/{id}", r.json["paths"])


if __name__ == "__main__":
    unittest.main()
