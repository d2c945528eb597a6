#!/usr/bin/python3
"""Runs the scenarios: run_scenarios.py [FILTER] [--jobs N] [--files PATH...]

FILTER: a part of `id`, kind or file name. PATH: YAML files, or Markdown files with yaml blocks in the same format
(default: tests/scenarios/*.yaml). Ends with "N passed, N failed"; exit code 1 if anything failed.
"""
import argparse
import glob
import multiprocessing
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import scenario as scenarios                        # noqa: E402
from scenario_run import Run                        # noqa: E402
from scenario_steps import NotBuilt                 # noqa: E402

DEFAULT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios", "*.yaml")


def run_one(variant):
    """(name, 'passed' | 'failed' | 'skipped', complaints)"""
    try:
        if variant.get("skip"):
            raise NotBuilt(variant["skip"])
        for step in variant["steps"]:
            do = step.get("do")
            if do and not hasattr(Run, "do_" + do):
                raise NotBuilt(f"step `{do}` is not built yet")
        bad = Run(variant).run()
        return variant["name"], "failed" if bad else "passed", bad
    except NotBuilt as e:
        return variant["name"], "skipped", [str(e)]
    except BaseException:
        return variant["name"], "failed", [traceback.format_exc()]


def run_all(paths=None, pattern="", jobs=3):
    """Prints one line for each variant; the counts (passed, failed, skipped)."""
    variants = []
    for path in paths or sorted(glob.glob(DEFAULT)):
        for s in scenarios.load(path):
            if pattern in f"{s['id']} {s.get('kind', '')} {s['file']}":
                variants += scenarios.unfold(s)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with multiprocessing.Pool(min(jobs, max(1, len(variants))), maxtasksperchild=20) as pool:
        for name, result, texts in pool.imap_unordered(run_one, variants):
            counts[result] += 1
            if result != "passed" or os.environ.get("VERBOSE"):
                print(f"{result}: {name}" + "".join(f"\n    {t}" for t in texts), flush=True)
    return counts


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("filter", nargs="?", default="")
    arguments.add_argument("--jobs", type=int, default=int(os.environ.get("SCENARIO_JOBS", "3")))
    arguments.add_argument("--files", nargs="+")
    options = arguments.parse_args()
    counts = run_all(options.files, options.filter, options.jobs)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
