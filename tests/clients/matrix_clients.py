"""The clients of the matrix: how each is started, to whom it writes, and what speaks the line protocol for it."""
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import matrix_api as api

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVERS = os.path.join(HERE, "drivers")
PATIENCE_S = 60
KEYED, UNKEYED = f"https://{api.RESEND}/emails", f"https://{api.NOTION}/v1/pages"
BLIND_HOST = "blind.example.net"


class NotInstalled(Exception):
    pass


class Driver:
    """A client program that takes commands line by line (see drivers/lines.mjs)."""

    def __init__(self, command, env):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env=env, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        first = self.reply()
        if first[0] != "ready":
            if "ModuleNotFoundError" in first[-1] or "ERR_MODULE_NOT_FOUND" in first[-1]:
                raise NotInstalled(first[-1].splitlines()[-1])
            raise AssertionError(f"{command}: {first}")
        self.version, self.led = first[1:3]

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n").split("\t"))
        self.lines.put(None)

    def reply(self):
        try:
            words = self.lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            self.process.kill()
            raise AssertionError(f"no reply within {PATIENCE_S} s") from None
        if words is None:
            self.errors.seek(0)
            return ["ended", str(self.process.wait()), self.errors.read()]
        return words

    def send(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()

    def ask(self, *words):
        self.send(*words)
        return self.reply()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


class CommandLine:
    """curl and wget, which are a process for each request."""

    def __init__(self, env):
        self.env, self.process = env, None
        self.version = subprocess.run([self.tool, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        self.version = re.search(r"\d+[\d.]+", self.version).group(0)

    def ask(self, verb, url, operation=None, text=None):
        if verb == "blind":
            return self.blind(url)
        done = subprocess.run(self.command(url, operation, text), env=self.env, capture_output=True, text=True,
                              timeout=PATIENCE_S)
        status = re.findall(r"HTTP/[\d.]+ (\d+)", done.stderr)
        if not status:
            return ["error", f"exit {done.returncode}", done.stderr.strip()]
        replayed = "true" if re.search("(?i)idempotent-replayed: true", done.stderr) else "-"
        return ["answer", status[-1], replayed, " ".join(done.stdout.split())]

    def send(self, _, url, *rest):
        self.process = subprocess.Popen(self.command(url), env=self.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def reply(self):
        for line in self.process.stdout:
            if line.startswith("data: "):
                return ["event", line[6:].strip()]
        self.process.stdout.close()
        self.process.wait()
        return ["end"]

    def close(self):
        pass


class Curl(CommandLine):
    tool, led = "curl", "environment"

    def command(self, url, operation=None, text=None):
        command = ["curl", "-sSN", "-D", "/dev/stderr", url]
        if operation:
            command += ["-H", f"Operation-Id: {operation}", "-H", "Content-Type: application/json",
                        "-d", json.dumps({"text": text})]
        return command

    def blind(self, url):
        done = subprocess.run(["curl", "-sv", url], env=self.env, capture_output=True, text=True, timeout=PATIENCE_S)
        issuer = re.search(r"issuer: .*CN=(.*)", done.stderr)
        return ["blind", issuer.group(1).strip() if issuer else "-", protocol_of(done.stdout, done.stderr)]


class Wget(CommandLine):
    tool = "wget"

    def __init__(self, env):
        super().__init__(env)
        self.led = "environment (WGETRC)" if "WGETRC" in env else "--ca-certificate"

    def command(self, url, operation=None, text=None):
        command = ["wget", "-nv", "-S", "-O", "-", "--content-on-error", url]
        if "WGETRC" not in self.env:
            command.append(f"--ca-certificate={self.env['SSL_CERT_FILE']}")
        if operation:
            command += [f"--header=Operation-Id: {operation}", "--header=Content-Type: application/json",
                        "--post-data=" + json.dumps({"text": text})]
        return command

    def blind(self, url):
        done = subprocess.run(self.command(url), env=self.env, capture_output=True, text=True, timeout=PATIENCE_S)
        return ["blind", "-", protocol_of(done.stdout, done.stderr)]


def protocol_of(body, trouble):
    try:
        seen = json.loads(body)
    except ValueError:
        return f"no answer: {trouble[-300:]}"
    return f"through {seen['via']}" if seen["via"] else seen["protocol"]


def need(tool):
    path = shutil.which(tool)
    if not path:
        raise NotInstalled(f"no {tool}")
    return path


def python(which):
    return lambda env, work: Driver([sys.executable, os.path.join(DRIVERS, "stacks.py"), which], env)


def node(script, which):
    def start(env, work):
        if not os.path.isdir(os.path.join(HERE, "node_modules")):
            raise NotInstalled("no node_modules; ./dev setup test")
        return Driver([need("node"), os.path.join(DRIVERS, script), which], env)
    return start


def tool(kind):
    return lambda env, work: need(kind.tool) and kind(env)


def quiet_build(command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr}")


def go(env, work):
    need("go")
    plain = {**os.environ, "GO111MODULE": "off", "GOCACHE": os.path.join(work.cache, "go"), "GOFLAGS": ""}
    program = os.path.join(work.folder, "go-client")
    quiet_build(["go", "build", "-o", program, os.path.join(DRIVERS, "client.go")], plain)
    return Driver([program], env)


def java(which):
    def start(env, work):
        need("javac")
        with work.lock:
            if not os.path.exists(os.path.join(work.folder, "Client.class")):
                quiet_build(["javac", "-d", work.folder, os.path.join(DRIVERS, "Client.java")], os.environ)
        return Driver(["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", work.folder, "Client", which], env)
    return start


def ruby(env, work):
    return Driver([need("ruby"), os.path.join(DRIVERS, "client.rb")], env)


class Client:
    """`kind`: stack (it shows status and fields), sdk (it raises errors), or blind (nothing but the blind tunnel).
    `keyed`: its provider honours keys (of a stack both kinds are asked). `events`, `protocol`: what it can do."""

    def __init__(self, name, start, kind="stack", keyed=False, events=True, protocol="1.1"):
        self.name, self.start, self.kind, self.keyed = name, start, kind, keyed
        self.events, self.protocol = events, protocol


def sdk(name, keyed=False, events=False):
    return Client(name, node("sdk.mjs", name), "sdk", keyed, events)


CLIENTS = [
    Client("java-http", java("http"), protocol="2.0"),
    Client("java-url", java("url")),
    Client("go", go, protocol="2.0"),
    sdk("square", keyed=True), sdk("stripe", keyed=True), sdk("octokit"), sdk("octokit-retry"), sdk("slack"),
    sdk("openai", events=True), sdk("anthropic", events=True), sdk("twilio"), sdk("notion"), sdk("resend", keyed=True),
    sdk("sendgrid"), sdk("linear"), sdk("mcp", events=True),
    Client("curl", tool(Curl), protocol="2.0"),
    Client("wget", tool(Wget)),
    Client("urllib", python("urllib")),
    Client("requests", python("requests")),
    Client("httpx", python("httpx")),
    Client("aiohttp", python("aiohttp")),
    Client("stripe-python", python("stripe"), "sdk", keyed=True, events=False),
    Client("node-https", node("stacks.mjs", "https")),
    Client("builtin-fetch", node("stacks.mjs", "fetch")),
    Client("axios", node("stacks.mjs", "axios")),
    Client("undici", node("stacks.mjs", "undici")),
    Client("node-http2", node("stacks.mjs", "http2"), "blind", events=False, protocol="2.0"),
]
