"""HTTP/1.1 on bare sockets: strict readers shared by the raw client and the fake provider.

Nothing here retries, reconnects or repairs. A message that breaks RFC 9112 raises WireError, a connection that
ends early raises Closed: a test must be able to tell "wrong bytes" from "no bytes".
"""
import re
import socket
import struct

TOKEN = re.compile(rb"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$")
CHUNK_SIZE = re.compile(rb"^[0-9A-Fa-f]{1,16}$")


class WireError(Exception):
    """The peer's bytes are not HTTP/1.1."""


class Closed(WireError):
    """The peer closed (or reset) the connection before the expected bytes. `reset` tells which."""

    def __init__(self, text, reset=False):
        super().__init__(text)
        self.reset = reset


class Headers:
    """Field lines in wire order; look-ups ignore case."""

    def __init__(self, pairs=()):
        self.pairs = [(str(n), str(v)) for n, v in pairs]

    def all(self, name):
        return [v for n, v in self.pairs if n.lower() == name.lower()]

    def get(self, name, default=None):
        found = self.all(name)
        return found[0] if found else default

    def __contains__(self, name):
        return bool(self.all(name))

    def names(self):
        return [n for n, _ in self.pairs]

    def __repr__(self):
        return "\n".join(f"{n}: {v}" for n, v in self.pairs)


class Reader:
    """Buffered reads from a socket. `log` keeps every byte taken from the socket (bounded by `log_limit`)."""

    def __init__(self, sock, log_limit=1 << 20):
        self.sock = sock
        self.buffer = bytearray()
        self.log = bytearray()
        self.log_limit = log_limit

    def fill(self):
        """One recv into the buffer. False at end of stream."""
        try:
            data = self.sock.recv(65536)
        except ConnectionResetError as e:
            raise Closed("connection reset", reset=True) from e
        if not data:
            return False
        if len(self.log) < self.log_limit:
            self.log += data
        self.buffer += data
        return True

    def line(self, limit=1 << 17):
        """One line that ends in CRLF, without it."""
        while True:
            end = self.buffer.find(b"\n")
            if end >= 0:
                line = bytes(self.buffer[:end])
                del self.buffer[: end + 1]
                if not line.endswith(b"\r"):
                    raise WireError(f"bare LF after {line[:80]!r}")
                if b"\r" in line[:-1]:
                    raise WireError(f"bare CR in {line[:80]!r}")
                return line[:-1]
            if len(self.buffer) > limit:
                raise WireError("line too long")
            if not self.fill():
                raise Closed(f"end of stream inside a line: {bytes(self.buffer[:80])!r}")

    def exact(self, n):
        while len(self.buffer) < n:
            if not self.fill():
                raise Closed(f"end of stream, {n - len(self.buffer)} bytes missing")
        data = bytes(self.buffer[:n])
        del self.buffer[:n]
        return data

    def some(self, limit=65536):
        """At least one byte, or b'' at end of stream."""
        if not self.buffer and not self.fill():
            return b""
        data = bytes(self.buffer[:limit])
        del self.buffer[:limit]
        return data

    def rest(self):
        while self.fill():
            pass
        data = bytes(self.buffer)
        self.buffer.clear()
        return data


def read_fields(reader):
    pairs = []
    while True:
        line = reader.line()
        if not line:
            return Headers(pairs)
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.match(name):
            raise WireError(f"bad field line {line[:80]!r}")
        value = value.strip(b" \t")
        if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value):
            raise WireError(f"control byte in field {name!r}")
        pairs.append((name.decode("latin-1"), value.decode("latin-1")))


def content_length(headers):
    """The announced length, or None. Doubled or malformed lengths are errors: nobody may pass those on."""
    values = headers.all("Content-Length")
    if not values:
        return None
    if len(values) > 1 or not re.fullmatch(r"0|[1-9][0-9]{0,18}", values[0]):
        raise WireError(f"bad Content-Length {values}")
    return int(values[0])


def read_chunks(reader, on_trailers=None):
    """Yields the data of each chunk; the trailer section goes to on_trailers(Headers)."""
    while True:
        line = reader.line()
        size, _, _extension = line.partition(b";")
        if not CHUNK_SIZE.match(size):
            raise WireError(f"bad chunk size {line[:60]!r}")
        n = int(size, 16)
        if n == 0:
            trailers = read_fields(reader)
            if on_trailers:
                on_trailers(trailers)
            return
        while n:
            data = reader.some(n)
            if not data:
                raise Closed("end of stream inside a chunk")
            n -= len(data)
            yield data
        if reader.exact(2) != b"\r\n":
            raise WireError("chunk data without CRLF")


def framing_of(headers):
    """'chunked', 'length', or None. Both at once, or another coding, is an error."""
    coding = headers.all("Transfer-Encoding")
    length = content_length(headers)
    if coding:
        if [c.lower() for c in coding] != ["chunked"]:
            raise WireError(f"bad Transfer-Encoding {coding}")
        if length is not None:
            raise WireError("Content-Length beside Transfer-Encoding")
        return "chunked"
    return None if length is None else "length"


def reset(sock):
    """Close with RST instead of FIN."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    sock.close()


def chunked(parts, trailers=()):
    """A chunked body of the given pieces."""
    out = bytearray()
    for part in parts:
        part = as_bytes(part)
        if part:
            out += b"%x\r\n%s\r\n" % (len(part), part)
    out += b"0\r\n" + b"".join(f"{n}: {v}\r\n".encode("latin-1") for n, v in trailers) + b"\r\n"
    return bytes(out)


def as_bytes(value):
    return value if isinstance(value, (bytes, bytearray)) else str(value).encode()


def head_bytes(start, headers):
    """`headers`: pairs, a dict, or Headers."""
    if isinstance(headers, Headers):
        headers = headers.pairs
    elif isinstance(headers, dict):
        headers = list(headers.items())
    lines = [start] + [f"{n}: {v}" for n, v in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
