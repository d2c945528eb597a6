"""The tiny run of the test suite: every tool and every kind of request once, results checked, times only printed."""
from . import measure, memory, procs, scenarios, tiny_tls
from .checks import Checks, counts, effects_of
from .scenarios import FIRST, STORED

ROUNDS = 20


def tools_alone(bench, checks):
    address = bench.upstream.address
    effects_of(bench, checks, "direct GET", 0, target=address, mode="pass-get", connections=16, count=500)
    effects_of(bench, checks, "direct POST", 500, target=address, mode="pass-post", connections=16, threads=2,
               count=500)
    result = effects_of(bench, checks, "direct joiners", ROUNDS * 8, target=address, mode="joiners", connections=8,
                        count=ROUNDS)
    checks.equal("unguarded joiners are noticed", result["rounds_wrong"], ROUNDS)
    wrong = procs.load(bench.tools, target=address, mode="replay", connections=1, count=5, ids=5, expect_replayed="yes")
    checks.equal("a missing replay mark is noticed", wrong["errors"], 5)


def rivals(bench, checks):
    for process in (bench.nginx, bench.haproxy):
        if process:
            effects_of(bench, checks, f"{process.name} POST", 300, target=process.address, mode="pass-post",
                       connections=16, count=300)
        else:
            print("note nginx or haproxy is not installed")


def guarded(bench, checks):
    opid = bench.opid.address
    write = {"target": opid, "path": "/bench/effects", "connections": 16}
    effects_of(bench, checks, "opid pass-through GET", 0, target=opid, mode="pass-get", connections=16, count=300,
               absolute=bench.upstream.address, expect_operation="none")
    effects_of(bench, checks, "opid pass-through POST", 300, target=opid, mode="pass-post", connections=16, count=300,
               absolute=bench.upstream.address, expect_operation="none")
    effects_of(bench, checks, "first write", 200, mode="write", count=200, prefix="t-", **write, **FIRST)
    effects_of(bench, checks, "replay", 0, mode="replay", count=600, ids=200, prefix="t-", **write, **STORED)
    effects_of(bench, checks, "mismatch", 0, mode="mismatch", count=200, ids=200, prefix="t-", **write)
    result = effects_of(bench, checks, "joiners", ROUNDS, mode="joiners", count=ROUNDS, prefix="j-",
                        **{**write, "connections": 64}, expect_operation="succeeded")
    checks.equal("joiners: rounds without exactly one unmarked answer", result["rounds_wrong"], 0)
    again = counts(bench.upstream)
    checks.equal("provider keys sent twice", again["repeated_keys"], 0)
    checks.equal("requests cut off", again["broken"], 0)


def after_restart(bench, checks):
    """A kill loses nothing that was answered."""
    bench.stage.proxies.remove(bench.opid)
    bench.opid.kill()
    bench.opid = procs.start_opid(bench.folder, bench.upstream.address, bench.opid.data, secure=bench.secure)
    bench.stage.proxies.append(bench.opid)
    effects_of(bench, checks, "replay after a kill", 0, mode="replay", count=200, ids=200, prefix="t-",
               target=bench.opid.address, path="/bench/effects", connections=16, **STORED)


def ratios(bench):
    for title, (runs, _) in (("pass-through POST, 16 connections", scenarios.pass_through(bench, "pass-post", 16)),
                             ("first write, 16 connections", scenarios.first_write(bench, 16)),
                             ("known IDs, 16 connections", scenarios.known_ids(bench, 16))):
        print(title + " (too short to mean anything):")
        for name in runs:
            against = measure.ratio(runs, name, "nginx")
            run = runs[name][0]
            print(f"  {name:9} {run['requests_per_s']:9.0f} /s  p50 {run['p50_us']:7.0f} us  "
                  f"cpu {run['cpu_us']:6.1f} us" + (f"  {against:.2f} of nginx" if against else ""))


def run(bench):
    """True when all checks passed."""
    checks = Checks()
    tools_alone(bench, checks)
    rivals(bench, checks)
    if bench.opid:
        guarded(bench, checks)
        after_restart(bench, checks)
        print("idle tunnels:", memory.idle_tunnels(bench.opid, bench.upstream.address, 50, 0.2))
    tiny_tls.run(bench, checks)
    for process in bench.stage.proxies:
        print(f"idle connections, {process.name}:",
              memory.idle_connections(process, bench.upstream.address, 100, 0.2)["after_one_get"])
    ratios(bench)
    print(f"{len(checks.failed)} checks failed" + "".join(f"\n  {what}" for what in checks.failed))
    return not checks.failed
