"""The raw HTTP client of the tests: one socket, one request after another, no retry of any kind."""
import json
import socket
import ssl
import time

import wire
from wire import Closed, Headers, WireError

TIMEOUT = 20.0


class Response:
    def __init__(self):
        self.version = ""
        self.status = 0
        self.reason = ""
        self.headers = Headers()
        self.body = b""
        self.framing = "none"       # length | chunked | close | none
        self.trailers = Headers()
        self.interim = []           # [(status, Headers)] in order
        self.broken = None          # the error that cut the body short, or None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        """The slug of opid's own answer, or None for an answer of the provider."""
        return self.headers.get("Opid-Problem")

    @property
    def replayed(self):
        return self.headers.get("Idempotent-Replayed") == "true"

    @property
    def closes(self):
        tokens = [t.strip().lower() for v in self.headers.all("Connection") for t in v.split(",")]
        return "close" in tokens or self.framing == "close"

    def __repr__(self):
        return f"<{self.version} {self.status} {self.reason}\n{self.headers}\n\n{self.body[:600]!r} broken={self.broken}>"


class Conn:
    """One client connection. Every wait is bounded by `timeout` seconds."""

    def __init__(self, address, timeout=TIMEOUT, tls=None, server_name=None, receive_buffer=None):
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(timeout)
        self.sock.connect(address)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.start_tls(tls, server_name)
        self.reader = wire.Reader(self.sock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start_tls(self, context, server_name):
        self.sock = context.wrap_socket(self.sock, server_hostname=server_name)
        self.reader = wire.Reader(self.sock)

    def send(self, data):
        """False when the peer has closed already (a refused request may be answered before it is complete)."""
        try:
            self.sock.sendall(wire.as_bytes(data))
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def send_pieces(self, data, size=1):
        for at in range(0, len(data), size):
            if not self.send(data[at:at + size]):
                return False
        return True

    def request(self, method, target, headers=(), body=None, version="HTTP/1.1", host="opid.test",
                chunks=None):
        """Sends one request and reads its answer. `host=None` sends no Host."""
        self.send(build(method, target, headers, body, version, host, chunks))
        return self.response(method)

    def head(self):
        """Status line and fields of the next response, interim answers included."""
        r = Response()
        line = self.reader.line()
        parts = line.decode("latin-1").split(" ", 2)
        if len(parts) < 3 or parts[0] not in ("HTTP/1.1",
                                              "HTTP/1.0") or not parts[1].isdigit() or len(parts[1]) != 3:
            raise WireError(f"bad status line {line[:80]!r}")
        r.version, r.status, r.reason = parts[0], int(parts[1]), parts[2]
        r.headers = wire.read_fields(self.reader)
        return r

    def final_head(self):
        interim = []
        while True:
            r = self.head()
            if 100 <= r.status < 200 and r.status != 101:
                if wire.framing_of(r.headers) == "chunked":
                    raise WireError("interim answer with a body")
                interim.append((r.status, r.headers))
                continue
            r.interim = interim
            return r

    def response(self, method="GET", whole=True):
        """Reads one response to its end. A body that ends early is reported in `.broken`, with what came."""
        r = self.final_head()
        framing = wire.framing_of(r.headers)
        bodyless = method == "HEAD" or r.status in (101, 204,
                                                    304) or (method == "CONNECT" and r.status // 100 == 2)
        if bodyless:
            if r.status == 204 and framing:
                raise WireError("204 with body framing")
            return r
        r.framing = framing or "close"
        if whole:
            r.body = b"".join(self.body(r))
        return r

    def body(self, r):
        """Yields pieces of the body of `r` as they come; sets r.broken instead of raising."""
        try:
            if r.framing == "chunked":
                yield from wire.read_chunks(self.reader, lambda t: setattr(r, "trailers", t))
            elif r.framing == "length":
                left = wire.content_length(r.headers)
                while left:
                    data = self.reader.some(left)
                    if not data:
                        raise Closed(f"end of stream, {left} bytes missing")
                    left -= len(data)
                    yield data
            else:
                while True:
                    data = self.reader.some()
                    if not data:
                        return
                    yield data
        except Closed as e:
            r.broken = e

    def at_end(self, timeout=TIMEOUT):
        """True when the peer closes within `timeout` without sending another byte."""
        self.sock.settimeout(timeout)
        try:
            return not self.reader.buffer and not self.reader.fill()
        except Closed:
            return True
        except (TimeoutError, socket.timeout):
            return False

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        wire.reset(self.sock)

    def close(self):
        try:
            self.sock.close()
        except OSError:
            pass


def build(method, target, headers=(), body=None, version="HTTP/1.1", host="opid.test", chunks=None):
    """The bytes of one request. `chunks`: body pieces for chunked framing (then `body` is not used)."""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    names = {n.lower() for n, _ in pairs}
    if host is not None and "host" not in names:
        pairs.insert(0, ("Host", host))
    tail = b""
    if chunks is not None:
        pairs.append(("Transfer-Encoding", "chunked"))
        tail = wire.chunked(chunks)
    elif body is not None:
        tail = wire.as_bytes(body)
        if "content-length" not in names:
            pairs.append(("Content-Length", str(len(tail))))
    return wire.head_bytes(f"{method} {target} {version}", pairs) + tail


def once(address, method, target, headers=(), body=None, **more):
    """One request on a connection of its own."""
    with Conn(address, timeout=more.pop("timeout", TIMEOUT)) as conn:
        return conn.request(method, target, headers, body, **more)


def until(probe, what, timeout=TIMEOUT, step=0.01):
    """Polls `probe` until it is true; for facts that no handshake can announce (a log line, a process's end)."""
    end = time.monotonic() + timeout
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(step)


def trusting(ca_file, alpn=("http/1.1",)):
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(list(alpn))
    return context
