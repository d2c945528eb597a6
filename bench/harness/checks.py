"""What the tiny run checks with: results beside what they should be, and the effects that the provider counted."""
import json
import urllib.request

from . import procs


class Checks:
    def __init__(self):
        self.failed = []

    def equal(self, what, got, wanted):
        good = got == wanted
        print(f"{'ok  ' if good else 'FAIL'} {what}: {got}" + ("" if good else f", expected {wanted}"))
        if not good:
            self.failed.append(what)


def counts(upstream):
    with urllib.request.urlopen(f"http://{upstream.address}/__count", timeout=5) as answer:
        return json.load(answer)


def effects_of(bench, checks, what, wanted, **load):
    """Runs a load to its end and checks that no answer was wrong and how many effects the provider saw."""
    before = counts(bench.upstream)["effects"]
    result = procs.load(bench.tools, **load)
    checks.equal(f"{what}: wrong answers", (result["errors"], result["samples"]), (0, []))
    checks.equal(f"{what}: effects", counts(bench.upstream)["effects"] - before, wanted)
    return result
