"""The scenarios of the full run. Each returns the runs of its arms; report.py turns them into figures and goals."""
import pathlib
import threading
import time
import urllib.request

from . import certificates, measure, memory, procs
from .measure import Arm

REPLAY_IDS = 10000
FIRST = {"expect_replayed": "no", "expect_operation": "succeeded"}
STORED = {"expect_replayed": "yes", "expect_operation": "succeeded"}


class Bench:
    """Upstream and all proxies, started once; the scenarios share them."""

    def __init__(self, tools, folder, settings):
        self.tools, self.folder, self.settings = tools, folder, settings
        self.seeded, self.rival_problems = False, None  # None: squid and mitmproxy were not asked for yet
        made = certificates.make(folder)
        self.upstream = procs.start_upstream(tools, folder, "--track-keys", int(settings.tiny), "--bulk", 1,
                                             "--tls-chain", made.chain, "--tls-key", made.key)
        self.secure = procs.Secure(self.upstream.tls, made)
        self.nginx = self.haproxy = self.opid = self.squid = self.mitmproxy = None
        self.stage = measure.Stage(tools, self.upstream, [])
        try:
            self.nginx = self.enter(procs.start_nginx)
            self.haproxy = self.enter(procs.start_haproxy)
            self.opid = self.enter(procs.start_opid, secure=self.secure)
        except BaseException:
            self.stop()
            raise

    def enter(self, start, **options):
        process = start(self.folder, self.upstream.address, **options)
        if process:
            self.stage.proxies.append(process)
        return process

    def stop(self):
        for process in [*self.stage.proxies, self.upstream]:
            process.stop()

    def seed_replays(self):
        if self.opid and not self.seeded:
            done = procs.load(self.tools, self.opid.address, "write", connections=64, count=REPLAY_IDS, prefix="rep-",
                              path="/bench/effects", **FIRST)
            if done["errors"]:
                raise procs.BenchError(f"first writes went wrong: {done['samples']}")
            self.seeded = True

    def guarded(self, name, mode, connections, **options):
        options = {"path": "/bench/effects", **options}
        return Arm(name, self.opid, mode, connections, options)

    def plain(self, process, mode, connections):
        options = {"absolute": self.upstream.address, "expect_operation": "none"} if process is self.opid else {}
        return Arm(process.name, process, mode, connections, options)


def pass_through(bench, mode, connections):
    """nginx, haproxy, opid (forward proxy, a host without a profile), and no proxy at all for scale."""
    bench.stage.pin(bench.settings.pin != "never")
    arms = [bench.plain(process, mode, connections) for process in (bench.nginx, bench.haproxy, bench.opid) if process]
    direct = Arm("direct", bench.upstream, mode, connections)
    return measure.rounds(bench.stage, [*arms, direct], bench.settings)


def first_write(bench, connections):
    """nginx's plain POST beside opid's guarded first write."""
    bench.stage.pin(bench.settings.pin == "always")
    arms = [bench.plain(bench.nginx, "pass-post", connections)] if bench.nginx else []
    if bench.opid:
        arms.append(bench.guarded("write", "write", connections, prefix=bench.stage.fresh_prefix, **FIRST))
    return measure.rounds(bench.stage, arms, bench.settings, probe=bench.folder)


def known_ids(bench, connections):
    """Replay, mismatch and joiners beside nginx's plain POST."""
    bench.stage.pin(bench.settings.pin == "always")
    bench.seed_replays()
    arms = [bench.plain(bench.nginx, "pass-post", connections)] if bench.nginx else []
    if bench.opid:
        among = {"prefix": "rep-", "ids": REPLAY_IDS}
        arms += [bench.guarded("replay", "replay", connections, **among, **STORED),
                 bench.guarded("mismatch", "mismatch", connections, **among),
                 bench.guarded("joiners", "joiners", connections, prefix=bench.stage.fresh_prefix,
                               expect_operation="succeeded")]
    return measure.rounds(bench.stage, arms, bench.settings)


def syncs(bench):
    """Syncs per guarded write at 64 connections by strace, only where opid's own counter is missing."""
    if not bench.opid or measure.metric(bench.opid, measure.COUNTERS["syncs"]) is not None:
        return None
    bench.stage.pin(False)
    arm = bench.guarded("write", "write", 64, prefix=bench.stage.fresh_prefix, **FIRST)
    return measure.strace_syncs(bench.stage, arm, bench.settings.seconds)


def sweep(bench):
    """p99 of first writes at 64 connections, without and with a sweep asked for every 50 ms."""
    if not bench.opid or not bench.opid.admin:
        return None
    token = admin_token(bench.opid)
    answers = []

    def ask(stop):
        while not stop.wait(0.05):
            request = urllib.request.Request(f"http://{bench.opid.admin}/v1/store/sweep", method="POST", data=b"",
                                             headers={"Authorization": f"Bearer {token}"})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    answers.append(answer.status)
            except OSError as error:
                answers.append(getattr(error, "code", str(error)))

    bench.stage.pin(False)
    arm = bench.guarded("write", "write", 64, prefix=bench.stage.fresh_prefix, **FIRST)
    runs = {"quiet": [], "sweeping": []}
    for _ in range(bench.settings.rounds):
        runs["quiet"].append(measure.run_once(bench.stage, arm, bench.settings.seconds, bench.settings.warmup))
        stop = threading.Event()
        thread = threading.Thread(target=ask, args=(stop,))
        thread.start()
        runs["sweeping"].append(measure.run_once(bench.stage, arm, bench.settings.seconds, bench.settings.warmup))
        stop.set()
        thread.join()
    good = [status for status in answers if isinstance(status, int) and 200 <= status < 300]
    return {"runs": runs, "sweeps": len(good), "refused": len(answers) - len(good), "sample": str(answers[:1])}


def admin_token(process):
    try:
        return (process.data / "admin.token").read_text().strip()
    except OSError:
        return ""


def memory_per_connection(bench, count, settle=memory.SETTLE):
    """Fresh processes, so that no heap left over from load hides the growth."""
    results = {}
    for name, start in (("nginx", procs.start_nginx), ("haproxy", procs.start_haproxy), ("opid", procs.start_opid)):
        folder = bench.folder / f"memory-{name}"
        folder.mkdir()
        process = start(folder, bench.upstream.address)
        if not process:
            continue
        try:
            results[name] = memory.idle_connections(process, bench.upstream.address, count, settle)
        finally:
            process.stop()
    return results


def resident_under_load(bench):
    return {process.name: process.memory()[0] for process in bench.stage.proxies}


def scratch(out):
    folder = pathlib.Path(out) / f"run-{time.strftime('%H%M%S')}"
    number = 0
    while folder.exists():
        number += 1
        folder = folder.with_name(f"{folder.name}-{number}")
    folder.mkdir(parents=True)
    return folder
