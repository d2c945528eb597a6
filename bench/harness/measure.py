"""Measuring: one run with its CPU, its noise and its syncs; interleaved rounds; the disk's own rate."""
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import time
import urllib.request

from . import procs


@dataclasses.dataclass
class Arm:
    """One thing to measure in a scenario: who answers, and with what load. An option `target` names another of its
    addresses; an option that can be called is asked anew for each run."""
    name: str
    process: procs.Process
    mode: str
    connections: int
    options: dict = dataclasses.field(default_factory=dict)


class Stage:
    """All processes of a run, and where they may compute."""

    def __init__(self, tools, upstream, proxies):
        self.tools, self.upstream, self.proxies = tools, upstream, proxies
        self.load_cores = None
        self.serial = 0

    def pin(self, pinned):
        """Pinned: proxies on the first core, upstream and load on the last. Else everybody everywhere."""
        pinned = pinned and len(procs.CORES) > 1
        for process in self.proxies:
            process.pin(procs.CORES[:1] if pinned else procs.CORES)
        self.load_cores = procs.CORES[-1:] if pinned else procs.CORES
        self.upstream.pin(self.load_cores)

    def fresh_prefix(self):
        self.serial += 1
        return f"w{os.getpid()}-{self.serial}-"

    def own_cpu(self):
        own = os.times()
        return own.user + own.system + sum(process.cpu() for process in [self.upstream, *self.proxies])


def machine_cpu():
    """Busy seconds of all cores since boot, what the hypervisor took included."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / procs.TICK


def metric(process, name):
    """The sum of a counter of opid's, or None."""
    if not process.admin:
        return None
    try:
        with urllib.request.urlopen(f"http://{process.admin}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except OSError:
        return None
    values = re.findall(rf"^{name}(?:\{{[^}}]*\}})? ([0-9.eE+]+)$", text, re.M)
    return sum(map(float, values)) if values else None


COUNTERS = {"syncs": "opid_store_syncs_total", "commits": "opid_store_commits_total"}


def counters(process):
    return {key: metric(process, name) for key, name in COUNTERS.items()} if process.name == "opid" else {}


def run_once(stage, arm, seconds, warmup):
    options = {key: value() if callable(value) else value for key, value in arm.options.items()}
    counted = counters(arm.process)
    proxy_cpu, own_cpu, machine, begun = arm.process.cpu(), stage.own_cpu(), machine_cpu(), time.monotonic()
    target = options.pop("target", arm.process.address)
    result = procs.load(stage.tools, target, arm.mode, stage.load_cores, connections=arm.connections,
                        duration=seconds, warmup=warmup, **options)
    wall = time.monotonic() - begun
    proxy_cpu = arm.process.cpu() - proxy_cpu
    ours = stage.own_cpu() - own_cpu + result["load_cpu_s"]
    result["foreign_cores"] = round(max(0.0, machine_cpu() - machine - ours) / wall, 3)
    result["cpu_us"] = round(proxy_cpu * 1e6 / max(1, result["answered"]), 2)
    result["arm"] = arm.name
    for key, before in counted.items():
        after = counters(arm.process)[key]
        if before is not None and after is not None:
            result[key] = after - before
            result[key + "_per_answer"] = round((after - before) / max(1, result["answered"]), 4)
    return result


def quiet_run(stage, arm, seconds, warmup, noise_max, retries):
    """Repeats while others used more than noise_max cores; the quietest run counts."""
    best = None
    for _ in range(retries + 1):
        result = run_once(stage, arm, seconds, warmup)
        if best is None or result["foreign_cores"] < best["foreign_cores"]:
            best = result
        if best["foreign_cores"] <= noise_max:
            break
    return best


def rounds(stage, arms, settings, probe=None):
    """Interleaved rounds A, B, C, A, B, C; returns ({arm: [run, ...]}, [disk probe, ...])."""
    runs, probes = {arm.name: [] for arm in arms}, []
    for _ in range(settings.rounds):
        if probe:
            probes.append(disk_probe(probe, settings.probe_seconds))
        for arm in arms:
            runs[arm.name].append(quiet_run(stage, arm, settings.seconds, settings.warmup, settings.noise,
                                            settings.retries))
    return runs, probes


def median(runs, field):
    values = [run[field] for run in runs if run.get(field) is not None]
    return statistics.median(values) if values else None


def ratio(results, arm, base, field="requests_per_s"):
    """Median of the ratios within each round: what the minutes did to both cancels out."""
    if not results.get(arm) or not results.get(base):
        return None
    return statistics.median(a[field] / b[field] if b[field] else 0 for a, b in zip(results[arm], results[base]))


def disk_probe(folder, seconds):
    """Append 1 KiB + fdatasync, one writer: {rate, p50_us, p99_us}."""
    path = pathlib.Path(folder) / "fdatasync.probe"
    block, times = os.urandom(1024), []
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_TRUNC, 0o600)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        os.write(file, block)
        os.fdatasync(file)
        times.append(time.perf_counter() - begun)
    os.close(file)
    path.unlink()
    times.sort()
    return {"rate": round(len(times) / seconds), "p50_us": round(times[len(times) // 2] * 1e6, 1),
            "p99_us": round(times[len(times) * 99 // 100] * 1e6, 1)}


def strace_syncs(stage, arm, seconds):
    """Syncs per answer by strace, where opid has no counter. The rate of such a run means nothing."""
    log = pathlib.Path(arm.process.log).with_name("strace.txt")
    try:
        tracer = subprocess.Popen(["strace", "-f", "-c", "-e", "trace=fdatasync,fsync,sync_file_range", "-o", str(log),
                                   "-p", str(arm.process.pid)], stderr=subprocess.DEVNULL)
    except OSError:
        return None
    time.sleep(0.5)
    result = run_once(stage, arm, seconds, 0)
    tracer.terminate()
    tracer.wait()
    calls = sum(int(line.split()[3]) for line in log.read_text().splitlines()
                if line.split() and line.split()[-1] in ("fdatasync", "fsync"))
    return round(calls / max(1, result["answered"]), 4)
