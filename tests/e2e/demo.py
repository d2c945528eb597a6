#!/usr/bin/env python3
"""The story of a lost reply, told on loopback: a ticket provider with a ledger, an agent, and opid between them.

Each scene counts the tickets at its end; a count that is not as told makes this script fail. Nothing leaves this
machine. OPID_BIN names the binary; by default it is the release build, else the dev build. Standard library only.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICKET = {"title": "The printer is on fire", "room": "2.14"}
START_SECONDS = 30
STYLE = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def styled(text, style):
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return f"\033[{STYLE[style]}m{text}\033[0m" if coloured else text


def say(who, text, style=None):
    print(f"  {styled(who.ljust(9), 'dim')} {styled(text, style) if style else text}", flush=True)


class Tickets(http.server.ThreadingHTTPServer):
    """The provider: POST /tickets makes a ticket. With `keys` it knows an Idempotency-Key it has seen, and answers
    as it did then. Its first answer is lost: by a dropped connection, or because `before_answer` kills the reader."""

    daemon_threads = True

    def __init__(self, keys):
        super().__init__(("127.0.0.1", 0), TicketHandler)
        self.keys = keys
        self.ledger = []
        self.requests = 0
        self.answers = {}
        self.lock = threading.Lock()
        self.before_answer = None
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self):
        return self.server_address

    def take(self, key, ticket):
        """(answer, whether the connection survives) of one request."""
        with self.lock:
            self.requests += 1
            if self.keys and key and key in self.answers:
                return self.answers[key], True
            number = f"T-{len(self.ledger) + 1}"
            self.ledger.append(f"{number} {ticket['title']}")
            answer = self.answers[key] = {"id": number, **ticket}
            first = len(self.ledger) == 1
        if first and self.before_answer:
            self.before_answer()
        return answer, not first


class TicketHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer, alive = self.server.take(self.headers.get("Idempotency-Key"), json.loads(body))
        if not alive:
            self.close_connection = True
            return
        data = json.dumps(answer).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Opid:
    """The real opid with the profile of `./dev demo`, pointed at the provider. kill and start keep its data."""

    def __init__(self, binary, provider):
        self.binary = binary
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="opid-demo-"))
        self.process = None
        (self.folder / "policies").mkdir()
        (self.folder / "policies/demo.yaml").write_text(profile(provider))
        self.config = self.folder / "opid.yaml"
        self.config.write_text("listen: {proxy: 127.0.0.1:0, admin: 127.0.0.1:0}\n"
                               f"data: {self.folder}/data\npolicies: [{self.folder}/policies]\n")

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([self.binary, "serve", "--config", str(self.config)], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        listening = {}
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["listening"]:
                host, _, port = words[-1].rpartition(":")
                listening[words[1]] = (host, int(port))
            if words == ["ready"]:
                break
        else:
            watchdog.cancel()
            raise Wrong(f"opid did not start (exit code {self.process.wait()}); the end of its log:\n{self.log_end()}")
        watchdog.cancel()
        self.address, self.admin = listening["proxy"], listening["admin"]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def log_end(self):
        return "\n".join((self.folder / "log").read_text(errors="replace").splitlines()[-15:])

    def kill(self):
        process = self.process
        process.send_signal(signal.SIGKILL)
        process.wait()

    def resolve(self, operation, ticket):
        """What `opid ops resolve` asks of the admin API."""
        token = (self.folder / "data/admin.token").read_text().strip()
        connection = http.client.HTTPConnection(*self.admin, timeout=START_SECONDS)
        with contextlib.closing(connection):
            connection.request("POST", f"/v1/operations/{operation}/resolution",
                               json.dumps({"as": "succeeded", "reason": "seen in the ledger", "provider_ref": ticket}),
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read().decode(errors="replace")
        if answer.status // 100 != 2:
            raise Wrong(f"the operator's word was refused: {answer.status} {body}")

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Wrong(Exception):
    """The story did not go as told."""


def profile(provider):
    """policies/demo.yaml with this provider's address, and with a key where this provider honours one."""
    text = (ROOT / "policies/demo.yaml").read_text()
    text = re.sub(r"(?m)^upstream:.*$", "upstream: http://{}:{}".format(*provider.address), text)
    if provider.keys:
        text = re.sub(r"(?m)^key:.*$", "key: {carrier: header:Idempotency-Key, window: {for: 24h}}", text)
    return text


class Scene:
    """The agent's side of a scene, and the count at its end."""

    def __init__(self, provider, opid=None):
        self.provider = provider
        self.opid = opid

    def post(self, operation=None):
        """One POST as the agent sends it, told in a line or three. The answer's status; None when none came."""
        headers = {"Content-Type": "application/json", **({"Operation-Id": operation} if operation else {})}
        id_shown = f"  Operation-Id: {operation}" if operation else ""
        say("agent", f"POST /tickets {json.dumps(TICKET['title'])}{id_shown}")
        address, path = (self.opid.address, "/demo/tickets") if self.opid else (self.provider.address, "/tickets")
        connection = http.client.HTTPConnection(*address, timeout=60)
        try:
            connection.request("POST", path, json.dumps(TICKET), headers)
            answer = connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, http.client.HTTPException):  # a body that ends early too
            say("agent", "the connection broke before an answer came: made, or not? Nobody told it", "yellow")
            return None
        finally:
            connection.close()
        self.tell(answer, body)
        return answer.status

    @staticmethod
    def tell(answer, body):
        slug = answer.headers.get("Opid-Problem")
        if slug:
            say("opid", f"{answer.status} {slug}", "yellow")
            for line in textwrap.wrap(body["detail"], 96):
                say("", line)
            return
        status = answer.headers.get("Operation-Status")
        facts = [f"{answer.status}, ticket {body.get('id') or body.get('provider_ref')}"]
        if status:
            facts.append(f"operation {status}")
        if answer.headers.get("Idempotent-Replayed") == "true":
            by = answer.headers.get("Operation-Recovered")
            facts.append("replayed from opid's record" + (f", on the {by}'s word" if by == "operator" else ""))
        say("opid" if status else "provider", "; ".join(facts), "green")

    def expect(self, what, seen, *wanted):
        if seen not in wanted:
            raise Wrong(f"{what}: {' or '.join(map(str, wanted))} was to be expected, and it is {seen}")

    def count(self, wanted):
        rows = self.provider.ledger
        tickets = "1 ticket" if len(rows) == 1 else f"{len(rows)} tickets"
        requests = "1 request" if self.provider.requests == 1 else f"{self.provider.requests} requests"
        say("ledger", f"{tickets} after {requests}: {', '.join(rows)}",
            "green" if len(rows) == 1 else "red")
        self.expect("tickets in the ledger", len(rows), wanted)


def without_opid(scene):
    scene.expect("the first answer", scene.post(), None)
    say("agent", "tries again, as agents do")
    scene.expect("the second answer", scene.post(), 201)
    scene.count(2)


def without_keys(scene):
    operation = "fire-in-2.14"
    scene.expect("the first answer", scene.post(operation), 423)
    say("agent", "tries again all the same")
    scene.expect("the second answer", scene.post(operation), 423)
    scene.count(1)
    say("operator", f"looks into the ledger, then: opid ops resolve {operation} --as succeeded --reason …")
    scene.opid.resolve(operation, "T-1")
    status = scene.post(operation)
    scene.expect("the answer after the operator's word", 200 <= (status or 0) < 300 or status == 410, True)
    scene.count(1)


def with_keys(scene):
    operation = "fire-in-2.14"
    scene.expect("the first answer", scene.post(operation), 201)
    say("agent", "tries again, to be sure")
    scene.expect("the second answer", scene.post(operation), 201)
    scene.count(1)


def with_a_crash(scene):
    operation, killed = "fire-in-2.14", threading.Event()

    def kill():
        say("provider", "made the ticket, and is about to answer")
        say("", "kill -9 hits opid", "red")
        scene.opid.kill()
        killed.set()

    scene.provider.before_answer = kill
    scene.expect("the first answer", scene.post(operation), None)
    killed.wait(START_SECONDS)
    scene.opid.start()
    say("opid", "started again, with the same data")
    scene.expect("the answer after the restart", scene.post(operation), 201)
    say("agent", "tries once more")
    scene.expect("the last answer", scene.post(operation), 201)
    scene.count(1)


SCENES = [
    ("Without opid: the provider makes the ticket and its answer is lost", False, False, without_opid),
    ("Through opid, the provider knows no keys: the doubt has a name, and nothing is sent twice", True, False,
     without_keys),
    ("Through opid, the provider honours idempotency keys: opid finds out by itself", True, True, with_keys),
    ("The same, and opid is killed between ticket and answer", True, True, with_a_crash),
]


def play(binary):
    for number, (title, guarded, keys, story) in enumerate(SCENES, 1):
        print(f"\n{styled(f'{number}. {title}', 'bold')}")
        with contextlib.ExitStack() as stack:
            provider = Tickets(keys)
            stack.callback(provider.server_close)
            stack.callback(provider.shutdown)
            opid = Opid(binary, provider) if guarded else None
            if opid:
                stack.callback(opid.close)
                opid.start()
            story(Scene(provider, opid))


def find_binary():
    named = os.environ.get("OPID_BIN")
    candidates = [named] if named else [ROOT / f"build/{preset}/proxy/opid" for preset in ("release", "dev")]
    for path in candidates:
        if os.access(path, os.X_OK):
            return str(pathlib.Path(path).resolve())
    where = f"at {named} (OPID_BIN)" if named else "in build/release or build/dev"
    sys.exit(f"demo: there is no opid {where}. `./dev demo` builds one and then comes here; `./dev build` builds one.")


def main():
    binary = find_binary()
    print("An agent files one ticket. Its provider makes the ticket, and the answer gets lost on the way back.")
    try:
        play(binary)
    except Wrong as wrong:
        sys.exit(f"\ndemo: not as told. {wrong}")
    print(f"\n{styled('As told: two tickets without opid, one through it.', 'bold')}")


if __name__ == "__main__":
    main()
