"""Memory of idle connections and tunnels: what a process grows by with 2,000 of them, in KiB each."""
import socket
import ssl
import time

from . import procs

SETTLE = 2.0


def read_answer(connection):
    """Reads one answer with Content-Length or without a body; returns its status."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise procs.BenchError(f"connection closed: {data!r}")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:") and b" 200 connection" not in head.lower():
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1])


def dial(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10)


def ask(connection, request):
    connection.sendall(request)
    status = read_answer(connection)
    if status != 200:
        raise procs.BenchError(f"status {status} for {request[:80]!r}")


def grown(process, before, count):
    resident, anonymous = process.memory()
    return {"rss_kib": round((resident - before[0]) / count, 2), "anon_kib": round((anonymous - before[1]) / count, 2)}


def growth(process, enter, request, count, settle):
    """What `count` idle connections that `enter` makes cost: before any request, and after one each."""
    before = process.memory()
    connections = [enter() for _ in range(count)]
    time.sleep(settle)
    fresh = grown(process, before, count)
    for connection in connections:
        ask(connection, request)
    time.sleep(settle)
    used = grown(process, before, count)
    for connection in connections:
        connection.close()
    return fresh, used


def idle_connections(process, upstream, count, settle=SETTLE):
    """KiB per idle keep-alive connection, before any request and after one GET each."""
    target = f"http://{upstream}/idle" if process.name == "opid" else "/idle"
    request = f"GET {target} HTTP/1.1\r\nHost: {upstream}\r\n\r\n".encode()
    with dial(process.address) as first:
        for _ in range(200):
            ask(first, request)
    fresh, used = growth(process, lambda: dial(process.address), request, count, settle)
    return {"before_any_request": fresh, "after_one_get": used, "count": count}


def idle_tunnels(process, upstream, count, settle=SETTLE):
    """KiB per idle CONNECT tunnel, before any byte in it and after one exchange each."""
    connect = f"CONNECT {upstream} HTTP/1.1\r\nHost: {upstream}\r\n\r\n".encode()
    request = f"GET /idle HTTP/1.1\r\nHost: {upstream}\r\n\r\n".encode()

    def enter():
        tunnel = dial(process.address)
        ask(tunnel, connect)
        return tunnel

    for _ in range(20):
        with enter() as tunnel:
            ask(tunnel, request)
    fresh, used = growth(process, enter, request, count, settle)
    return {"before_any_byte": fresh, "after_one_exchange": used, "count": count}


def idle_intercepted(process, proxy, authority, ca, count, settle=SETTLE):
    """KiB per idle connection that `proxy`, an address of the process, intercepts under the CA: after its handshake,
    and after one GET each."""
    host = authority.rsplit(":", 1)[0]
    connect = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode()
    request = f"GET /idle HTTP/1.1\r\nHost: {authority.removesuffix(':443')}\r\n\r\n".encode()
    context = ssl.create_default_context(cafile=ca)

    def enter():
        plain = dial(proxy)
        ask(plain, connect)
        return context.wrap_socket(plain, server_hostname=host)

    for _ in range(20):
        with enter() as first:
            ask(first, request)
    fresh, used = growth(process, enter, request, count, settle)
    return {"after_handshake": fresh, "after_one_get": used, "count": count}
