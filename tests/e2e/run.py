#!/usr/bin/python3
"""All acceptance tests against a real binary: run.py [PATTERN] (a part of a file name, of `scenarios`, or of `crash`).

OPID_BIN names the binary (default build/dev/proxy/opid). E2E_JOBS files run side by side (default 2). The last line is
"N passed, N failed"; skipped tests are listed before it.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import run_scenarios        # noqa: E402
from opid import BINARY     # noqa: E402


def run_module(name):
    """Runs one test file in this process; the last line of stdout is its result as JSON."""
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=1).run(suite)
    failed = set()
    for case, _ in result.failures + result.errors:
        failed.add(getattr(case, "test_case", case).id())
    skipped = [f"{case.id()}: {reason}" for case, reason in result.skipped]
    print(json.dumps({"failed": sorted(failed), "skipped": skipped,
                      "passed": max(0, result.testsRun - len(failed) - len(skipped))}))


def run_file(name):
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--module", name], cwd=HERE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _, last = done.stdout.rstrip("\n").rpartition("\n")
    try:
        result = json.loads(last)
    except ValueError:
        output, result = done.stdout, {"failed": [f"{name}: did not run to its end"], "skipped": [],
                                       "passed": 0}
    return name, output, result


def main():
    if sys.argv[1:2] == ["--module"]:
        run_module(sys.argv[2])
        return 0
    if not os.access(BINARY, os.X_OK):
        print(f"there is no {BINARY}; build opid or set OPID_BIN")
        return 2
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    names = [os.path.basename(p)[:-3] for p in sorted(glob.glob(os.path.join(HERE, "test_*.py")))]
    names = [n for n in names if pattern in n]
    passed, failed, skipped = 0, [], []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("E2E_JOBS", "2"))) as pool:
        for name, output, result in pool.map(run_file, names):
            passed += result["passed"]
            failed += result["failed"]
            skipped += result["skipped"]
            print(f"{name}: {result['passed']} passed, {len(result['failed'])} failed", flush=True)
            if result["failed"]:
                print(output, flush=True)
    if pattern in "scenarios" or not names:
        counts = run_scenarios.run_all(pattern="" if pattern in "scenarios" else pattern)
        print(f"scenarios: {counts['passed']} passed, {counts['failed']} failed", flush=True)
        passed += counts["passed"]
        failed += ["scenarios"] * counts["failed"]
        skipped += ["scenario"] * counts["skipped"]
    if pattern in "crash":
        for mode in ([], ["points"]):
            code = subprocess.run([sys.executable, os.path.join(HERE, "crash_loop.py"), *mode]).returncode
            if code:
                failed.append("crash_loop " + " ".join(mode))
            else:
                passed += 1
    for text in sorted(set(skipped)):
        print(f"skipped: {text} ({skipped.count(text)})")
    for text in sorted(set(failed)):
        print(f"failed: {text} ({failed.count(text)})")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
