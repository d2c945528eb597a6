"""The tiny run's part with TLS and tunnels: every kind once, without a proxy and through opid."""
from . import memory, procs, tls
from .checks import counts, effects_of
from .scenarios import FIRST, STORED

BULK_BYTES, TUNNELS = 2_000_000, 4


def tools_alone(bench, checks):
    _, way = tls.ways(bench)["direct"]
    direct = {"mode": "pass-get", "connections": 8, **way}
    effects_of(bench, checks, "direct TLS POST", 200, count=200, **{**direct, "mode": "pass-post"})
    before = counts(bench.upstream)["handshakes"]
    result = effects_of(bench, checks, "direct handshakes", 0, count=40, fresh=1, resume=1, **direct)
    checks.equal("direct handshakes: counted at both ends",
                 (result["handshakes"], counts(bench.upstream)["handshakes"] - before), (40, 40))
    checks.equal("direct handshakes: resumed, all but the first of each connection", result["resumed"], 32)
    wrong = procs.load(bench.tools, count=3, fresh=1, **{**direct, "connections": 1, "authority": "other.example:443"})
    checks.equal("a certificate for another name is noticed", (wrong["errors"], wrong["answered"]), (3, 0))
    bulk(bench, checks, "direct", bench.upstream.bulk)


def bulk(bench, checks, name, target, **way):
    """Counted bytes, compared at both ends."""
    for direction, ways in (("down", 1), ("up", 1), ("both", 2)):
        result = procs.load(bench.tools, target, f"tunnel-{direction}", connections=TUNNELS, count=BULK_BYTES, **way)
        checks.equal(f"{name} tunnels, bytes {direction}", (result["bytes"], result["samples"]),
                     (ways * TUNNELS * BULK_BYTES, []))


def intercepted(bench, checks):
    """opid between two TLS connections: the load trusts opid's CA alone, opid that of the run."""
    opid, way = tls.ways(bench)["opid"]
    load = {"target": opid.address, "connections": 16, **way}
    plain = {"path": "/relay", "expect_operation": "none"}
    before = counts(bench.upstream)["handshakes"]
    effects_of(bench, checks, "intercepted GET", 0, mode="pass-get", count=300, **load, **plain)
    effects_of(bench, checks, "intercepted POST, passed through", 300, mode="pass-post", count=300, **load, **plain)
    guarded = {"path": "/effects", "prefix": "tls-", **load}
    effects_of(bench, checks, "intercepted first write", 100, mode="write", count=100, **guarded, **FIRST)
    effects_of(bench, checks, "intercepted replay", 0, mode="replay", count=200, ids=100, **guarded, **STORED)
    result = effects_of(bench, checks, "handshakes", 0, mode="pass-get", count=64, fresh=1, **load, **plain)
    checks.equal("handshakes: one a request", (result["handshakes"], result["answered"]), (64, 64))
    result = effects_of(bench, checks, "new names", 0, mode="pass-get", count=20, fresh=1, prefix="tiny-",
                        **{**load, **plain, "authority": f"{{id}}.{procs.SECURE_HOST}:443"})
    checks.equal("new names: handshakes", result["handshakes"], 20)
    result = effects_of(bench, checks, "sessions", 0, mode="pass-get", count=64, fresh=1, resume=1, **load, **plain)
    checks.equal("sessions: resumed, all but the first of each connection", result["resumed"], 48)
    print(f"note the provider saw {counts(bench.upstream)['handshakes'] - before} handshakes")


def tunnelled(bench, checks):
    """A host without a profile shows its own certificate through opid; bytes pass unchanged."""
    load = {"target": bench.opid.address, "connections": 8, "connect": 1}
    effects_of(bench, checks, "POST in blind TLS", 100, mode="pass-post", count=100, tls=bench.secure.made.ca,
               authority=f"{procs.BLIND_HOST}:443", **load)
    bulk(bench, checks, "opid", bench.opid.address, authority=bench.upstream.bulk, connect=1)


def ratios(bench):
    found = {"intercepted GET": tls.requests(bench, "pass-get", 16), "handshakes": tls.handshakes(bench, 4),
             "new names": tls.first_mint(bench), "bytes one way": tls.bulk(bench, "down", 4)}
    for title, (runs, _) in found.items():
        print(title + " (too short to mean anything):")
        for name, (run,) in runs.items():
            rate = f"{run['requests_per_s']:7.0f} /s" if "requests_per_s" in run else f"{run['mib_per_s']:5.0f} MiB/s"
            print(f"  {name:16} {rate}  cpu {run['cpu_us']:7.1f} us  errors {run['errors']}")


def run(bench, checks):
    tools_alone(bench, checks)
    if not bench.opid:
        return
    tunnelled(bench, checks)
    if not tls.opid_ca(bench.opid):
        print("note this opid has no CA: interception is not checked")
        return
    intercepted(bench, checks)
    process, way = tls.ways(bench)["opid"]
    print("idle intercepted connections:",
          memory.idle_intercepted(process, process.address, way["authority"], way["tls"], 50, 0.1))
    ratios(bench)
