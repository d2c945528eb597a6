#!/usr/bin/env python3
"""The house rules as tests. `tidy.py` runs all of them, `tidy.py layers bans` some, `tidy.py self` tests the checks."""
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import bans
import coroutines
import docs
import layers
import lengths
from source import Tree

CHECKS = {"layers": layers.check, "bans": bans.check, "coroutines": coroutines.check, "lengths": lengths.check,
          "docs": docs.check}


def self_test():
    import tidy_test
    suite = unittest.defaultTestLoader.loadTestsFromModule(tidy_test)
    return unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful()


def main(names):
    unknown = [name for name in names if name not in CHECKS and name != "self"]
    if unknown:
        sys.exit(f"tidy: no check {' '.join(unknown)}; there are: self {' '.join(CHECKS)}")
    good = True
    if not names or "self" in names:
        good = self_test()
    tree = Tree(HERE.parent.parent)
    for name, check in CHECKS.items():
        if names and name not in names:
            continue
        started = time.monotonic()
        findings = sorted(check(tree), key=lambda finding: (finding.path, finding.line))
        for finding in findings:
            print(finding)
        print(f"tidy {name}: {len(findings)} findings in {time.monotonic() - started:.1f} s")
        good = good and not findings
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
