#!/usr/bin/python3
"""Real clients through HTTPS_PROXY and opid's TLS interception: matrix.py [--write-matrix] [PART OF A CLIENT'S NAME].

Each writes once, again, with another payload, and to a provider that commits and then drops the connection; the fake
provider's ledger is the truth. OPID_BIN names the binary, MATRIX_JOBS how many clients run side by side (3). The last
line is "N passed, N failed". --write-matrix writes MATRIX.md beside this file.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
sys.dont_write_bytecode = True

import matrix_api as api                                                                     # noqa: E402
from matrix_clients import (BLIND_HOST, CLIENTS, DRIVERS, KEYED, UNKEYED, Driver, NotInstalled, need)   # noqa: E402
from matrix_page import write_page                                                           # noqa: E402
from opid import BINARY, ROOT, Opid, base_config, merge                                        # noqa: E402
from tls_certs import Authority                                                              # noqa: E402

ORIGIN_CA = "a CA of the blind origin"


class Work:
    """What the clients share: opid, the fake providers, the blind origin, the environment."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="opid-matrix-")
        self.cache = os.path.join(ROOT, "build", "clients")
        os.makedirs(self.cache, exist_ok=True)
        self.lock = threading.Lock()
        self.ca, self.origin_ca = Authority(), Authority(ORIGIN_CA)
        self.provider = api.Apis(self.ca)
        self.origin = self.blind_origin()
        names = {f"{BLIND_HOST}:443": f"127.0.0.1:{self.origin.version}"} if self.origin else {}
        # The system's roots of this test: the bundle that opid makes is these and its own CA.
        self.roots = {"SSL_CERT_FILE": self.origin_ca.ca_file}
        self.opid = Opid(base_config(egress={"resolve": names}), api.profiles(self.provider, self.ca.ca_file),
                         env=self.roots)
        self.env = self.environment()

    def blind_origin(self):
        try:
            certificate, key = self.origin_ca.leaf(BLIND_HOST)
            return Origin([need("node"), os.path.join(DRIVERS, "h2_origin.mjs"), certificate, key],
                          dict(os.environ))
        except NotInstalled:
            return None

    def environment(self):
        """What a user's shell would have: what `opid env` prints, or the same by hand."""
        env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and k not in ("JAVA_TOOL_OPTIONS",)}
        ports = {name: f"127.0.0.1:{self.opid.ports[name]}" for name in ("proxy", "admin")}
        config = os.path.join(self.opid.folder, "running.yaml")     # the configuration, and the ports that it got
        with open(config, "w") as f:
            json.dump(merge(self.opid.config, {"listen": ports}), f)
        done = subprocess.run([BINARY, "env", "--config", config, "--format", "dotenv"],
                              capture_output=True, text=True, env={**env, **self.roots}, cwd=self.opid.folder)
        self.printed = done.returncode == 0
        env.update(dotenv(done.stdout) if self.printed else by_hand(self.opid))
        # A private origin's CA is none of the public roots that these clients bring along.
        extra = os.path.join(self.folder, "extra.pem")
        with open(extra, "wb") as out:
            for path in (env["NODE_EXTRA_CA_CERTS"], self.origin_ca.ca_file):
                with open(path, "rb") as f:
                    out.write(f.read())
        env["NODE_EXTRA_CA_CERTS"] = extra
        return env

    def close(self):
        self.provider.close()
        if self.origin:
            self.origin.close()
        self.opid.close()
        subprocess.run(["rm", "-rf", self.folder])


class Origin(Driver):
    """The blind origin; its `version` is its port."""

    def reply(self):
        return ["ready", super().reply()[0], ""]


def dotenv(text):
    words = shlex.split("\n".join(line.removeprefix("export ") for line in text.splitlines()), comments=True)
    return dict(word.partition("=")[::2] for word in words)


def by_hand(opid):
    proxy, ca = f"http://127.0.0.1:{opid.ports['proxy']}", os.path.join(opid.data, "ca")
    bundle, local = os.path.join(ca, "bundle.pem"), "localhost,127.0.0.1,::1"
    env = {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    env.update({name: bundle for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "TWILIO_CA_BUNDLE")})
    env.update(NO_PROXY=local, no_proxy=local, NODE_USE_ENV_PROXY="1", NODE_EXTRA_CA_CERTS=os.path.join(ca, "ca.pem"))
    port = opid.ports["proxy"]
    env["JAVA_TOOL_OPTIONS"] = (
        f"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={port} "
        f"-Djavax.net.ssl.trustStore={ca}/truststore.p12 -Djavax.net.ssl.trustStorePassword=changeit")
    return env


class Run:
    """One client's way through the matrix. Each step returns what the page says of it, or raises AssertionError."""

    def __init__(self, work, client):
        self.work, self.client, self.provider = work, client, work.provider
        self.driver = client.start(work.env, work)

    def marker(self, what):
        return f"mk-{self.client.name}-{what}"

    def write(self, operation, what, url=None):
        return self.driver.ask("write", url or KEYED, f"{self.client.name}-{operation}", self.marker(what))

    def expect_success(self, words):
        good = words[0] == "answer" and words[1] in ("-", "200", "201", "202")
        assert good, f"expected success, got {words}"
        return words

    def expect_problem(self, words, slug, status):
        """An answer with that problem, or an error raised; the page says what of it the caller sees."""
        if self.client.kind == "stack":
            assert words[:2] == ["answer", status] and slug in words[3], f"expected {status} {slug}, got {words}"
            return f"{status}, `{slug}`"
        assert words[0] == "error", f"handed over as success: {words}"
        advice = re.compile(slug + "|operation ID")
        seen = next((text for text, found in (
            ("advice in its message", advice.search(words[2])), ("advice in its members", advice.search(words[-1])),
            ("the status alone", status in words[2] + words[-1])) if found), None)
        assert seen, f"neither {slug} nor {status} reaches the caller: {words}"
        return f"{words[1]}, {seen}"

    def effects(self, what, n):
        found = self.provider.effects_of(self.marker(what))
        assert found == n, f"{found} effects, expected {n}"

    def success(self):
        self.first = self.expect_success(self.write("once", "once"))
        assert self.first[2] != "true", "the first answer is marked as a replay"
        self.effects("once", 1)
        for x in self.provider.attempts_of(self.marker("once")):
            assert not [n for n in x.headers.names() if n.lower().startswith("operation-")], x.headers
            assert "Via" in x.headers, "it did not come through opid"
        return "ok"

    def replay(self):
        again = self.expect_success(self.write("once", "once"))
        assert again[3] == self.first[3], f"{again} is not {self.first}"
        shows = again[2] == "true"
        assert shows or self.client.kind == "sdk", f"not marked as a replay: {again}"
        self.effects("once", 1)
        return "ok, marked" if shows else "ok"

    def mismatch(self):
        seen = self.expect_problem(self.write("once", "other"), "payload-mismatch", "422")
        self.effects("other", 0)
        return seen

    def lost_with_key(self, url=KEYED):
        first = self.expect_success(self.write("lost-key", "lost-key", url))
        self.effects("lost-key", 1)
        again = self.expect_success(self.write("lost-key", "lost-key", url))
        assert again[3] == first[3]
        self.effects("lost-key", 1)
        return "success, 1 effect"

    def lost_without_key(self, url=UNKEYED):
        for _ in range(2):
            seen = self.expect_problem(self.write("lost", "lost", url), "needs-review", "423")
            self.effects("lost", 1)
        assert len(self.provider.attempts_of(self.marker("lost"))) == 1
        return f"1 effect; {seen}"

    def read(self):
        words = self.expect_success(self.driver.ask("read", KEYED + "/read-1"))
        assert "read-1" in words[3], words
        return "ok"

    def events(self):
        marker = self.marker("stream")
        url = f"https://{api.OPENAI}/v1/events/{marker}"
        self.driver.send("events", url, f"{self.client.name}-stream", marker)
        first = self.driver.reply()
        assert first == ["event", "one"], first     # the second is made only now
        self.provider.open_gate(marker)
        rest = [self.driver.reply()]
        while rest[-1][0] == "event":
            rest.append(self.driver.reply())
        assert rest == [["event", "two"], ["end"]], rest
        if self.client.kind == "sdk":
            self.effects("stream", 1)
        return "one by one"

    def blind(self):
        if not self.work.origin:
            raise NotInstalled("no node for the origin")
        words = self.driver.ask("blind", f"https://{BLIND_HOST}/x")
        assert words[0] == "blind" and words[2] == self.client.protocol, words
        assert words[1] in ("-", ORIGIN_CA), f"the certificate is by {words[1]}"
        return f"HTTP/{words[2].removesuffix('.0')}" + ("" if words[1] == "-" else ", the origin's certificate")

    def steps(self):
        if self.client.kind == "blind":
            return [self.blind]
        steps = [self.success, self.replay, self.mismatch]
        if self.client.kind == "stack" or self.client.keyed:
            steps.append(self.lost_with_key)
        if self.client.kind == "stack" or not self.client.keyed:
            steps.append(self.lost_without_key)
        steps.append(self.read)
        if self.client.events:
            steps.append(self.events)
        if self.client.kind == "stack":
            steps.append(self.blind)
        return steps


def run_client(work, client):
    """The row of one client: {step: text}, with `failed` and `skipped`."""
    row = {"client": client.name, "failed": {}, "skipped": None}
    try:
        run = Run(work, client)
    except NotInstalled as e:
        return {**row, "skipped": str(e)}
    except Exception:
        return {**row, "failed": {"start": traceback.format_exc()}}
    row.update(version=run.driver.version, led=run.driver.led)
    for step in run.steps():
        try:
            row[step.__name__] = step()
        except Exception as e:
            row["failed"][step.__name__] = f"{type(e).__name__}: {e}"
            row[step.__name__] = "FAILED"
            if getattr(run.driver, "process", None) and run.driver.process.poll() is not None:
                break
    run.driver.close()
    return row


def main(arguments):
    pattern = next((a for a in arguments if not a.startswith("-")), "")
    clients = [c for c in CLIENTS if pattern in c.name]
    if not clients:
        sys.exit(f"no client's name contains '{pattern}'")
    work, rows = Work(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("MATRIX_JOBS", "3"))) as pool:
            for row in pool.map(lambda c: run_client(work, c), clients):
                rows.append(row)
                steps = [k for k in row if k not in ("client", "version", "led", "failed", "skipped")]
                print(f"{row['client']}: " + (f"skipped, {row['skipped']}" if row["skipped"] else
                                              f"{len(steps) - len(row['failed'])} passed, {len(row['failed'])} failed"),
                      flush=True)
                for step, text in row["failed"].items():
                    print(f"    {step}: {text}", flush=True)
        faults = [f"malformed at the provider: {text}" for text in work.provider.faults]
        failed = sum(len(row["failed"]) for row in rows) + len(faults)
        print("\n".join(faults), end="\n" if faults else "")
        if failed:
            work.opid.show_log(40)
        if "--write-matrix" in arguments and not failed and not pattern:
            write_page(os.path.join(HERE, "MATRIX.md"), rows, work.printed)
    finally:
        work.close()
    passed = sum(len(row) - 5 for row in rows if not row["skipped"] and "version" in row) - failed
    print(f"{passed} passed, {failed} failed, {sum(bool(r['skipped']) for r in rows)} clients skipped")
    return 1 if failed or passed <= 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
