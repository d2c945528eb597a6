"""What opid's interception and tunnels are measured against: squid (blind, and with ssl_bump) and mitmproxy.

Both sign with the CA of the run, a P-256 key like opid's own, so that the handshakes cost the same arithmetic."""
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from . import procs

PATH = os.environ["PATH"] + ":/usr/sbin"
CERTGEN = "/usr/lib/squid/security_file_certgen"

SQUID = """
http_port 127.0.0.1:{port}
{bump}
http_access allow all
cache deny all
cache_mem 0 MB
access_log none
cache_log {home}/cache.log
cache_store_log none
pid_filename none
netdb_filename none
pinger_enable off
coredump_dir {home}
visible_hostname bench.example
hosts_file {home}/hosts
max_filedescriptors 16384
shutdown_lifetime 0 seconds
via off
forwarded_for delete
client_persistent_connections on
server_persistent_connections on
server_pconn_for_nonretriable allow all
client_idle_pconn_timeout 1 hour
server_idle_pconn_timeout 1 hour
"""

# Bumped at the first step: the certificate is made for the CONNECT's host before the provider is asked, as opid does.
BUMP = """
http_port 127.0.0.1:{port} ssl-bump cert={home}/ca.pem key={home}/ca.key generate-host-certificates=on \
dynamic_cert_mem_cache_size=64MB
sslcrtd_program {certgen} -s {home}/ssl_db -M 64MB
sslcrtd_children 4 startup=2 idle=1
tls_outgoing_options cafile={home}/ca.pem
ssl_bump bump all
"""

# The provider listens on a port of its own, under whatever name it is asked for. The name stays for SNI and check.
REDIRECT = """
def server_connect(data):
    name = data.server.address[0]
    if data.server.sni is None:
        data.server.sni = name
    data.server.address = ("127.0.0.1", {port})
"""


def descendants(pid):
    found = [pid]
    for at in found:
        try:
            for task in os.listdir(f"/proc/{at}/task"):
                found += map(int, pathlib.Path(f"/proc/{at}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return found


class Squid(procs.Process):
    """squid drops its rights, so its files are in a place of their own; its helpers' CPU counts as its own."""

    def __init__(self, home, command, log):
        self.home, self.bump = home, None
        super().__init__("squid", command, log)

    def cpu(self):
        total = 0.0
        for pid in descendants(self.pid):
            try:
                total += procs.cpu_of(pid)
            except OSError:
                continue
        return total

    def pin(self, cores):
        for pid in descendants(self.pid):
            procs.pin_tasks(pid, cores)

    def stop(self, wait=20):
        super().stop(wait)
        shutil.rmtree(self.home, ignore_errors=True)

    def kill(self):
        super().kill()
        shutil.rmtree(self.home, ignore_errors=True)


def give_to_squid(home):
    if os.geteuid() == 0:
        owner = pwd.getpwnam("proxy")
        for path in [home, *home.rglob("*")]:
            os.chown(path, owner.pw_uid, owner.pw_gid)


def can_bump(squid):
    told = subprocess.run([squid, "-v"], capture_output=True, text=True, timeout=10).stdout
    return "--enable-ssl-crtd" in told and os.access(CERTGEN, os.X_OK)


def attempt(problems, start, *arguments):
    """The started rival, or None: absent, or broken on this machine, which `problems` then tells of."""
    try:
        return start(*arguments)
    except (procs.BenchError, OSError, KeyError, subprocess.SubprocessError) as problem:
        problems.append(f"{start.__name__}: {problem}")
        return None


def start_squid(folder, secure, names=()):
    """None when absent. Its `address` tunnels blindly, `bump` intercepts (None without squid-openssl). squid does not
    resolve wildcards, so all names that will be asked for are listed."""
    squid = shutil.which("squid", path=PATH)
    if not squid:
        return None
    home = pathlib.Path(tempfile.mkdtemp(prefix="opid-bench-squid-"))
    port, bump_port, bump = procs.free_port(), procs.free_port(), ""
    (home / "hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in [procs.SECURE_HOST, *names]))
    if can_bump(squid):
        shutil.copy(secure.made.ca, home / "ca.pem")
        shutil.copy(secure.made.ca_key, home / "ca.key")
        subprocess.run([CERTGEN, "-c", "-s", home / "ssl_db", "-M", "64MB"], check=True, capture_output=True,
                       timeout=30)
        bump = BUMP.format(port=bump_port, home=home, certgen=CERTGEN)
    (home / "squid.conf").write_text(SQUID.format(port=port, bump=bump, home=home))
    give_to_squid(home)
    process = Squid(home, [squid, "-N", "-f", home / "squid.conf"], folder / "squid.log")
    procs.wait_for_port(process, port, 20)
    process.bump = f"127.0.0.1:{bump_port}" if bump else None
    return process


def start_mitmproxy(folder, secure):
    """None when absent. Quiet, no flows kept, and it neither dials before it must nor copies the provider's names."""
    mitmdump = shutil.which("mitmdump", path=PATH)
    if not mitmdump:
        return None
    home = folder / "mitmproxy"
    home.mkdir(exist_ok=True)
    (home / "mitmproxy-ca.pem").write_text(secure.made.ca_key.read_text() + secure.made.ca.read_text())
    (home / "redirect.py").write_text(REDIRECT.format(port=secure.address.rsplit(":", 1)[1]))
    port = procs.free_port()
    options = {"confdir": home, "ssl_verify_upstream_trusted_ca": secure.made.ca, "connection_strategy": "lazy",
               "upstream_cert": "false", "http2": "false", "flow_detail": "0"}
    command = [mitmdump, "-q", "--listen-host", "127.0.0.1", "--listen-port", port, "-s", home / "redirect.py"]
    for name, value in options.items():
        command += ["--set", f"{name}={value}"]
    return procs.wait_for_port(procs.Process("mitmproxy", command, folder / "mitmproxy.log"), port, 60)
