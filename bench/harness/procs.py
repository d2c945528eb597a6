"""The processes of a benchmark: start each on a port of the system's choice, pin, read CPU and memory, stop."""
import dataclasses
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
SECURE_HOST, BLIND_HOST = "bench.test", "blind.test"  # the provider's names: of an intercepted host, of another one


class BenchError(Exception):
    """Something that ends the run with a plain message."""


def find_tools():
    """The folder of opid_load and opid_upstream: of OPID_BENCH_TOOLS, else beside OPID_BIN, else the newest build."""
    named = os.environ.get("OPID_BENCH_TOOLS")
    places = [pathlib.Path(named)] if named else [opid_binary().parent.parent / "bench", ROOT / "build/release/bench"]
    built = sorted(ROOT.glob("build/*/bench/opid_load"), key=lambda path: path.stat().st_mtime, reverse=True)
    for place in places + ([] if named else [path.parent for path in built]):
        if (place / "opid_load").exists() and (place / "opid_upstream").exists():
            return place
    raise BenchError("opid_load and opid_upstream are not built: cmake --preset release && ninja -C build/release "
                     "opid_load opid_upstream")


def opid_binary():
    return pathlib.Path(os.environ.get("OPID_BIN", ROOT / "build/release/proxy/opid")).resolve()


def cpu_of(pid):
    """CPU seconds so far, all threads, those that ended included."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def pin_tasks(pid, cores):
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(task), cores)
    except (ProcessLookupError, FileNotFoundError):
        pass  # it ended meanwhile


class Process:
    """A child, its output in a log, its address once it listens."""

    def __init__(self, name, command, log, **options):
        self.name, self.log, self.address, self.admin = name, log, None, None
        self.log_file = open(log, "ab")
        self.child = subprocess.Popen([str(word) for word in command], stderr=self.log_file, stdin=subprocess.DEVNULL,
                                      stdout=options.get("stdout", self.log_file))

    @property
    def pid(self):
        return self.child.pid

    def cpu(self):
        return cpu_of(self.pid)

    def memory(self):
        """KiB: (resident, resident and anonymous)."""
        with open(f"/proc/{self.pid}/status") as status:
            found = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB", status.read(), re.M))
        return int(found["VmRSS"]), int(found["RssAnon"])

    def pin(self, cores):
        pin_tasks(self.pid, cores)

    def alive(self):
        return self.child.poll() is None

    def log_tail(self):
        return pathlib.Path(self.log).read_text(errors="replace")[-2000:]

    def stop(self, wait=20):
        if self.alive():
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(wait)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        self.log_file.close()

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.log_file.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(process, port, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not process.alive():
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            process.address = f"127.0.0.1:{port}"
            return process
        except OSError:
            time.sleep(0.01)
    process.kill()
    raise BenchError(f"{process.name} did not start:\n{process.log_tail()}")


def start_upstream(tools, folder, *flags):
    process = Process("upstream", [tools / "opid_upstream", *flags], folder / "upstream.log", stdout=subprocess.PIPE)
    line = process.child.stdout.readline().decode()
    if not line.startswith("listening "):
        raise BenchError(f"opid_upstream did not start:\n{process.log_tail()}")
    words = line.split()
    told = dict(zip(words[::2], words[1::2]))
    process.address, process.tls, process.bulk = told["listening"], told.get("tls"), told.get("bulk")
    return process


@dataclasses.dataclass
class Secure:
    """The provider's port that speaks TLS, and the certificates of the run (certificates.Certificates)."""
    address: str
    made: object


def start_nginx(folder, upstream):
    """One worker, keep-alive on both sides without limit, no access log: as a careful operator would set it."""
    if not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"):
        return None
    port = free_port()
    home = folder / "nginx"
    home.mkdir()
    (home / "nginx.conf").write_text(f"""
daemon off; master_process off; worker_processes 1; pid {home}/pid; error_log {home}/error.log warn;
worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{
  access_log off; keepalive_timeout 3600; keepalive_requests 1000000000; tcp_nodelay on; server_tokens off;
  client_header_buffer_size 4k; client_body_buffer_size 16k;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
  upstream provider {{ server {upstream}; keepalive 1024; keepalive_requests 1000000000; keepalive_timeout 3600; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    return wait_for_port(Process("nginx", [nginx, "-p", home, "-c", home / "nginx.conf"], folder / "nginx.log"), port)


def start_haproxy(folder, upstream):
    haproxy = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
    if not haproxy:
        return None
    port = free_port()
    config = folder / "haproxy.cfg"
    config.write_text(f"""
global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout http-keep-alive 1h
  option http-keep-alive
  http-reuse always
frontend in
  bind 127.0.0.1:{port} backlog 4096
  default_backend provider
backend provider
  server one {upstream} pool-max-conn 1024 pool-purge-delay 1h
""")
    return wait_for_port(Process("haproxy", [haproxy, "-db", "-q", "-f", config], folder / "haproxy.log"), port)


PROFILE = """
provider: bench
hosts: [bench.example]
upstream: http://{upstream}
identity: {{from: [Operation-Id], missing: reject}}
key: {{carrier: "header:Idempotency-Key", window: {{for: 24h}}}}
rules:
  - {{name: effect, match: {{method: POST, path: /effects}}}}
"""

# The hosts that are intercepted. /relay is passed through like a read, /effects is guarded.
SECURE_PROFILE = """
provider: secure
hosts: [{host}, "*.{host}"]
upstream: https://{host}
upstream_address: {address}
tls: {{ca: "file:{ca}"}}
identity: {{from: [Operation-Id], missing: reject}}
key: {{carrier: "header:Idempotency-Key", window: {{for: 24h}}}}
rules:
  - {{name: relay, match: {{method: POST, path: /relay}}, class: read}}
  - {{name: effect, match: {{method: POST, path: /effects}}}}
"""

CONFIG = """
listen: {{proxy: "127.0.0.1:0", admin: "127.0.0.1:0"}}
data: {data}
policies: [{policies}]
egress: {{allow: ["127.0.0.1/32"], resolve: {{{resolve}}}}}
"""


def write_opid_config(folder, data, upstream, extra, secure):
    policies = folder / "policies"
    policies.mkdir(exist_ok=True)
    (policies / "bench.yaml").write_text(PROFILE.format(upstream=upstream))
    resolve = ""
    if secure:
        (policies / "secure.yaml").write_text(SECURE_PROFILE.format(
            host=SECURE_HOST, address=secure.address, ca=secure.made.ca))
        resolve = f'"{BLIND_HOST}:443": "{secure.address}"'
    config = folder / "opid.yaml"
    own = os.environ.get("OPID_BENCH_CONFIG")
    more = pathlib.Path(own).read_text() if own else ""
    config.write_text(CONFIG.format(data=data, policies=policies, resolve=resolve) + extra + more)
    return config


def launch_opid(folder, data, upstream, extra, seconds, secure):
    config = write_opid_config(folder, data, upstream, extra, secure)
    begun = time.monotonic()
    process = Process("opid", [opid_binary(), "serve", "--config", config], folder / "opid.log", stdout=subprocess.PIPE)
    stream, text = process.child.stdout, b""
    while time.monotonic() < begun + seconds:
        if not select.select([stream], [], [], 0.2)[0]:
            continue
        piece = os.read(stream.fileno(), 65536)
        text += piece
        if re.search(rb"^ready\b", text, re.M):
            process.startup_seconds = time.monotonic() - begun
            found = dict(re.findall(r"^listening (\w+) (\S+:\d+)", text.decode(), re.M))
            process.address, process.admin = found.get("proxy"), found.get("admin")
            process.data = pathlib.Path(data)
            return process
        if not piece:
            break
    process.kill()
    raise BenchError(f"opid did not get ready:\n{text.decode(errors='replace')}{process.log_tail()}")


THREADS = "threads: 1\n"


def start_opid(folder, upstream, data=None, seconds=120, secure=None):
    """None when there is no binary. With `secure` it intercepts TLS for SECURE_HOST. One I/O thread, like nginx, if the
    configuration has such an option."""
    global THREADS
    if not opid_binary().exists():
        return None
    data = data or folder / "data"
    if THREADS:
        try:
            return launch_opid(folder, data, upstream, THREADS, seconds, secure)
        except BenchError as error:
            if "threads" not in str(error):
                raise
            THREADS = ""
    return launch_opid(folder, data, upstream, "", seconds, secure)


def versions():
    def first_line(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10)
            return (done.stdout or done.stderr).strip().splitlines()[0]
        except (OSError, IndexError, subprocess.TimeoutExpired):
            return "absent"
    path = os.environ["PATH"] + ":/usr/sbin"
    return {"opid": first_line(str(opid_binary()), "version"),
            "nginx": first_line(shutil.which("nginx", path=path) or "nginx", "-v"),
            "haproxy": first_line(shutil.which("haproxy", path=path) or "haproxy", "-v"),
            "squid": first_line(shutil.which("squid", path=path) or "squid", "-v"),
            "mitmproxy": first_line(shutil.which("mitmdump", path=path) or "mitmdump", "--version"),
            "kernel": os.uname().release, "cores": len(CORES),
            "commit": first_line("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")}


def load(tools, target, mode, cores=None, timeout=120, **options):
    """Runs opid_load; returns its line as a dict, with the CPU seconds it took."""
    command = [str(tools / "opid_load"), "--target", target, "--mode", mode]
    for name, value in options.items():
        if value is not None:
            command += ["--" + name.replace("_", "-"), str(value)]
    before = os.times()
    pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, preexec_fn=pin)
    after = os.times()
    if not done.stdout.startswith("{"):
        raise BenchError(f"opid_load failed: {' '.join(command)}\n{done.stderr}")
    result = json.loads(done.stdout)
    result["load_cpu_s"] = after.children_user + after.children_system - before.children_user - before.children_system
    return result
