"""A TLS client whose bytes are in the test's hands: which segments they travel in, and when the sides are closed.

`TlsSocket` has the methods of a socket that wire.Reader and client.Conn use.
"""
import ssl


class TlsSocket:
    def __init__(self, sock, context, server_name=None, session=None):
        self.sock = sock
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=server_name, session=session)

    def hello(self):
        """The bytes of the ClientHello, which the caller has to send."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            return self.outgoing.read()
        raise AssertionError("a handshake without a peer")

    def handshake(self):
        """Runs the handshake to its end (after `hello`, or from the start). Raises SSLError as the peer's alert says."""
        self._run(self.tls.do_handshake)
        return self

    def _run(self, step, *args):
        while True:
            try:
                value = step(*args)
                self._flush()
                return value
            except ssl.SSLWantReadError:
                self._flush()
                self._feed()
            except ssl.SSLError:
                self._flush(lenient=True)    # the alert that we owe the peer
                raise

    def _flush(self, lenient=False):
        data = self.outgoing.read()
        try:
            if data:
                self.sock.sendall(data)
        except OSError:
            if not lenient:
                raise

    def _feed(self):
        data = self.sock.recv(65536)
        if data:
            self.incoming.write(data)
        else:
            self.incoming.write_eof()

    def recv(self, size):
        """b'' after the peer's close_notify; ConnectionResetError when its bytes end without one."""
        try:
            return self._run(self.tls.read, size)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLEOFError as e:
            raise ConnectionResetError("end without close_notify") from e

    def sendall(self, data):
        view = memoryview(bytes(data))
        for at in range(0, len(view), 1 << 16):
            self._run(self.tls.write, view[at:at + (1 << 16)])

    def send_close_notify(self):
        """Ends our side; the peer may go on."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self._flush()

    def __getattr__(self, name):     # settimeout, setsockopt, shutdown, close, getpeername …
        return getattr(self.sock, name)

    @property
    def certificate(self):
        """The peer's leaf, DER; None where it has shown none."""
        try:
            return self.tls.getpeercert(binary_form=True)
        except ValueError:
            return None


def records(hello, size):
    """The same handshake message in TLS records of at most `size` bytes."""
    head, payload = hello[:3], hello[5:]
    pieces = [payload[at:at + size] for at in range(0, len(payload), size)]
    return b"".join(head + len(piece).to_bytes(2, "big") + piece for piece in pieces)
