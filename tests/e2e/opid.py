"""Starts the real opid with a configuration made of dicts, and talks to its admin API.

The process prints one line for each listener and then `ready`, and only then accepts:

    listening proxy 127.0.0.1:PORT
    listening admin 127.0.0.1:PORT
    listening provider NAME 127.0.0.1:PORT
    ready

Other lines on stdout are allowed. The log goes to stderr and is shown when a test fails.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import yaml

import client
from client import Conn

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("OPID_BIN", os.path.join(ROOT, "build/dev/proxy/opid"))
START = float(os.environ.get("OPID_START_TIMEOUT", "30"))
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
HERE = os.path.dirname(os.path.abspath(__file__))


class StartFailed(AssertionError):
    """opid ended before `ready`. `code` and `log` say how."""

    def __init__(self, code, log):
        super().__init__(f"opid did not start, exit code {code}\n{log}")
        self.code, self.log = code, log


def demo_profile(upstream, **more):
    """The profile of most tests: provider demo, answered by the fake provider at `upstream` (its authority)."""
    return {"provider": "demo", "hosts": ["api.demo.test"], "upstream": f"http://{upstream}",
            "key": {"carrier": "none"}, **more}


def base_config(**more):
    config = {
        "listen": {"proxy": "127.0.0.1:0", "admin": "127.0.0.1:0"},
        "data": "./data",
        "policies": ["policies"],
        "egress": {"allow": ["127.0.0.0/8"]},
        "timeouts": {"upstream_response": "5s", "connect": "2s", "drain": "5s", "lease": "2s", "wait": "10s"},
    }
    return merge(config, more)


def merge(base, over):
    """Deep merge of dicts; anything else is replaced; None takes a member away."""
    out = dict(base)
    for key, value in over.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = value
    return out


class Opid:
    """One opid and its folder. `start` and `stop` may alternate: the data stay.

    config: dict (see base_config); profiles: list of dicts, or {file name: text}; env: extra variables
    """

    def __init__(self, config=None, profiles=(), env=None, binary=None, start=True, faults=False):
        self.binary = binary or BINARY
        self.folder = tempfile.mkdtemp(prefix="opid-e2e-")
        self.config = base_config() if config is None else config
        self.env = dict(env or {})
        self.process = None
        self.ports = {}
        self.offset_s = 0               # how far the process's wall clock is ahead
        self.log_path = os.path.join(self.folder, "log")
        self.faults = faults
        self.stdout = []
        os.mkdir(os.path.join(self.folder, "policies"))
        if faults:
            self._prepare_faults()
        self.write_config()
        self.write_profiles(profiles)
        if start:
            try:
                self.start()
            except StartFailed:
                shutil.rmtree(self.folder, ignore_errors=True)
                raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close(show=kind is not None)

    # -- files

    @property
    def data(self):
        return os.path.join(self.folder,
                            str(self.config["data"]) if isinstance(self.config, dict) else "data")

    @property
    def config_file(self):
        return os.path.join(self.folder, "opid.yaml")

    def write_config(self, config=None):
        if config is not None:
            self.config = config
        with open(self.config_file, "w") as f:
            f.write(self.config if isinstance(self.config, str) else yaml.safe_dump(self.config,
                                                                                    sort_keys=False))

    def write_profiles(self, profiles):
        """Replaces the profiles on disk. They count after a start or reload()."""
        folder = os.path.join(self.folder, "policies")
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        if not isinstance(profiles, dict):
            profiles = {f"{p['provider']}.yaml": p for p in profiles}
        for name, text in profiles.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(text if isinstance(text, str) else yaml.safe_dump(text, sort_keys=False))

    @property
    def log(self):
        try:
            with open(self.log_path, "rb") as f:
                return f.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    # -- the process

    def start(self, extra_env=None, options=()):
        env = {**os.environ, **self.env, **(extra_env or {})}
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"):
            env.pop(name, None)
        preload = []
        if self.faults:
            preload.append(self.fault_library)
            env.update(FAULT_CONTROL=self.fault_control, FAULT_DIR=os.path.realpath(self.data))
        if self.offset_s:
            preload.append(FAKETIME)
            env.update(FAKETIME=f"+{self.offset_s}s", DONT_FAKE_MONOTONIC="1",
                       FAKETIME_DONT_FAKE_MONOTONIC="1")
        if preload:
            env["LD_PRELOAD"] = ":".join(preload)
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen([self.binary, "serve", "--config", self.config_file, *options], cwd=self.folder,
                                        env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                        text=True)
        log.close()
        watchdog = threading.Timer(START, self.process.kill)
        watchdog.start()
        try:
            self._read_ready()
        finally:
            watchdog.cancel()
        threading.Thread(target=self._drain_stdout, args=(self.process.stdout,), daemon=True).start()
        return self

    def _read_ready(self):
        self.ports = {}
        for line in self.process.stdout:
            line = line.rstrip("\n")
            self.stdout.append(line)
            words = line.split()
            if words[:1] == ["listening"] and len(words) in (3, 4):
                self.ports[words[-2]] = int(words[-1].rpartition(":")[2])
            elif words == ["ready"]:
                return
        self.process.stdout.close()
        raise StartFailed(self.process.wait(), "\n".join(self.stdout) + "\n" + self.log)

    def _drain_stdout(self, stream):
        with stream:
            for line in stream:
                self.stdout.append(line.rstrip("\n"))

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def terminate(self, timeout=20):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def restart(self, advance_s=0, hard=False):
        if self.process.poll() is None:
            self.kill() if hard else self.terminate()
        self.offset_s += advance_s
        return self.start()

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def rss(self):
        """Resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status") as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def close(self, show=False):
        crashed = self.process is not None and self.process.poll() not in (None, 0, -signal.SIGKILL,
                                                                           -signal.SIGTERM)
        self.kill()
        if show or crashed:
            self.show_log()
        shutil.rmtree(self.folder, ignore_errors=True)
        if crashed and not show:
            raise AssertionError(f"opid ended by itself with code {self.process.returncode}")

    def show_log(self, lines=60):
        print("---- opid log (end)\n" + "\n".join(self.log.splitlines()[-lines:]) + "\n----", file=sys.stderr)

    # -- a store that breaks at will

    def _prepare_faults(self):
        self.fault_control = os.path.join(self.folder, "fault")
        with open(self.fault_control, "w") as f:
            f.write("o")
        self.fault_library = os.path.join(self.folder, "faultfs.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.fault_library,
                        os.path.join(HERE, "faultfs.c"), "-ldl"], check=True)

    def store(self, state):
        """up | down (EIO) | full (ENOSPC) | hangs. In place, so that the running process sees it."""
        with open(self.fault_control, "r+") as f:
            f.write({"up": "o", "down": "e", "full": "f", "hangs": "h"}[state])

    # -- policies

    def reload(self):
        """POST /v1/policies/reload; the response."""
        return self.admin("POST", "/v1/policies/reload")

    def hup(self):
        self.process.send_signal(signal.SIGHUP)

    # -- talking to it

    @property
    def proxy(self):
        return ("127.0.0.1", self.ports["proxy"])

    @property
    def admin_address(self):
        return ("127.0.0.1", self.ports["admin"])

    def connect(self, **more):
        return Conn(self.proxy, **more)

    def call(self, method, target, headers=(), body=None, **more):
        """One request to the proxy port on a connection of its own."""
        return client.once(self.proxy, method, target, headers, body, **more)

    def becomes_ready(self, seconds=10):
        """Asks /readyz until it says yes; False when it did not within the time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.admin("GET", "/readyz").status == 200:
                return True
        return False

    @property
    def admin_token(self):
        with open(os.path.join(self.data, "admin.token")) as f:
            return f.read().strip()

    def admin(self, method, path, body=None, token=None, headers=()):
        """One admin request; `token=""` sends none."""
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        token = self.admin_token if token is None else token
        if token:
            pairs.append(("Authorization", f"Bearer {token}"))
        if body is not None:
            pairs.append(("Content-Type", "application/json"))
            body = json.dumps(body)
        elif method == "POST":
            body = ""
        return client.once(self.admin_address, method, path, pairs, body,
                           host=f"127.0.0.1:{self.ports['admin']}")

    def operation_path(self, op, what="", **query):
        query = {k: v for k, v in query.items() if v}
        path = "/v1/operations/" + urllib.parse.quote(op, safe="") + what
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def operation(self, op, **query):
        """The operation as the admin API shows it (dict), or None where it knows none; a tombstone has `gone: true`."""
        r = self.admin("GET", self.operation_path(op, **query))
        if r.status == 404:
            return None
        if r.status == 410:
            return {**r.json, "gone": True}
        if r.status != 200:
            raise AssertionError(f"GET operation {op}: {r}")
        return r.json

    def status(self, op, **query):
        found = self.operation(op, **query)
        return found and found.get("status")

    def settled(self, op, timeout=20.0, **query):
        """Waits until the operation is no longer in progress; its status."""
        return client.until(lambda: (s := self.status(op, **query)) not in (None, "in_progress") and s,
                            f"{op} leaves in_progress", timeout)

    def operations(self, **query):
        """All operations, page by page (members `operations` and `cursor`)."""
        out, cursor = [], None
        while True:
            q = {**query, **({"cursor": cursor} if cursor else {})}
            r = self.admin("GET", "/v1/operations" + ("?" + urllib.parse.urlencode(q) if q else ""))
            if r.status != 200:
                raise AssertionError(f"list: {r}")
            page = r.json
            out += page["operations"]
            cursor = page.get("cursor")
            if not cursor:
                return out

    def resolve(self, op, as_, reason="checked by hand", **more):
        query = {k: more.pop(k) for k in ("tenant", "provider") if k in more}
        return self.admin("POST", self.operation_path(op, "/resolution", **query),
                          {"as": as_, "reason": reason, **more})
