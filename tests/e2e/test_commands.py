"""`opid env`, `ca`, `store` and `doctor`: the real binary beside real shells and clients."""
import base64
import hashlib
import json
import os
import shutil
import ssl
import stat
import subprocess
import unittest

from command_case import TIMEOUT, CommandCase
from opid import StartFailed, merge


class Environment(CommandCase):
    config = {"listen": {"proxy": "127.0.0.1:8099"}}

    def test_the_values(self):
        found = self.variables()
        ca = os.path.join(os.path.realpath(self.opid.data), "ca")
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
            self.assertEqual("http://127.0.0.1:8099", found[name])
        for name, file in (("NODE_EXTRA_CA_CERTS", "ca.pem"), ("SSL_CERT_FILE", "bundle.pem"),
                           ("WGETRC", "wgetrc")):
            self.assertEqual(os.path.join(ca, file), os.path.realpath(found[name]))
            self.assertTrue(os.path.isabs(found[name]))
        self.assertNotIn("ALL_PROXY", found)
        self.assertIn("truststore.p12", found["JAVA_TOOL_OPTIONS"])
        context = ssl.create_default_context(cafile=found["SSL_CERT_FILE"])
        self.assertGreater(len(context.get_ca_certs()), 1, "the system's roots and ours")
        ssl.create_default_context(cafile=found["NODE_EXTRA_CA_CERTS"])

    def test_a_shell_reads_the_same_values(self):
        self.opid.write_config(merge(self.opid.config, {"data": "./odd '\"da ta\" $HOME `id` *"}))
        self.env["JAVA_TOOL_OPTIONS"] = "-Dx='a b'"
        text = self.call("env").stdout
        read = subprocess.run(["sh", "-c", 'eval "$1"; env -0', "sh", text], env=self.env, capture_output=True,
                              check=True, timeout=TIMEOUT).stdout.decode()
        seen = dict(entry.split("=", 1) for entry in read.split("\0") if entry)
        for name, value in self.variables().items():
            self.assertEqual(value, seen.get(name), name)
        self.assertTrue(seen["JAVA_TOOL_OPTIONS"].startswith("-Dx='a b' -Dhttp.proxyHost="))
        twice = {**self.env, **{name: seen[name] for name in self.variables()}}
        self.assertEqual(seen["JAVA_TOOL_OPTIONS"], self.variables(env=twice)["JAVA_TOOL_OPTIONS"])

    def test_other_formats(self):
        self.assertIn("\nHTTP_PROXY=http://127.0.0.1:8099\n", self.call("env", "--format", "dotenv").stdout)
        self.assertIn("set -gx HTTP_PROXY 'http://127.0.0.1:8099'\n", self.call("env", "--format", "fish").stdout)
        self.assertIn("$env:HTTP_PROXY = 'http://127.0.0.1:8099'\n", self.call("env", "--format", "powershell").stdout)
        docker = self.call("env", "--format", "docker")
        self.assertIn("\nHTTP_PROXY=http://127.0.0.1:8099\n", docker.stdout)
        self.assertIn("never ca.key", docker.stderr)
        self.call("env", "--format", "cmd", code=2)

    def test_what_no_format_can_carry(self):
        self.opid.write_config(merge(self.opid.config, {"data": "./da\nta"}))
        done = self.call("env", code=1)
        self.assertEqual("", done.stdout)
        self.assertIn("line end", done.stderr)

    def test_wget_keeps_the_users_own_settings(self):
        own = os.path.join(self.opid.folder, ".wgetrc")
        with open(own, "w") as f:
            f.write("timeout = 7")
        found = self.variables()
        with open(found["WGETRC"]) as f:
            text = f.read()
        self.assertIn("\ntimeout = 7\n", text)
        self.assertTrue(text.endswith(f"\nca_certificate = {found['SSL_CERT_FILE']}\n"))
        self.assertEqual(0o600, stat.S_IMODE(os.stat(found["WGETRC"]).st_mode))
        other = os.path.join(self.opid.folder, "other")
        with open(other, "w") as f:
            f.write("tries = 1\n")
        self.variables(env={"WGETRC": other})
        self.variables(env={"WGETRC": found["WGETRC"]})  # as in a shell that has these variables already
        with open(found["WGETRC"]) as f:
            text = f.read()
        self.assertIn("\ntries = 1\n", text)
        self.assertNotIn("timeout", text)

    def test_roots_of_the_callers_own_go_into_the_bundle(self):
        corporate = os.path.join(self.opid.folder, "corporate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", os.devnull, "-out", corporate, "-subj", "/CN=Corporate", "-days", "2"], check=True,
                       capture_output=True)
        found = self.variables(env={"SSL_CERT_FILE": corporate})
        subjects = str(ssl.create_default_context(cafile=found["SSL_CERT_FILE"]).get_ca_certs())
        self.assertIn("Corporate", subjects)
        self.assertIn("opid CA", subjects)

    def test_a_port_that_nobody_has_yet(self):
        self.opid.write_config(merge(self.opid.config, {"listen": {"proxy": "127.0.0.1:0"}}))
        self.assertIn("start it first", self.call("env", code=4).stderr)
        self.start()
        self.assertEqual(f"http://127.0.0.1:{self.opid.ports['proxy']}", self.variables()["HTTP_PROXY"])

    def test_a_bad_configuration(self):
        self.opid.write_config("listen: {proxi: 127.0.0.1:1}\n")
        self.assertIn("proxi", self.call("env", code=1).stderr)


class TenantEnvironment(CommandCase):
    config = {"listen": {"proxy": "127.0.0.1:8099"}, "tenants": [{"name": "agent", "tokens": ["env:AGENT_TOKEN"]}]}
    token = "s3cret:/@ token"

    def test_credentials_of_a_tenant(self):
        encoded = "http://agent:s3cret%3A%2F%40%20token@127.0.0.1:8099"
        done = self.call("env", "--tenant", "agent", env={"OPID_TENANT_TOKEN": self.token})
        self.assertIn(f"export HTTPS_PROXY='{encoded}'\n", done.stdout)
        self.assertIn("Java", done.stderr)
        self.assertNotIn("s3cret", done.stderr)
        path = os.path.join(self.opid.folder, "token")
        with open(path, "w") as f:
            f.write(self.token + "\n")
        self.assertEqual(encoded, self.variables("--tenant", "agent", "--tenant-token", "file:" + path)["HTTP_PROXY"])
        found = self.variables("--tenant", "agent", "--tenant-token", "env:MINE", env={"MINE": self.token})
        self.assertEqual(encoded, found["HTTP_PROXY"])

    def test_without_a_tenant_nothing_secret_is_told(self):
        done = self.call("env", env={"OPID_TENANT_TOKEN": self.token, "AGENT_TOKEN": self.token})
        self.assertNotIn("s3cret", done.stdout + done.stderr)
        self.assertIn("--tenant", done.stderr)

    def test_mistakes(self):
        for words in (["--tenant", "agent"], ["--tenant", "stranger"], ["--tenant-token", "env:HOME"],
                      ["--tenant", "agent", "--tenant-token", "s3cret"],
                      ["--tenant", "agent", "--tenant-token", "file:/no/such"]):
            done = self.call("env", *words, code=2)
            self.assertNotIn("s3cret", done.stdout + done.stderr)


class Authority(CommandCase):
    def fingerprint(self, pem):
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
        return ":".join(digest[i:i + 2] for i in range(0, 64, 2))

    def test_show_and_export_before_the_first_start(self):
        shown = json.loads(self.call("ca show", "--json").stdout)
        pem = self.call("ca export").stdout
        self.assertEqual(shown["fingerprint"], self.fingerprint(pem))
        self.assertEqual(os.path.realpath(os.path.join(self.opid.data, "ca/ca.pem")), os.path.realpath(shown["ca"]))
        with open(shown["ca"]) as f:
            self.assertEqual(f.read(), pem)
        self.assertIn(shown["fingerprint"], self.call("ca show").stdout)
        self.assertIn(shown["not_after"], self.call("ca show").stdout)
        self.start()
        self.assertEqual(shown["fingerprint"], self.opid.admin("GET", "/v1/ca").json["fingerprint"])

    def test_export(self):
        pem = self.call("ca export").stdout.strip()
        bundle = self.call("ca export", "--bundle").stdout
        self.assertIn(pem, bundle)
        self.assertGreater(bundle.count("BEGIN CERTIFICATE"), 1)
        out = os.path.join(self.opid.folder, "trust.p12")
        self.call("ca export", "--java", "--out", out)
        listed = subprocess.run(["openssl", "pkcs12", "-in", out, "-passin", "pass:changeit", "-nokeys"],
                                capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout
        body = "".join(pem.split("\n")[1:-1])
        self.assertIn(body, listed.replace("\n", ""))
        self.assertTrue(base64.b64decode(body))
        self.call("ca export", "--out", "/no/such/folder/ca.pem", code=1)

    def test_rotate_without_a_running_opid(self):
        before = json.loads(self.call("ca show", "--json").stdout)
        rotated = json.loads(self.call("ca rotate", "--json").stdout)
        after = json.loads(self.call("ca show", "--json").stdout)
        self.assertNotEqual(before["fingerprint"], after["fingerprint"])
        self.assertEqual(rotated["fingerprint"], after["fingerprint"])
        self.assertIn(self.call("ca export").stdout.strip(), self.call("ca export", "--bundle").stdout)

    def test_rotate_a_running_opid(self):
        self.start()
        before = self.opid.admin("GET", "/v1/ca").json["fingerprint"]
        rotated = json.loads(self.call("ca rotate", "--json").stdout)
        self.assertNotEqual(before, rotated["fingerprint"])
        self.assertEqual(rotated["fingerprint"], self.opid.admin("GET", "/v1/ca").json["fingerprint"])
        self.assertEqual(rotated["fingerprint"], json.loads(self.call("ca show", "--json").stdout)["fingerprint"])
        self.assertIn(self.call("ca export").stdout.strip(), self.call("ca export", "--bundle").stdout)
        self.call("ca rotate", "--token", "wrong", code=1)


class Store(CommandCase):
    def test_no_store_is_no_backup(self):
        done = self.call("store backup", os.path.join(self.opid.folder, "b"), code=1)
        self.assertIn("there is no store", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.opid.data, "db")))

    def test_a_restored_store_is_accepted_once(self):
        self.start()
        self.opid.terminate()
        self.call("store verify")
        folder = os.path.join(self.opid.folder, "b")
        self.call("store backup", folder)
        told = self.call("store restore", folder, "--force").stdout
        self.assertIn("opid serve --accept-restore", told)
        with self.assertRaises(StartFailed) as refused:
            self.opid.start()
        self.assertIn("opid serve --accept-restore", str(refused.exception))
        self.opid.start(options=["--accept-restore"])
        self.opid.terminate()
        self.opid.start()
        self.assertEqual(200, self.opid.admin("GET", "/readyz", token="").status)

    def test_a_backup_of_a_running_opid_is_told_in_words(self):
        self.start()
        told = self.call("store backup", os.path.join(self.opid.folder, "b")).stdout
        self.assertRegex(told, r"^backup \d+ holds everything up to sequence \d+")
        refused = self.call("store backup", "/proc/nowhere", code=1)
        self.assertRegex(refused.stderr, r"^opid: [A-Z][^{]+\(\d+\)\. ")

    def test_a_resolution_that_does_not_exist_is_wrong_usage(self):
        self.call("ops resolve", "op-1", "--as", "bogus", "--reason", "r", code=2)


class Doctor(CommandCase):
    profiles = ({"provider": "demo", "hosts": ["api.demo.test"]},)

    def test_the_stacks_of_this_machine(self):
        done = self.call("doctor", "--json")
        told = json.loads(done.stdout)
        self.assertTrue(told["ok"], told)
        by_stack = {finding["stack"]: finding for finding in told["stacks"]}
        self.assertTrue(by_stack["curl"]["seen"])
        for finding in told["stacks"]:
            self.assertTrue(finding["seen"] or finding["expected"], finding)
        self.assertTrue(all(check["ok"] for check in told["checks"]), told["checks"])
        self.assertFalse(self.answers(), "a proxy of its own is stopped")

    def only_curl(self):
        """The other stacks take their time, and one will do."""
        folder = os.path.join(self.opid.folder, "bin")
        os.mkdir(folder)
        os.symlink(shutil.which("curl"), os.path.join(folder, "curl"))
        self.env["PATH"] = folder

    def test_with_a_running_proxy_as_text(self):
        self.only_curl()
        self.start()
        text = self.call("doctor").stdout
        self.assertRegex(text, r"(?m)^curl +seen")
        self.assertIn(f"http://127.0.0.1:{self.opid.ports['proxy']}/PROVIDER", text)
        self.assertTrue(self.opid.alive())

    def test_with_tenants(self):
        self.only_curl()
        self.opid.write_config(merge(self.opid.config, {"tenants": [{"name": "agent", "tokens": ["env:AGENT"]}]}))
        self.env.update(AGENT="s3cret:/@token")
        told = json.loads(self.call("doctor", "--json", code=1).stdout)
        self.assertIn("tenant", {f["stack"]: f for f in told["stacks"]}["curl"]["result"])
        done = self.call("doctor", "--json", "--tenant", "agent", "--tenant-token", "env:AGENT")
        self.assertTrue({f["stack"]: f for f in json.loads(done.stdout)["stacks"]}["curl"]["seen"], done.stdout)
        self.assertNotIn("s3cret", done.stdout + done.stderr + self.run_log)

    def test_no_stack_at_all_proves_nothing(self):
        self.env["PATH"] = os.path.join(self.opid.folder, "nothing")
        self.assertIn("no HTTP stack", self.call("doctor", code=1).stdout)

    def test_no_profiles_is_a_finding(self):
        self.only_curl()
        self.opid.write_profiles([])
        self.assertIn("no write is guarded", self.call("doctor", code=1).stdout)


if __name__ == "__main__":
    unittest.main()
