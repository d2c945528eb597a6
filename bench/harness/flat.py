"""Flatness: start-up time and look-up latency at growing numbers of records.

`opid_fill --directory DIR --records N` makes the records and measures the store by itself: opening it, look-ups of
present and of absent keys all over it, the first page of a listing. Then opid starts on it and is asked."""
import json
import shutil
import statistics
import subprocess
import time

from . import procs, scenarios

CONNECTIONS = 16
OWN_IDS = 2000


def fill(tool, data, records, timeout):
    begun = time.monotonic()
    done = subprocess.run([str(tool), "--directory", str(data), "--records", str(records)], capture_output=True, text=True,
                          timeout=timeout)
    if done.returncode != 0:
        raise procs.BenchError(f"opid_fill: {done.stderr[-500:]}")
    told = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            told.update(json.loads(line))
    return told, time.monotonic() - begun


def start_ups(bench, folder, data, times):
    """Start-up seconds, each after a kill, so that the log of the store is replayed; the last one stays up."""
    seconds = []
    for turn in range(times):
        process = procs.start_opid(folder, bench.upstream.address, data)
        seconds.append(round(process.startup_seconds, 3))
        if turn + 1 < times:
            process.kill()
    return process, seconds


def ask(bench, process, mode, **options):
    result = procs.load(bench.tools, process.address if mode != "lookup" else process.admin, mode,
                        connections=CONNECTIONS, duration=bench.settings.seconds, warmup=0.3, **options)
    return {key: result[key] for key in ("requests_per_s", "p50_us", "p99_us", "count", "errors", "status", "samples")}


def look_ups(bench, process):
    guarded = {"path": "/bench/effects"}
    found = {"replay": ask(bench, process, "replay", prefix="own-", ids=OWN_IDS, shuffle=1, **guarded,
                           **scenarios.STORED),
             "first write (absent ID)": ask(bench, process, "write", prefix=bench.stage.fresh_prefix(), **guarded,
                                            **scenarios.FIRST)}
    if process.admin:
        header = f"Authorization: Bearer {scenarios.admin_token(process)}"
        found["absent ID, admin API"] = ask(bench, process, "lookup", prefix="absent-", ids=10**11, shuffle=1,
                                            path="/v1/operations/{id}", header=header, expect="404")
    return found


def store_line(told):
    """The store's own figures, without a proxy around it, in words."""
    return (f"The store alone: opened in {told['start_ms']:.0f} ms with {told['open']} open operations; look-up of a "
            f"present key p50 {told['present_p50_us']:.0f} us, p99 {told['present_p99_us']:.0f} us, of an absent one "
            f"p50 {told['absent_p50_us']:.1f} us, p99 {told['absent_p99_us']:.1f} us; first page {told['page_ms']} ms, "
            f"{told['wrong']} wrong answers.\n")


def measure(bench, records, timeout=3600):
    """None without the tool or the proxy."""
    tool = bench.tools / "opid_fill"
    if not tool.exists() or not bench.opid:
        return None
    folder = bench.folder / f"flat-{records}"
    folder.mkdir()
    data = folder / "data"
    told, seconds = fill(tool, data, records, timeout)
    process = procs.start_opid(folder, bench.upstream.address, data)
    procs.load(bench.tools, process.address, "write", connections=CONNECTIONS, count=OWN_IDS, prefix="own-",
               path="/bench/effects", **scenarios.FIRST)
    process.stop()
    process, startups = start_ups(bench, folder, data, 3)
    try:
        found = look_ups(bench, process)
        resident = process.memory()[0]
    finally:
        process.stop()
    shutil.rmtree(data)
    return {"records": records, "fill_s": round(seconds, 1), "startup_s": statistics.median(startups),
            "startups_s": startups, "rss_kib": resident, "look_ups": found, "store": told}
