"""The scenarios with TLS and tunnels: intercepted requests, handshakes, first certificates, bytes in bulk, memory.

opid intercepts procs.SECURE_HOST under its own CA; squid (ssl_bump) and mitmproxy do the same under the CA of the run;
`direct` is the provider's own TLS without a proxy, the ceiling of load generator and provider."""
from . import measure, memory, procs, rivals
from .measure import Arm
from .scenarios import FIRST

MINTS, TINY_MINTS = 500, 15  # new names in a run
MINT_PREFIX = "mint-"
HANDSHAKE_CONNECTIONS = 16
TUNNELS = 16


def new_names(settings):
    """All names that the mint scenario may ask squid for: a run of each arm, each with all repetitions."""
    runs = settings.rounds * (settings.retries + 1) * 5
    return [f"{MINT_PREFIX}{number:012}.{procs.SECURE_HOST}" for number in range(MINTS * runs)]


def start_rivals(bench):
    """squid and mitmproxy, once, and only for the scenarios that need them."""
    if bench.rival_problems is not None or bench.settings.tiny:
        return
    bench.rival_problems = []
    bench.squid = rivals.attempt(bench.rival_problems, rivals.start_squid, bench.folder, bench.secure,
                                 new_names(bench.settings))
    bench.mitmproxy = rivals.attempt(bench.rival_problems, rivals.start_mitmproxy, bench.folder, bench.secure)
    bench.stage.proxies += [process for process in (bench.squid, bench.mitmproxy) if process]


def absent(bench):
    """What can't be measured here, in words."""
    missing = [*bench.rival_problems]
    if not opid_ca(bench.opid):
        missing.append("opid (absent, or it has no CA: it does not intercept)")
    if not bench.squid:
        missing.append("squid")
    elif not bench.squid.bump:
        missing.append("squid's ssl_bump (needs the package squid-openssl)")
    if not bench.mitmproxy:
        missing.append("mitmproxy")
    return missing


def opid_ca(opid):
    """The CA file of a process that intercepts, or None."""
    ca = opid.data / "ca" / "ca.pem" if opid else None
    return ca if ca and ca.exists() else None


def ways(bench):
    """{arm: (process, options of opid_load)}: how the load gets to the provider's TLS through each."""
    host, made = procs.SECURE_HOST, bench.secure.made
    found = {}
    if opid_ca(bench.opid):
        found["opid"] = (bench.opid, {"authority": f"{host}:443", "connect": 1, "tls": opid_ca(bench.opid)})
    if bench.squid and bench.squid.bump:
        port = bench.secure.address.rsplit(":", 1)[1]  # squid can't be told another port for a name
        found["squid bump"] = (bench.squid, {"target": bench.squid.bump, "authority": f"{host}:{port}", "connect": 1,
                                             "tls": made.ca})
    if bench.mitmproxy:
        found["mitmproxy"] = (bench.mitmproxy, {"authority": f"{host}:443", "connect": 1, "tls": made.ca})
    found["direct"] = (bench.upstream, {"target": bench.secure.address, "authority": f"{host}:443", "tls": made.ca})
    return found


def arms(bench, mode, connections, suffix="", **options):
    return [Arm(name + suffix, process, mode, connections, {**way, **options})
            for name, (process, way) in ways(bench).items()]


def requests(bench, mode, connections):
    """Reads, or POSTs of 1 KiB that are passed through, on intercepted keep-alive connections."""
    start_rivals(bench)
    bench.stage.pin(bench.settings.pin != "never")
    return measure.rounds(bench.stage, arms(bench, mode, connections, path="/relay", expect_operation="none"),
                          bench.settings)


def first_write(bench, connections):
    """The rivals' plain POST beside opid's guarded first write inside interception."""
    start_rivals(bench)
    bench.stage.pin(bench.settings.pin == "always")
    tried = [arm for arm in arms(bench, "pass-post", connections, path="/relay") if arm.process is not bench.opid]
    if opid_ca(bench.opid):
        process, way = ways(bench)["opid"]
        tried.append(Arm("write", process, "write", connections,
                         {**way, **FIRST, "path": "/effects", "prefix": bench.stage.fresh_prefix}))
    return measure.rounds(bench.stage, tried, bench.settings, probe=bench.folder)


def handshakes(bench, connections=HANDSHAKE_CONNECTIONS):
    """A new CONNECT, a whole or a resumed handshake and one GET each time."""
    start_rivals(bench)
    bench.stage.pin(bench.settings.pin != "never")
    whole = arms(bench, "pass-get", connections, fresh=1)
    resumed = arms(bench, "pass-get", connections, suffix=" resumed", fresh=1, resume=1)
    return measure.rounds(bench.stage, [*whole, *resumed], bench.settings)


def first_mint(bench):
    """The first handshake for each of many new names, one after the other; beside it those for one known name."""
    start_rivals(bench)
    bench.stage.pin(bench.settings.pin != "never")
    count = TINY_MINTS if bench.settings.tiny else MINTS
    serial = iter(range(1 << 40))

    def first():
        return next(serial) * count

    tried = arms(bench, "pass-get", 1, suffix=" known name", fresh=1, count=count)[:1]
    for arm in arms(bench, "pass-get", 1, fresh=1, count=count, prefix=MINT_PREFIX, first=first):
        port = arm.options["authority"].rsplit(":", 1)[1]
        arm.options["authority"] = f"{{id}}.{procs.SECURE_HOST}:{port}"
        tried.append(arm)
    return measure.rounds(bench.stage, tried, bench.settings)


def bulk(bench, direction, tunnels=TUNNELS):
    """Bytes without end through blind tunnels, one way or both; `direct`: without a proxy."""
    start_rivals(bench)
    bench.stage.pin(bench.settings.pin != "never")
    way = {"authority": bench.upstream.bulk, "connect": 1}
    tried = [Arm(process.name, process, f"tunnel-{direction}", tunnels, way)
             for process in (bench.squid, bench.opid) if process]
    tried.append(Arm("direct", bench.upstream, f"tunnel-{direction}", tunnels, {"target": bench.upstream.bulk}))
    return measure.rounds(bench.stage, tried, bench.settings)


def tunnel_memory(bench, count, settle=memory.SETTLE):
    """{arm: figures} of idle blind tunnels and of idle intercepted connections, each in a fresh process."""
    start_rivals(bench)  # so that only what could be started is started again
    upstream, secure = bench.upstream.address, bench.secure
    starts = {"opid": lambda folder: procs.start_opid(folder, upstream, secure=secure),
              "squid": lambda folder: rivals.start_squid(folder, secure),
              "mitmproxy": lambda folder: rivals.start_mitmproxy(folder, secure)}
    results = {}

    def figures_of(name, start, ask):
        folder = bench.folder / f"memory-{name.replace(' ', '-')}"
        folder.mkdir()
        process = start(folder)
        try:
            results[name] = ask(process)
        finally:
            process.stop()

    for process in (bench.opid, bench.squid):
        if process:
            figures_of(f"{process.name} tunnel", starts[process.name],
                       lambda fresh: memory.idle_tunnels(fresh, upstream, count, settle))
    for name, (process, way) in ways(bench).items():
        if process.name in starts:
            figures_of(name, starts[process.name],
                       lambda fresh, way=way: memory.idle_intercepted(
                           fresh, getattr(fresh, "bump", None) or fresh.address, way["authority"],
                           opid_ca(fresh) if fresh.name == "opid" else way["tls"], count, settle))
    return results
