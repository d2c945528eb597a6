#!/usr/bin/python3
"""Kills opid again and again while workers write, and then holds the books against what the workers were told.

    crash_loop.py           CRASH_ROUNDS (15) kills at random moments of CRASH_SEED (printed)
    crash_loop.py points    OPID_CRASH_BIN ends itself at each of its named points (OPID_CRASH_AT=POINT:N), one run each

What must hold: an operation that was answered replays the same bytes; the provider has at most one effect for each
operation, and one for each success; nothing stays in progress.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import outcomes                                                 # noqa: E402
import wire                                                     # noqa: E402
from opid import Opid, base_config, demo_profile                # noqa: E402
from provider import Provider                                   # noqa: E402

WORKERS = 4
SETTLED = {"succeeded", "failed", "unknown", "needs_review", "prepared", "cancelled"}


class Books:
    """The provider's side: effects by operation name, a key memory, and seeded misbehaviour."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lock = threading.Lock()
        self.effects = {}
        self.memory = {}
        self.provider = Provider(handler=self.handle)

    def handle(self, ex):
        ex.read_body()
        name = json.loads(ex.body)["op"]
        key = ex.headers.get("Idempotency-Key")
        with self.lock:
            mood = self.rng.random()
            known = key and self.memory.get(key)
            if not known:
                self.effects[name] = self.effects.get(name, 0) + 1
            body = known or json.dumps({"op": name, "effect": self.effects[name], "salt": self.rng.random()})
            if key:
                self.memory[key] = body
        if mood < 0.1:
            ex.rst()
            return
        time.sleep(mood * 0.05)     # the work takes its time, so that kills hit every phase
        ex.reply(201, {"Content-Type": "application/json"}, body)


def profiles(authority):
    keyed = {"provider": "keyed", "hosts": ["api.keyed.test"], "upstream": f"http://{authority}",
             "key": {"carrier": "header:Idempotency-Key", "window": {"for": "24h"}}}
    return [demo_profile(authority), keyed]


class Journal:
    """What the workers expect, on disk before they act on it: `pending` before the first send, `answered` after."""

    def __init__(self):
        fd, self.path = tempfile.mkstemp(prefix="opid-expected-", suffix=".jsonl")
        self.file = os.fdopen(fd, "w")
        self.lock = threading.Lock()
        self.pending, self.answered = {}, {}

    def note(self, what, op, value):
        with self.lock:
            getattr(self, what)[op] = value
            self.file.write(json.dumps([what, op,
                                        value if what == "pending" else [value[0],
                                                                         value[1].decode()]]) + "\n")
            self.file.flush()


class Loop:
    def __init__(self, seed, rounds):
        self.seed, self.rounds = seed, rounds
        self.rng = random.Random(seed)
        self.books = Books(seed + 1)
        self.journal = Journal()
        self.stop = threading.Event()
        self.up = threading.Event()
        self.bad = []
        config = base_config(timeouts={"upstream_response": "2s", "wait": "2s", "recovery": "2s"})
        self.opid = Opid(config, profiles(self.books.provider.authority))
        self.up.set()

    def call(self, op, where):
        body = json.dumps({"op": op})
        return self.opid.call("POST", f"/{where}/work",
                              {"Operation-Id": op, "Content-Type": "application/json"}, body, timeout=15)

    def worker(self, number):
        count = 0
        while not self.stop.is_set():
            count += 1
            op, where = f"w{number}-{count}", "keyed" if count % 2 else "demo"
            self.journal.note("pending", op, where)
            self.insist(op, where)

    def insist(self, op, where):
        """Retries with the same ID until the answer is final, as a caller would."""
        for _ in range(12):
            self.up.wait(30)
            try:
                r = self.call(op, where)
            except (OSError, wire.WireError):
                time.sleep(0.01)
                continue
            if r.broken:
                continue
            if r.problem is None and r.status // 100 == 2:
                self.journal.note("answered", op, (r.status, r.body))
                return
            if r.problem == "needs-review" or self.stop.is_set():
                return
            if r.problem not in ("outcome-unknown", "operation-in-progress", "not-sent", "store-unavailable",
                                 "overloaded"):
                self.bad.append(f"{op}: unexpected answer {r}")
                return

    def run(self):
        threads = [threading.Thread(target=self.worker, args=(n,), daemon=True) for n in range(WORKERS)]
        for thread in threads:
            thread.start()
        for _ in range(self.rounds):
            time.sleep(self.rng.uniform(0.02, 0.6))
            self.up.clear()
            self.opid.kill()
            self.opid.start()
            self.up.set()
        self.stop.set()
        for thread in threads:
            thread.join(120)
        self.verify()
        return self.bad

    def verify(self):
        print(f"{len(self.journal.pending)} operations, {len(self.journal.answered)} answered, "
              f"{sum(self.books.effects.values())} effects")
        self.opid.restart(hard=True)
        for op, count in self.books.effects.items():
            if count > 1:
                self.bad.append(f"{op}: {count} effects")
        for op, (status, body) in self.journal.answered.items():
            if self.books.effects.get(op, 0) != 1:
                self.bad.append(f"{op}: answered, but {self.books.effects.get(op, 0)} effects")
            r = self.call(op, self.journal.pending[op])
            if (r.status, r.body, r.replayed) != (status, body, True):
                self.bad.append(f"{op}: was answered {status} {body!r}, is now {r}")
        for op in self.journal.pending:
            found = self.opid.status(op)
            if found is None and (op in self.books.effects or op in self.journal.answered):
                self.bad.append(f"{op}: has an effect and is not known")
            if found is not None and found not in SETTLED:
                self.bad.append(f"{op}: is {found} after everything")
        if not self.journal.answered:
            self.bad.append("nothing was ever answered")


def random_kills():
    seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 30)))
    rounds = int(os.environ.get("CRASH_ROUNDS", "15"))
    print(f"CRASH_SEED={seed} CRASH_ROUNDS={rounds}", flush=True)
    loop = Loop(seed, rounds)
    try:
        bad = loop.run()
        if bad:
            loop.opid.show_log()
            print(f"expected state: {loop.journal.path}")
        else:
            os.unlink(loop.journal.path)
        return bad
    finally:
        loop.books.provider.close()
        loop.opid.kill()
        loop.opid.close()


def crash_points(binary):
    done = subprocess.run([binary], env={**os.environ, "OPID_CRASH_LIST": "1"}, capture_output=True,
                          text=True, timeout=30)
    return done.stdout.split()


# Points after which a retry must find the outcome, and points before which nothing may have left.
RECORDED = ("after-outcome-commit", "before-answer", "after-answer")
UNTOUCHED = ("before-claim-commit",)


def crash_at(binary, point, where):
    """One operation, the process dies at `point`, a new process takes over; the complaints."""
    books = Books(1)
    books.rng.random = lambda: 0.5
    bad, op = [], f"{where}-{point}"
    process = Opid(base_config(), profiles(books.provider.authority), binary=binary, start=False)
    body = json.dumps({"op": op})

    def call():
        return process.call("POST", f"/{where}/work",
                            {"Operation-Id": op, "Content-Type": "application/json"}, body)

    try:
        process.start({"OPID_CRASH_AT": f"{point}:1"})
        try:
            call()
        except (OSError, wire.WireError):
            pass
        try:
            process.process.wait(15)
        except subprocess.TimeoutExpired:
            return [f"{point}: the process did not end there"]
        sent = books.effects.get(op, 0)
        process.start()
        if point in UNTOUCHED and sent:
            bad.append(f"{point}: the provider has {sent} effects already")
        r = call()
        if point in RECORDED:
            wanted = "REPLAY 201"
        elif point in UNTOUCHED:
            wanted = "PASS 201"
        else:
            wanted = {"any_of": ["DONE 201", "UNKNOWN"]} if where == "keyed" else "UNKNOWN"
        bad += [f"{point}: {t}" for t in outcomes.check_any(r, wanted, op)]
        if books.effects.get(op, 0) > 1:
            bad.append(f"{point}: {books.effects[op]} effects")
        if process.status(op) == "in_progress":
            bad.append(f"{point}: still in progress")
        return bad
    finally:
        books.provider.close()
        process.kill()
        process.close(show=bool(bad))


def named_points():
    binary = os.environ.get("OPID_CRASH_BIN")
    if not binary:
        print("skipped: crash points need OPID_CRASH_BIN")
        return []
    bad, points = [], crash_points(binary)
    if not points:
        return ["the crash binary names no points"]
    for point in points:
        for where in ("demo", "keyed"):
            found = crash_at(binary, point, where)
            print(f"{'failed' if found else 'passed'}: {point} {where}", flush=True)
            bad += found
    return bad


def main():
    bad = named_points() if sys.argv[1:] == ["points"] else random_kills()
    for text in bad[:30]:
        print("failed:", text)
    print("crash loop:", "failed" if bad else "passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
