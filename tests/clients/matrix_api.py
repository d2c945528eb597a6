"""The fake providers of the client matrix: one TLS server that answers for all of them under their real names.

Every write carries a marker (mk-…) in its text. The ledger counts effects by marker, so clients may run side by side:
    lost     in a marker: the first attempt commits, and the connection is dropped without an answer
    stream   the answer is an event stream whose second event waits until the test has seen the first
"""
import itertools
import json
import re
import urllib.parse

from provider import READS, Provider

MARKER = re.compile(r"mk-[A-Za-z0-9_.+-]+")
MCP = "mcp.example.com"
JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
STRIPE, RESEND, SQUARE, NOTION = "api.stripe.com", "api.resend.com", "connect.squareup.com", "api.notion.com"
OPENAI, ANTHROPIC, SENDGRID = "api.openai.com", "api.anthropic.com", "api.sendgrid.com"
LINEAR, SLACK, TWILIO, GITHUB = "api.linear.app", "slack.com", "api.twilio.com", "api.github.com"
KEYS = {STRIPE: "header:Idempotency-Key", RESEND: "header:Idempotency-Key", SQUARE: "body:/idempotency_key"}

# The answer to the write of this number: status, fields, body.
WRITES = {
    STRIPE: lambda n: (200, {}, {"id": f"ch_{n}", "object": "charge", "status": "succeeded", "amount": 2000}),
    GITHUB: lambda n: (201, {}, {"number": n, "title": "x"}),
    SLACK: lambda n: (200, {}, {"ok": True, "ts": f"{n}.0", "channel": "C1"}),
    OPENAI: lambda n: (200, {}, {"id": f"chat-{n}", "object": "chat.completion", "choices": []}),
    ANTHROPIC: lambda n: (200, {}, {"id": f"msg-{n}", "type": "message", "role": "assistant", "content": []}),
    TWILIO: lambda n: (201, {}, {"sid": f"SM{n}", "status": "queued"}),
    NOTION: lambda n: (200, {}, {"object": "page", "id": f"page-{n}"}),
    SQUARE: lambda n: (200, {}, {"payment": {"id": f"pay-{n}", "status": "COMPLETED"}}),
    RESEND: lambda n: (200, {}, {"id": f"mail-{n}"}),
    SENDGRID: lambda n: (202, {"X-Message-Id": f"sg-{n}"}, None),
    LINEAR: lambda n: (200, {}, {"data": {"issueCreate": {"success": True, "lastSyncId": n,
                                                          "issue": {"id": f"iss-{n}"}}}}),
    MCP: lambda n: (200, {}, {"content": [{"type": "text", "text": f"done-{n}"}]}),
}
READ_BODIES = {
    LINEAR: {"data": {"viewer": {"id": "read-1", "name": "Ada"}}},
    SLACK: {"ok": True, "user_id": "read-1", "user": "ada", "team": "T"},
    TWILIO: {"sid": "read-1", "status": "sent"},
    SQUARE: {"payment": {"id": "read-1"}},
    GITHUB: {"number": 7, "title": "read-1"},
}
READ = {"id": "read-1", "object": "thing", "type": "thing"}
READS_BY_POST = (re.compile(r"^/api/auth\.test$"),)     # Slack's

STREAMS = {
    OPENAI: ('data: {"id":"chat-0","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"one"}}]}\n\n',
             'data: {"id":"chat-0","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"two"}}]}\n\n'
             "data: [DONE]\n\n"),
    ANTHROPIC: ('event: message_start\ndata: {"type":"message_start","message":{"id":"one","content":[]}}\n\n',
                'event: message_stop\ndata: {"type":"message_stop"}\n\n'),
}
PLAIN_STREAM = ("data: one\n\n", "data: two\n\n")


class Apis(Provider):
    def __init__(self, authority):
        super().__init__(handler=self.serve_api, tls=authority.context(*WRITES))
        self.numbers = itertools.count(1)
        self.answers = {}           # by host and key
        self.lost = set()           # markers whose answer was lost once

    def effects_of(self, marker):
        with self.lock:
            return sum(m == marker for _, m in self.ledger)

    def attempts_of(self, marker):
        with self.lock:
            return [x for x in self.attempts if getattr(x, "marker", None) == marker]

    def serve_api(self, ex):
        text = urllib.parse.unquote_plus(ex.read_body().decode("utf-8", "replace"))
        host = ex.headers.get("Host", "").partition(":")[0]
        found = MARKER.search(text + " " + ex.target)
        marker = ex.marker = found.group(0) if found else ""
        if host == MCP:
            self.serve_mcp(ex, marker)
        elif self.is_read(ex, text):
            if "stream" in marker:
                self.stream(ex, marker, PLAIN_STREAM)
            else:
                ex.reply(200, JSON, json.dumps(READ_BODIES.get(host, READ)))
        elif "stream" in marker:
            self.commit(host, marker)
            self.stream(ex, marker, STREAMS.get(host, PLAIN_STREAM))
        else:
            self.write(ex, host, marker)

    @staticmethod
    def is_read(ex, text):
        graphql = ex.target == "/graphql" and "mutation" not in text
        return ex.method in READS or graphql or any(p.match(ex.target) for p in READS_BY_POST)

    def commit(self, host, marker):
        with self.lock:
            n = next(self.numbers)
            self.ledger.append((host, marker))
            return n

    def write(self, ex, host, marker):
        keys = ex.key(KEYS[host]) if host in KEYS else []
        with self.lock:
            known = self.answers.get((host, keys[0])) if keys else None
            if known is None:
                known = WRITES[host](self.commit(host, marker))
                if keys:
                    self.answers[host, keys[0]] = known
            if "lost" in marker and marker not in self.lost:
                self.lost.add(marker)
                ex.drop()
                return
        status, fields, body = known
        ex.reply(status, {**JSON, **fields}, "" if body is None else json.dumps(body))

    def stream(self, ex, marker, pieces):
        ex.send(b"HTTP/1.1 200 OK\r\n" + b"".join(f"{n}: {v}\r\n".encode() for n, v in EVENTS.items()) + b"\r\n")
        for n, piece in enumerate(pieces):
            if n:
                self.gate(marker).wait(30)
            ex.send(b"%x\r\n%s\r\n" % (len(piece), piece.encode()))
        ex.send(b"0\r\n\r\n")

    def serve_mcp(self, ex, marker):
        """A server of the Model Context Protocol: it answers with JSON, or with events where the tool is `stream`."""
        if ex.method != "POST":
            ex.reply(405, JSON, "{}")
            return
        call = json.loads(ex.body)
        result = {
            "initialize": {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "fake", "version": "1"}},
            "tools/list": {"tools": [{"name": "read-1", "inputSchema": {"type": "object"}}]},
        }.get(call["method"])
        if "id" not in call:
            ex.reply(202, JSON, "")
            return
        if result is None:
            n = self.commit(MCP, marker)
            result = WRITES[MCP](n)[2]
            if "lost" in marker:
                ex.drop()
                return
        answer = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result})
        if "stream" in marker:
            note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message",
                               "params": {"level": "info", "data": "one"}})
            self.stream(ex, marker, (f"data: {note}\n\n", f"data: {answer}\n\n"))
        else:
            ex.reply(200, JSON, answer)


def profiles(provider, ca_file):
    """A profile for every name, short ones but for Stripe's and GitHub's, which are the shipped ones."""
    import tls_case     # here: it reads policies/ only when somebody asks
    place = {"upstream_address": provider.authority, "tls": {"ca": f"file:{ca_file}"}}
    uuid = {"encoding": "uuid", "window": {"for": "24h"}}
    own = {
        SLACK: {"problems": "slack", "rules": [{"name": "who-am-i", "class": "read",
                                                "match": {"method": "POST", "path": "/api/auth.test"}}]},
        LINEAR: {"problems": "graphql", "rules": [{"name": "queries", "class": "read", "match": {
            "method": "POST", "path": "/graphql", "graphql": {"operation": "query"}}}]},
        MCP: {"problems": "jsonrpc", "identity": {"missing": "pass"},
              "rules": [{"name": m.replace("/", "-"), "class": "read", "match": {"method": "POST", "jsonrpc": {"method": m}}}
                        for m in ("initialize", "notifications/initialized", "tools/list")]},
        RESEND: {"key": {"carrier": KEYS[RESEND], **uuid}},
        SQUARE: {"key": {"carrier": KEYS[SQUARE], **uuid}},
    }
    made = [tls_case.shipped("stripe", **place), tls_case.shipped("github", **place)]
    for host in WRITES:
        if host not in (STRIPE, GITHUB):
            name = host.replace("api.", "").split(".")[0]
            made.append({"provider": name, "hosts": [host], "key": "none", **own.get(host, {}), **place})
    return made
