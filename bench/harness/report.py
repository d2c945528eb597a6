"""From runs to figures: a table of all arms, the goals with pass or miss, JSON lines for machines."""
import dataclasses
import json
import pathlib

from .measure import median, ratio

SHOWN = (("requests_per_s", "req/s", 0), ("p50_us", "p50 us", 0), ("p99_us", "p99 us", 0), ("p999_us", "p99.9 us", 0),
         ("cpu_us", "CPU us/req", 1), ("syncs_per_answer", "syncs/req", 3), ("errors", "errors", 0),
         ("foreign_cores", "foreign cores", 2))
HANDSHAKE_SHOWN = (*SHOWN[:5], ("tls_p50_us", "TLS p50 us", 0), ("tls_p99_us", "TLS p99 us", 0),
                   ("handshakes", "handshakes", 0), ("resumed", "resumed", 0), *SHOWN[6:])
BULK_SHOWN = (("mib_per_s", "MiB/s", 0), ("cpu_us", "CPU us/MiB", 0), *SHOWN[6:])


@dataclasses.dataclass(frozen=True)
class View:
    """How a scenario's table looks: the arm that the others are measured against, and the columns; the first is the
    figure of the ratios."""
    base: str = "nginx"
    shown: tuple = SHOWN


PLAIN, TLS = View(), View("squid bump")
HANDSHAKES, BULK = View("squid bump", HANDSHAKE_SHOWN), View("squid", BULK_SHOWN)


class Report:
    def __init__(self, out, meta, noise):
        self.out, self.meta, self.noise = pathlib.Path(out), meta, noise
        self.parts, self.goals, self.results = [], [], {}

    def lines(self, name, records):
        path = self.out / f"{name}.json"
        path.write_text("".join(json.dumps({"scenario": name, **record, **self.meta}) + "\n" for record in records))

    def scenario(self, name, title, runs, probes, view=PLAIN):
        """Notes the runs of a scenario, prints its table and writes its JSON lines: one a run."""
        self.results[name] = runs
        self.lines(name, [run for arm in runs.values() for run in arm] + [{"arm": "disk", **probe} for probe in probes])
        base = view.base if runs.get(view.base) else None
        rows = [["", f"of {view.base}", *(label for _, label, _ in view.shown)]]
        for arm, samples in runs.items():
            against = ratio(runs, arm, base, view.shown[0][0]) if base else None
            row = [arm, f"{against:.2f}" if against else "-"]
            for field, _, digits in view.shown:
                value = median(samples, field)
                row.append("-" if value is None else f"{value:.{digits}f}")
            rows.append(row)
        text = f"### {title}\n\n" + table(rows)
        if probes:
            text += f"\nDisk: fdatasync {probes[0]['rate']} /s, p50 {probes[0]['p50_us']} us at the start.\n"
        self.note(text)

    def memory(self, name, title, found):
        """Notes what an idle connection takes in two states, anonymous memory first, and writes the JSON lines."""
        self.lines(name, [{"arm": arm, **figures} for arm, figures in found.items()])
        rows = [["KiB each", "idle: fresh", "idle: used once"]]
        for arm, figures in found.items():
            rows.append([arm, *(f"{part['anon_kib']} (rss {part['rss_kib']})" for part in list(figures.values())[:2])])
        self.note(f"### {title}\n\n" + table(rows))

    def note(self, text):
        print(text, flush=True)
        self.parts.append(text)

    def goal(self, name, goal, value, good, text=None):
        """value None: not measured."""
        verdict = "not measured" if value is None else "pass" if good(value) else "MISS"
        self.goals.append([name, goal, "-" if value is None else text or f"{value:.2f}", verdict])

    def finish(self):
        text = "## Goals\n\n" + table([["figure", "goal", "measured", ""], *self.goals])
        noisy = [f"{scenario}/{arm}" for scenario, runs in self.results.items() for arm, samples in runs.items()
                 if (median(samples, "foreign_cores") or 0) > self.noise]
        if noisy:
            text += f"\nMeasured while other processes used the machine, so take with care: {', '.join(noisy)}.\n"
        wrong = [f"{scenario}/{arm}" for scenario, runs in self.results.items() for arm, samples in runs.items()
                 if any(run["errors"] for run in samples)]
        if wrong:
            text += "\nWRONG ANSWERS, so the figures of these count for nothing (samples in the JSON): "
            text += ", ".join(wrong) + ".\n"
        self.note(text)
        self.lines("goals", [dict(zip(("figure", "goal", "measured", "verdict"), row)) for row in self.goals])
        (self.out / "report.md").write_text(
            "\n".join([f"# Benchmark, {self.meta['date']}\n", f"`{json.dumps(self.meta)}`\n", *self.parts]))


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def pass_goals(report):
    for mode, word in (("pass-get", "GET"), ("pass-post", "POST")):
        runs = report.results.get(f"{mode}-64", {})
        for rival in ("nginx", "haproxy"):
            report.goal(f"pass-through {word}, 64 connections, of {rival}", ">= 0.95", ratio(runs, "opid", rival),
                        lambda value: value >= 0.95)


def write_goals(report, probes, syncs):
    runs = report.results.get("write-64", {})
    writes = runs.get("write", [])
    report.goal("first write, 64 connections, of nginx's plain POST", ">= 0.50", ratio(runs, "write", "nginx"),
                lambda value: value >= 0.50)
    report.goal("first write, CPU us", "<= 35", median(writes, "cpu_us"), lambda value: value <= 35)
    single = report.results.get("write-1", {})
    own, plain = median(single.get("write", []), "p50_us"), median(single.get("nginx", []), "p50_us")
    disk = median(probes.get("write-1", []), "p50_us")
    known = own is not None and plain is not None and disk is not None
    report.goal("first write, 1 connection, p50 over nginx's, in fdatasync p50s", "<= 3",
                (own - plain) / disk if known else None, lambda value: value <= 3,
                f"{(own - plain) / disk:.2f} ({own:.0f} us; nginx {plain:.0f}, disk {disk:.0f})" if known else None)
    counted = median(writes, "syncs_per_answer")
    report.goal("syncs per first write, 64 connections", "<= 0.15", syncs if counted is None else counted,
                lambda value: value <= 0.15)


def known_goals(report):
    runs = report.results.get("known-64", {})
    report.goal("replay, 64 connections, of nginx's plain POST", ">= 1.50", ratio(runs, "replay", "nginx"),
                lambda value: value >= 1.5)
    joiners = runs.get("joiners", [])
    wrong = sum(run["rounds_wrong"] for run in joiners) if joiners else None
    report.goal("64 callers with one ID: rounds without exactly one first answer", "0", wrong, lambda value: value == 0,
                str(wrong))
    report.goal("64 callers with one ID, throughput of replay's", ">= 1", ratio(runs, "joiners", "replay"),
                lambda value: value >= 1)


def memory_goals(report, found):
    idle = found.get("opid", {}).get("after_one_get", {}).get("anon_kib")
    report.goal("KiB per idle connection", "<= 4", idle, lambda value: value <= 4)


def tunnel_memory_goals(report, found):
    tunnel = found.get("opid tunnel", {}).get("after_one_exchange", {}).get("anon_kib")
    report.goal("KiB per idle tunnel", "<= 8", tunnel, lambda value: value <= 8)


def tls_goals(report):
    """Handshakes are compared by CPU: a client's half of one costs as much as the proxy's, so load on one core can't
    ask for more than a fast proxy gives."""
    for mode, word in (("get", "GET"), ("post", "POST")):
        runs = report.results.get(f"tls-{mode}-64", {})
        rivals_goal(report, f"intercepted {word}, 64 connections",
                    {rival: ratio(runs, "opid", rival) for rival in ("mitmproxy", "squid bump")})
    runs = report.results.get("tls-handshakes", {})
    rivals_goal(report, "CONNECT, handshake and GET: requests for one second of CPU",
                {rival: ratio(runs, rival, "opid", "cpu_us") for rival in ("mitmproxy", "squid bump")})


def rivals_goal(report, figure, found):
    report.goal(f"{figure}, of mitmproxy", ">= 10", found["mitmproxy"], lambda value: value >= 10)
    report.goal(f"{figure}, of squid's ssl_bump", ">= 1.00", found["squid bump"], lambda value: value >= 1)


def bulk_goals(report):
    for direction, word in (("down", "one way"), ("both", "both ways")):
        runs = report.results.get(f"tunnel-bulk-{direction}", {})
        report.goal(f"blind tunnels, bytes {word}, of squid", ">= 0.90", ratio(runs, "opid", "squid", "mib_per_s"),
                    lambda value: value >= 0.9)


def flat_goals(report, sizes):
    """Flat: no look-up's p50 grows by more than a quarter from the smallest to a larger store. First writes are left
    out: their p50 is mostly the disk's."""
    for size in sizes[1:]:
        growth = {kind: found["p50_us"] / sizes[0]["look_ups"][kind]["p50_us"]
                  for kind, found in size["look_ups"].items()
                  if kind != "first write (absent ID)" and sizes[0]["look_ups"].get(kind, {}).get("p50_us")}
        worst = max(growth, key=growth.get) if growth else None
        report.goal(f"look-up p50 at {size['records']:,} of {sizes[0]['records']:,} records", "<= 1.25",
                    growth.get(worst), lambda value: value <= 1.25,
                    f"{growth[worst]:.2f} ({worst})" if worst else None)
    for size in sizes:
        report.goal(f"start-up at {size['records']:,} records, s", "<= 1", size["startup_s"], lambda value: value <= 1)
    if not sizes:
        report.goal("look-up p50 at 1 M and 10 M of 10 k records", "<= 1.25", None, bool)
        report.goal("start-up at 10 M records, s", "<= 1", None, bool)


def sweep_goal(report, found):
    quiet = median(found["runs"]["quiet"], "p99_us") if found and found["sweeps"] else None
    value = median(found["runs"]["sweeping"], "p99_us") / quiet - 1 if quiet else None
    report.goal("p99 of first writes added by sweeps", "<= 0.20", value, lambda added: added <= 0.2)
