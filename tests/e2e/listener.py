"""A TCP server of threads on port 0, and a certificate authority for tests (made by openssl at run time)."""
import os
import socket
import ssl
import subprocess
import tempfile
import threading

import wire


class Listener:
    """Accepts on 127.0.0.1 and gives each connection to `serve(sock, number)` in a thread of its own.

    `tls`: an SSLContext. `tls_broken`: answers every ClientHello with a fatal alert, so no handshake succeeds.
    """

    def __init__(self, serve=None, tls=None, receive_buffer=None):
        self.serve = serve or self.serve_connection
        self.tls = tls
        self.tls_broken = False
        self.receive_buffer = receive_buffer
        self.port = 0
        self.connections = 0            # accepted so far
        self.open = set()
        self.errors = []                # exceptions of serve(), for the test to look at
        self.changed = threading.Condition()
        self.closing = False
        self.socket = None
        self.listen()

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def authority(self):
        return f"127.0.0.1:{self.port}"

    def listen(self):
        """Starts to listen, on the same port as before if there was one."""
        if self.socket:
            return
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        s.bind(("127.0.0.1", self.port))
        s.listen(128)
        self.port = s.getsockname()[1]
        self.socket = s
        threading.Thread(target=self._accept, args=(s,), daemon=True).start()

    def refuse(self):
        """Stops listening: a connect is refused from now on, and open connections are closed."""
        s, self.socket = self.socket, None
        if s:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        self.drop_all()

    def drop_all(self):
        with self.changed:
            victims = list(self.open)
        for sock in victims:
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of TCP, also where its thread is in the midst of TLS
            except OSError:
                pass

    def close(self):
        self.closing = True
        self.refuse()
        with self.changed:
            self.changed.notify_all()

    def wait(self, probe, what, timeout=20.0):
        """Waits until `probe()` is true; it is looked at whenever the server has done something."""
        with self.changed:
            if not self.changed.wait_for(probe, timeout):
                raise AssertionError(f"not within {timeout} s: {what}; errors: {self.errors}")

    def note(self):
        with self.changed:
            self.changed.notify_all()

    def serve_connection(self, sock, number):
        raise NotImplementedError

    def _accept(self, listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with self.changed:
                self.connections += 1
                number = self.connections
                self.open.add(sock)
                self.changed.notify_all()
            threading.Thread(target=self._run, args=(sock, number), daemon=True).start()

    def _run(self, raw, number):
        sock = raw
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls_broken:
                sock.recv(4096)
                sock.sendall(bytes.fromhex("15030300020228"))
                return
            if self.tls:
                sock = self.tls.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
                with self.changed:      # `raw` has handed its descriptor over
                    self.open.discard(raw)
                    self.open.add(sock)
                sock.do_handshake()
            self.serve(sock, number)
        except wire.Closed:
            pass
        except Exception as e:
            if not self.closing:
                self.errors.append(e)
        finally:
            with self.changed:
                self.open.discard(sock)
                self.changed.notify_all()
            try:
                sock.close()
            except OSError:
                pass


class TestCa:
    """A CA with P-256 keys in a temporary folder; `context(names)` is a server side SSLContext."""

    __test__ = False

    def __init__(self):
        self._dir = tempfile.TemporaryDirectory(prefix="opid-ca-")
        self.folder = self._dir.name
        self.ca_file = os.path.join(self.folder, "ca.pem")
        self._serial = 1
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-keyout", "ca.key", "-out", "ca.pem", "-days", "3650", "-subj", "/CN=opid test CA",
                      "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
                      "keyUsage=critical,keyCertSign")

    def context(self, *names, alpn=("http/1.1",)):
        self._serial += 1
        stem = f"leaf{self._serial}"
        with open(os.path.join(self.folder, stem + ".ext"), "w") as f:
            f.write("subjectAltName=" + ",".join(f"DNS:{n}" for n in names) + "\n"
                    "basicConstraints=critical,CA:FALSE\nauthorityKeyIdentifier=keyid\n"
                    "keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n")
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-keyout", stem + ".key", "-out", stem + ".csr", "-subj", f"/CN={names[0]}")
        self._openssl("x509", "-req", "-in", stem + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days",
                      "3650",
                      "-set_serial", str(self._serial), "-extfile", stem + ".ext", "-out", stem + ".pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.folder, stem + ".pem"),
                                os.path.join(self.folder, stem + ".key"))
        context.set_alpn_protocols(list(alpn))
        return context

    def _openssl(self, *args):
        done = subprocess.run(["openssl", *args], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"openssl {args}: {done.stderr}")
