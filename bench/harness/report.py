"""From runs to figures: a table of all arms, the goals with pass or miss, JSON lines for machines."""
import json
import pathlib

from .measure import median, ratio

SHOWN = (("requests_per_s", "req/s", 0), ("p50_us", "p50 us", 0), ("p99_us", "p99 us", 0), ("p999_us", "p99.9 us", 0),
         ("cpu_us", "CPU us/req", 1), ("syncs_per_answer", "syncs/req", 3), ("errors", "errors", 0),
         ("foreign_cores", "foreign cores", 2))


class Report:
    def __init__(self, out, meta, noise):
        self.out, self.meta, self.noise = pathlib.Path(out), meta, noise
        self.parts, self.goals, self.results = [], [], {}

    def lines(self, name, records):
        path = self.out / f"{name}.json"
        path.write_text("".join(json.dumps({"scenario": name, **record, **self.meta}) + "\n" for record in records))

    def scenario(self, name, title, runs, probes):
        """Notes the runs of a scenario, prints its table and writes its JSON lines: one a run."""
        self.results[name] = runs
        self.lines(name, [run for arm in runs.values() for run in arm] + [{"arm": "disk", **probe} for probe in probes])
        base = "nginx" if runs.get("nginx") else None
        rows = [["", "of nginx", *(label for _, label, _ in SHOWN)]]
        for arm, samples in runs.items():
            against = ratio(runs, arm, base) if base else None
            row = [arm, f"{against:.2f}" if against else "-"]
            for field, _, digits in SHOWN:
                value = median(samples, field)
                row.append("-" if value is None else f"{value:.{digits}f}")
            rows.append(row)
        text = f"### {title}\n\n" + table(rows)
        if probes:
            text += f"\nDisk: fdatasync {probes[0]['rate']} /s, p50 {probes[0]['p50_us']} us at the start.\n"
        self.note(text)

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
    tunnel = found.get("opid tunnel", {}).get("after_one_exchange", {}).get("anon_kib")
    report.goal("KiB per idle connection", "<= 4", idle, lambda value: value <= 4)
    report.goal("KiB per idle tunnel", "<= 8", tunnel, lambda value: value <= 8)


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
