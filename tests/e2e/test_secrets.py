"""No credential ever reaches the log, the data folder, or the admin API."""
import base64
import gzip
import json
import os
import unittest

from case import PROFILED, REVERSE, WAYS, ProxyCase

CANARIES = {"Authorization": "Bearer canary-authorization-5510", "Cookie": "sid=canary-cookie-5511",
            "X-Api-Key": "canary-api-key-5512"}
TENANT = "canary-tenant-token-5513"
BASIC = base64.b64encode(f"agent:{TENANT}".encode()).decode()
QUERY = "canary-query-5514"
SET_COOKIE = "canary-set-cookie-5515"
PROVIDER = "canary-provider-credential-5516"
NEEDLES = [v.split()[-1].split("=")[-1] for v in CANARIES.values()] + [TENANT, BASIC, SET_COOKIE, PROVIDER, QUERY]


class Secrets(ProxyCase):
    config = {"tenants": [{"name": "agent", "tokens": ["env:AGENT_TOKEN"]}]}
    env = {"AGENT_TOKEN": TENANT, "PROVIDER_AUTH": f"Bearer {PROVIDER}"}
    profile = {"identity": {"missing": "pass"},
               "credentials": {"header": "Authorization", "value": "env:PROVIDER_AUTH"}}

    def traffic(self):
        def handler(ex):
            ex.read_body()
            if "fail" in ex.target:
                ex.drop()
            else:
                status = 500 if "error" in ex.target else 201
                ex.reply(status, [("Set-Cookie", f"s={SET_COOKIE}"), ("Content-Type", "application/json")],
                         '{"ok":1}')

        self.handle(handler)
        for n, (way, base) in enumerate(WAYS.items()):
            for path in ("/w", "/fail", "/error"):
                for auth in (f"Bearer {TENANT}", f"Basic {BASIC}"):
                    headers = {**CANARIES, "Proxy-Authorization": auth,
                               "Operation-Id": f"sec-{way}-{path[1:]}"}
                    self.opid.call("POST", base + path, headers, json.dumps({"a": n}), host=base[7:] or "a")
                    headers = {**headers, "Operation-Id": f"sec-{way}-{path[1:]}-query"}
                    self.opid.call("POST", f"{base}{path}?a=1&access_token={QUERY}", headers, "{}",
                                   host=base[7:] or "a")
                    self.opid.call("GET", f"{base}{path}?token={QUERY}", headers, host=base[7:] or "a")
        bad = {**CANARIES, "Proxy-Authorization": f"Bearer {TENANT}"}
        conn = self.connect()
        conn.send(f"GET {REVERSE}/x HTTP/1.1\r\nHost: a\r\n" + "".join(f"{n}: {v}\r\n" for n,
                                                                       v in bad.items()) + "Bad Name: 1\r\n\r\n")
        conn.response()
        self.opid.call("POST", PROFILED + "/w", {**bad, "Operation-Id": ""}, "x", host="api.demo.test")
        self.opid.call("CONNECT", "nowhere.invalid:443", bad)

    def assert_clean(self, where, data):
        for needle in NEEDLES:
            self.assertNotIn(needle.encode(), data, f"in {where}")

    def test_canaries(self):
        self.traffic()
        self.assertGreater(self.count(), self.seen, "no traffic reached the provider")
        listed = self.opid.admin("GET", "/v1/operations")
        self.assertEqual(200, listed.status)
        self.assert_clean("the list", listed.body)
        operations = listed.json["operations"]
        self.assertGreaterEqual(len(operations), 6)
        for op in operations:
            for what in ("", "/history"):
                r = self.opid.admin("GET", self.opid.operation_path(op["id"], what, tenant=op.get("tenant")))
                self.assertEqual(200, r.status)
                self.assert_clean(f"{op['id']}{what}", r.body)
        self.assert_clean("the metrics", self.opid.admin("GET", "/metrics").body)
        self.assert_clean("the log", self.opid.log.encode())
        self.assertNotIn(QUERY, self.opid.log)
        self.assert_clean("stdout", "\n".join(self.opid.stdout).encode())
        self.opid.terminate()
        self.assert_clean("the log", self.opid.log.encode())
        for folder, _, names in os.walk(self.opid.data):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    data = f.read()
                self.assert_clean(name, data)
                if data[:2] == b"\x1f\x8b":
                    self.assert_clean(name, gzip.decompress(data))
        self.opid.start()

    def test_the_admin_token_is_not_logged(self):
        token = self.opid.admin_token
        self.opid.admin("GET", "/v1/operations")
        self.opid.admin("GET", "/v1/operations", token=token[:-1])
        self.assertNotIn(token, self.opid.log)


if __name__ == "__main__":
    unittest.main()
