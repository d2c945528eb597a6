"""The fake provider: a scripted HTTP/1.1 server that keeps a ledger.

Every write that it received in full is one *attempt*; every committed write is one *effect*. Reads (GET, HEAD,
OPTIONS) are recorded apart in `lookups`. What it does with an attempt is either scripted (see STEP below), answered
from its key memory (`mode="keyed"`), or up to a `handler(exchange)`.

STEP: a dict, all members optional
  read       all (default) | half (of the announced body) | none
  commit     effects to write to the ledger (default 0)
  wait_ms, linger_ms   pause before / after the commit
  gate_before, gate    wait for provider.open(NAME) before the commit / after it
  then       reply (default) | drop | rst | hang | cut
  status, reason, headers, body, body_gzip_of, body_bytes   the answer; headers: a dict or [name, value] pairs
  framing    length (default) | chunked | close
  bytes      with `cut`: how much of the body is sent
  events, event_gap_ms   body pieces sent one by one as chunks
  interim    interim answers before the final one: [100, {status: 103, headers: {...}}]
  trailers   trailer fields of a chunked answer
  http       "1.0" for an HTTP/1.0 status line
  close      true: close the connection after the answer
  raw        the exact bytes of the answer (latin-1), instead of all of the above
  conn       reused: the attempt may come over a kept-alive connection (noted, never demanded)
  reject_if_key_longer_than   400 without an effect if the key is longer
"""
import gzip
import json
import socket
import threading
import time
import urllib.parse

import wire
from listener import Listener
from wire import Headers

READS = ("GET", "HEAD", "OPTIONS", "TRACE")


class Exchange:
    """One request on a connection, and the means to answer it."""

    def __init__(self, provider, sock, reader, connection, nth):
        self.provider = provider
        self.sock = sock
        self.reader = reader
        self.connection = connection    # number of the connection
        self.nth = nth                  # 1 for the first request on it
        self.body = b""
        self.trailers = Headers()
        self.complete = False           # the whole request was read
        self.keep = True                # keep the connection after the answer
        self.effects = 0
        self._start = len(reader.log) - len(reader.buffer)
        line = reader.line().decode("latin-1")
        self.line = line
        parts = line.split(" ")
        if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not parts[1]:
            raise wire.WireError(f"bad request line {line!r}")
        self.method, self.target, self.version = parts
        self.headers = wire.read_fields(reader)
        self.at = time.monotonic()
        self.framing = wire.framing_of(self.headers)
        self.keep = self.headers.get("Connection", "").lower() != "close"
        self._mark()

    def _mark(self):
        self.raw = bytes(self.reader.log[self._start:len(self.reader.log) - len(self.reader.buffer)])

    def pieces(self):
        """The body as it comes, not kept."""
        if self.framing == "chunked":
            yield from wire.read_chunks(self.reader, lambda t: setattr(self, "trailers", t))
        elif self.framing == "length":
            left = wire.content_length(self.headers)
            while left:
                data = self.reader.some(left)
                if not data:
                    raise wire.Closed("request body cut")
                left -= len(data)
                yield data
        self.complete = True

    def read_body(self):
        self.body = b"".join(self.pieces())
        self._mark()
        return self.body

    def send(self, data):
        self.sock.sendall(wire.as_bytes(data))

    def reply(self, status=200, headers=(), body=b"", framing="length", **more):
        self.send(answer_bytes(dict(status=status, headers=headers, body=body, framing=framing, **more),
                               self.method))
        if framing == "close":
            self.keep = False

    def rst(self):
        self.keep = False
        wire.reset(self.sock)

    def drop(self):
        self.keep = False

    def peer_gone(self, timeout=20.0):
        """True when the peer closes or resets within `timeout` seconds."""
        self.sock.settimeout(timeout)
        try:
            return not self.reader.fill()
        except wire.Closed:
            return True
        except (TimeoutError, OSError):
            return False

    def key(self, carrier):
        """The provider keys in this request, as a list: more than one is a fault of the proxy."""
        where, _, name = carrier.partition(":")
        if where == "header":
            return self.headers.all(name)
        if where == "query":
            return [v for n,
                    v in urllib.parse.parse_qsl(urllib.parse.urlsplit(self.target).query) if n == name]
        if where == "form":
            return [v for n, v in urllib.parse.parse_qsl(self.body.decode("latin-1")) if n == name]
        if where == "body":
            value = json.loads(self.body or b"null")
            for member in name.strip("/").split("/"):
                value = value.get(member) if isinstance(value, dict) else None
            return [] if value is None else [value]
        return []


def answer_bytes(step, method="POST"):
    """The bytes of a scripted answer."""
    if "raw" in step:
        return step["raw"].encode("latin-1")
    headers = step.get("headers") or {}
    pairs = list(headers.items()) if isinstance(headers, dict) else [tuple(p) for p in headers]
    body = wire.as_bytes(step.get("body", b""))
    if "body_gzip_of" in step:
        body = gzip.compress(wire.as_bytes(step["body_gzip_of"]), mtime=0)
    if "body_bytes" in step:
        body = (b"0123456789abcdef" * (step["body_bytes"] // 16 + 1))[:step["body_bytes"]]
    status, framing = step.get("status", 200), step.get("framing", "length")
    out = b""
    for interim in step.get("interim", ()):
        interim = interim if isinstance(interim, dict) else {"status": interim}
        out += wire.head_bytes(f"HTTP/1.1 {interim['status']} Interim", interim.get("headers", {}))
    bodyless = method == "HEAD" or status in (204, 304)
    if framing == "chunked":
        pairs.append(("Transfer-Encoding", "chunked"))
        tail = wire.chunked(step.get("events") or [body], (step.get("trailers") or {}).items())
    else:
        tail = body
        if framing == "length" and status != 204 and not any(n.lower() == "content-length" for n, _ in pairs):
            pairs.append(("Content-Length", str(len(body))))
        if framing == "close" or step.get("close"):
            pairs.append(("Connection", "close"))
    version = "HTTP/" + str(step.get("http", "1.1"))
    out += wire.head_bytes(f"{version} {status} {step.get('reason', 'Scripted')}", pairs)
    return out + (b"" if bodyless else tail)


class Provider(Listener):
    def __init__(self, handler=None, mode="plain", key="header:Idempotency-Key", result=None, tls=None,
                 **more):
        self.handler = handler
        self.mode = mode
        self.carrier = key
        self.result = result or {"status": 201, "body": '{"id":"k-1"}'}
        self.lock = threading.RLock()
        self.attempts = []          # write requests received in full, scripted or not
        self.partial = []           # write requests that were not read to their end
        self.lookups = []           # reads
        self.lookup_replies = []    # answers for the next reads; then `lookup_default`
        self.lookup_default = {"status": 200, "headers": {"Content-Type": "application/json"},
                               "body": '{"items":[]}'}
        self.ledger = []            # effects: the Exchange that made each
        self.unexpected = []        # attempts that nothing was scripted for
        self.faults = []            # malformed requests: always a failure
        self.memory = {}
        self.gates = {}
        self._script, self._each, self._after, self._keyed = [], None, None, True
        super().__init__(tls=tls, **more)

    # -- what the test tells it

    def script(self, steps=None, each=None, after=None):
        """What the next attempts find, in order. None: answered from the key memory (keyed) or not expected."""
        with self.lock:
            self._script = list(steps or [])
            self._each, self._after = each, after
            self._keyed = steps is None or len(self._script) > 0

    def gate(self, name):
        with self.lock:
            return self.gates.setdefault(name, threading.Event())

    def open_gate(self, name):
        self.gate(name).set()

    def wait_attempts(self, n, timeout=20.0):
        self.wait(lambda: len(self.attempts) >= n, f"{n} attempts", timeout)

    @property
    def effects(self):
        return len(self.ledger)

    # -- connections

    def serve_connection(self, sock, number):
        sock.settimeout(120)
        reader = wire.Reader(sock)
        nth = 0
        while True:
            if not reader.buffer and not reader.fill():
                return
            nth += 1
            try:
                ex = Exchange(self, sock, reader, number, nth)
            except wire.Closed:
                return
            except wire.WireError as e:
                self.faults.append(f"{e}: {bytes(reader.log[-300:])!r}")
                raise
            try:
                self.serve_one(ex)
            finally:
                self.note()
            if not ex.keep or ex.version == "HTTP/1.0":
                return

    def serve_one(self, ex):
        if self.handler:
            with self.lock:
                (self.lookups if ex.method in READS else self.attempts).append(ex)
            self.note()
            self.handler(ex)
        elif ex.method in READS:
            ex.read_body()
            with self.lock:
                self.lookups.append(ex)
                step = self.lookup_replies.pop(0) if self.lookup_replies else self.lookup_default
            self.play(ex, dict(step))
        else:
            self.serve_write(ex)

    def serve_write(self, ex):
        with self.lock:
            step = self._next()
        if step is not None and step.get("read", "all") != "all":
            if step["read"] == "half":
                ex.body = ex.reader.exact((wire.content_length(ex.headers) or 0) // 2)
            with self.lock:
                self.partial.append(ex)
            self.play(ex, step)
            return
        try:
            ex.read_body()
        except wire.Closed:
            with self.lock:
                self.partial.append(ex)
            raise
        with self.lock:
            self.attempts.append(ex)
        self.note()
        if step is None:
            self._unscripted(ex)
            return
        limit = step.get("reject_if_key_longer_than")
        if limit and any(len(k) > limit for k in ex.key(self.carrier)):
            step = {"status": 400, "body": '{"error":"key too long"}'}
        self.play(ex, step)

    def _next(self):
        if self._script:
            return dict(self._script.pop(0))
        for more in (self._each, self._after):
            if more:
                return dict(more)
        return None

    def _unscripted(self, ex):
        keys = ex.key(self.carrier)
        with self.lock:
            if self.mode != "keyed" or not keys or not self._keyed:
                self.unexpected.append(ex)
                step = {"status": 500, "headers": {"X-Unexpected": "attempt"},
                        "body": '{"error":"not scripted"}'}
            else:
                known = self.memory.get((ex.headers.get("Host"), keys[0]))
                if known is None:
                    step = {"commit": 1, **self.result}
                elif known[0] != ex.body:
                    step = {"status": 400, "body": '{"error":"key used with another body"}'}
                else:
                    step = dict(known[1])
                    step["headers"] = {**(step.get("headers") or {}), "Idempotent-Replayed": "true"}
        self.play(ex, step)

    # -- the script

    def play(self, ex, step):
        if step.get("gate_before"):
            self.gate(step["gate_before"]).wait(60)
        time.sleep(step.get("wait_ms", 0) / 1000)
        self._commit(ex, step)
        self.note()
        if step.get("gate"):
            self.gate(step["gate"]).wait(60)
        time.sleep(step.get("linger_ms", 0) / 1000)
        then = step.get("then", "reply")
        if then == "reply":
            self._reply(ex, step)
        elif then == "rst":
            ex.rst()
        elif then == "hang":
            ex.keep = False
            ex.peer_gone(60)
        elif then == "cut":
            self._cut(ex, step)
        else:
            ex.drop()

    def _commit(self, ex, step):
        with self.lock:
            for _ in range(step.get("commit", 0)):
                ex.effects += 1
                self.ledger.append(ex)
            if self.mode == "keyed" and step.get("commit"):
                final = {k: step[k] for k in ("status", "headers", "body") if k in step} \
                    if step.get("then", "reply") == "reply" else dict(self.result)
                for key in ex.key(self.carrier)[:1]:
                    self.memory.setdefault((ex.headers.get("Host"), key), (ex.body, final))

    def _reply(self, ex, step):
        if "events" in step and "event_gap_ms" in step:
            pairs = [*(step.get("headers") or {}).items(), ("Transfer-Encoding", "chunked")]
            ex.send(wire.head_bytes(f"HTTP/1.1 {step.get('status', 200)} Scripted", pairs))
            for event in step["events"]:
                time.sleep(step["event_gap_ms"] / 1000)
                ex.send(b"%x\r\n%s\r\n" % (len(wire.as_bytes(event)), wire.as_bytes(event)))
            ex.send(b"0\r\n\r\n")
        else:
            ex.send(answer_bytes(step, ex.method))
        if step.get("framing") == "close" or step.get("close") or step.get("raw"):
            ex.keep = False

    def _cut(self, ex, step):
        whole = answer_bytes(step, ex.method)
        head, _, body = whole.partition(b"\r\n\r\n")
        sent = step.get("bytes", 0)
        if step.get("framing") == "chunked":
            piece = wire.as_bytes(step.get("body", ""))[:sent]
            body = b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b""
        else:
            body = body[:sent]
        ex.send(head + b"\r\n\r\n" + body)
        if step.get("how") == "rst":
            time.sleep(0.05)    # lets the sent bytes arrive: a reset may overtake them otherwise
            ex.rst()
        else:
            ex.drop()


def echo_websocket(ex):
    """A handler: accepts a WebSocket upgrade and then echoes bytes until the peer closes its side."""
    ex.send(wire.head_bytes("HTTP/1.1 101 Switching Protocols", [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")]))
    ex.keep = False
    while True:
        data = ex.reader.some()
        if not data:
            break
        ex.send(data)
    ex.sock.shutdown(socket.SHUT_WR)
