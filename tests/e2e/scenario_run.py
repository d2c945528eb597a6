"""Runs one scenario variant: its own opid, its own fake provider, steps in order, then the accounts."""
import gzip
import threading
import time

import client
import outcomes
import wire
from listener import TestCa
from opid import Opid
from provider import Provider
from scenario import Setup
from scenario_checks import account_check, differences, multipart, seen
from scenario_steps import OtherSteps

# Words of a status query that a scenario may use beside opid's own status words.
STATES = {
    "done": ("succeeded", "failed", "gone"),
    "unknown": ("unknown", "needs_review"),
    "open": ("prepared", "failed"),
    "busy": ("in_progress",),
}


class Run(OtherSteps):
    def __init__(self, scenario):
        self.scenario = scenario
        self.bad = []
        self.answers = {}           # step number -> [Response or None]
        self.attempts_of = {}       # step number -> Exchanges that it caused (steps without at_ms)
        self.threads = []
        self.ca = None

    def complain(self, where, texts):
        self.bad += [f"{where}: {t}" for t in texts]

    # -- the whole

    def run(self):
        s = self.scenario
        probe = Setup(s, "127.0.0.1:1", "none")
        if probe.tls:
            self.ca = TestCa()
        tls = self.ca.context(*probe.hosts.values(), "127.0.0.1") if probe.tls else None
        faulty = any(step.get("do") == "store" for step in s["steps"])
        self.provider = Provider(mode=s.get("mode", "plain"), key=probe.carrier, result=s.get("keyed_result"),
                                 tls=tls)
        try:
            self.setup = Setup(s, self.provider.authority, self.ca and self.ca.ca_file)
            with Opid(self.setup.config, self.setup.profiles, env=self.setup.env, faults=faulty) as self.opid:
                self.steps()
                self.accounts()
                if self.bad:
                    self.opid.show_log(30)
        finally:
            self.provider.close()
        return self.bad

    def steps(self):
        started = time.monotonic()
        numbered = [(step.get("n", i), self.resolved(step)) for i,
                    step in enumerate(self.scenario["steps"], 1)]
        for number, step in numbered:
            if "at_ms" in step:
                time.sleep(max(0.0, started + step["at_ms"] / 1000 - time.monotonic()))
            if "do" in step:
                self.act(number, step)
            else:
                self.request(number, step)
        for thread in self.threads:
            thread.join(60)
        for number, step in numbered:
            if "do" not in step:
                self.judge(number, step)
        self.accept(numbered)

    def resolved(self, step):
        """The step with everything that it takes over from the one it repeats."""
        if "same_as" not in step:
            return step
        base = next(s for i, s in enumerate(self.scenario["steps"], 1) if s.get("n", i) == step["same_as"])
        kept = {k: v for k, v in self.resolved(base).items() if k in (
            "op", "ops_raw", "req", "host", "to", "via", "type", "headers", "headers_raw", "body", "json",
            "body_gen",
            "tenant", "id_header", "op_as", "gzip", "chunks", "dialect", "wait", "trailers")}
        return {**kept, **step}

    # -- requests

    def body_of(self, step):
        if "body_gen" in step:
            return multipart(step["body_gen"]["multipart"])
        if "body_bytes" in step:
            return b'{"pad":"' + b"x" * (step["body_bytes"] - 10) + b'"}'
        body = outcomes.as_json(step["json"]) if step.get("json") is not None else step.get("body")
        return None if body is None else wire.as_bytes(body)

    def bytes_of(self, step):
        method, path = step["req"].split(" ", 1)
        name = self.setup.provider_of(step)
        forward = step.get("via") == "forward"
        host = self.setup.hosts[name] if forward else "opid.test"
        target = f"http://{host}{path}" if forward else f"/{name}{path}"
        pairs = [("Host", host)]
        pairs += self.identity(step)
        body = self.body_of(step)
        media = {"json": "application/json", "form": "application/x-www-form-urlencoded"}
        if step.get("type") or step.get("json") is not None:
            pairs.append(("Content-Type", media.get(step.get("type", "json"), step.get("type"))))
        if "body_gen" in step:
            pairs.append(("Content-Type",
                          f"multipart/form-data; boundary={step['body_gen']['multipart']['boundary']}"))
        pairs += list((step.get("headers") or {}).items())
        pairs += [tuple(p.strip() for p in line.split(":", 1)) for line in step.get("headers_raw") or []]
        if step.get("tenant"):
            pairs.append(("Proxy-Authorization", f"Bearer token-of-{step['tenant']}-0123456789abcdef"))
        if "wait" in step:
            pairs.append(("Operation-Wait", str(step["wait"])))
        if step.get("gzip"):
            body = gzip.compress(body, mtime=0, compresslevel=step["gzip"] if step["gzip"] > 1 else 6)
            pairs.append(("Content-Encoding", "gzip"))
        if step.get("expect_continue"):
            pairs.append(("Expect", "100-continue"))
        chunks = None
        if "chunks" in step:
            size = step["chunks"]
            chunks = [body[i:i + size] for i in range(0, len(body), size)]
        step["sent_body"] = body
        data = client.build(method, target, pairs, body, f"HTTP/{step.get('http', '1.1')}", None, chunks)
        if step.get("trailers"):
            lines = "".join(f"{n}: {v}\r\n" for n, v in step["trailers"].items())
            data = data[:-2] + lines.encode() + b"\r\n"
        return method, data

    def identity(self, step):
        if step.get("ops_raw"):
            return [tuple(p.strip() for p in line.split(":", 1)) for line in step["ops_raw"]]
        if step.get("op") is None:
            return []
        text = str(step["op"])
        return [(step.get("id_header", "Operation-Id"),
                 f'"{text}"' if step.get("op_as") == "quoted" else text)]

    def arm(self, step):
        """Tells the provider what this step's attempts find. True: nothing may listen while it runs."""
        overlapping = "at_ms" in step or step.get("background")
        script = step.get("upstream", step.get("upstream_if_sent"))
        keyed = script == "keyed" or script is None
        script = [] if keyed else script if isinstance(script, list) else [script]
        if script and script[0].get("then") == "refuse":
            self.refuse(script[0].get("how", "listen"))
            return True
        with self.provider.lock:
            if overlapping or any(t.is_alive() for t in self.threads):
                self.provider._script += [dict(x) for x in script]
                self.provider._keyed = self.provider._keyed or keyed
            else:
                each, after = step.get("upstream_each"), step.get("upstream_after")
                self.provider.script(None if keyed else script, each, after)
        return False

    def refuse(self, how):
        if how == "dns":
            self.opid.write_config(self.setup.config_without_names())
            self.opid.restart()
        elif how == "tls":
            self.provider.tls_broken = True
        else:
            self.provider.refuse()

    def heal(self, how):
        if how == "dns":
            self.opid.write_config(self.setup.config)
            self.opid.restart()
        self.provider.tls_broken = False
        self.provider.listen()

    def request(self, number, step):
        before = len(self.provider.attempts)
        refused = self.arm(step)
        answers = self.answers.setdefault(number, [])
        copies = step.get("count", 1)
        if "at_ms" in step or step.get("background") or copies > 1:
            threads = [threading.Thread(target=self.send, args=(step, answers),
                                        daemon=True) for _ in range(copies)]
            for thread in threads:
                thread.start()
            self.threads += threads
            if step.get("background"):
                wanted = before + (1 if step["background"] is True else step["background"])
                self.provider.wait_attempts(wanted)
            elif "at_ms" not in step:
                for thread in threads:
                    thread.join(60)
        else:
            self.send(step, answers)
        if refused:
            self.heal(step["upstream"][0].get("how"))
        if "at_ms" not in step and not step.get("background"):
            self.attempts_of[number] = self.provider.attempts[before:]
            self.leftover(number, step)
            self.check_state(number, step)

    def leftover(self, number, step):
        if not step.get("upstream_if_sent") and self.provider._script and not any(t.is_alive() for t in self.threads):
            self.complain(f"step {number}", [f"{len(self.provider._script)} expected attempts never came"])

    def send(self, step, answers):
        if step.get("pipeline"):
            self.send_pipeline(step, answers)
            return
        method, data = self.bytes_of(step)
        try:
            with client.Conn(self.opid.proxy, timeout=step.get("timeout", 30)) as conn:
                answers.append(self.exchange(conn, method, data, step))
        except (wire.Closed, ConnectionError):
            answers.append(None)
        except TimeoutError:
            self.complain(f"request {step['req']} {step.get('op')}", ["no answer in time"])
            answers.append(None)

    def exchange(self, conn, method, data, step):
        leave = step.get("client") or {}
        if step.get("expect_continue"):
            head, _, body = data.partition(b"\r\n\r\n")
            conn.send(head + b"\r\n\r\n")
            interim = conn.head()
            if interim.status != 100:
                self.complain("expect", [f"no 100 before the body, but {interim}"])
            conn.send(body)
            return conn.response(method)
        conn.send(data)
        if "leave_after_ms" in leave or "leave_after_attempt" in leave:
            if "leave_after_attempt" in leave:
                self.provider.wait_attempts(leave["leave_after_attempt"])
            else:
                time.sleep(leave["leave_after_ms"] / 1000)
            conn.reset() if leave.get("how") == "rst" else conn.close()
            return None
        if "half_close_after_ms" in leave:
            time.sleep(leave["half_close_after_ms"] / 1000)
            conn.half_close()
        return conn.response(method)

    def send_pipeline(self, step, answers):
        parts = [self.bytes_of({**step, **part}) for part in step["pipeline"]]
        with client.Conn(self.opid.proxy) as conn:
            conn.send(b"".join(data for _, data in parts))
            for method, _ in parts:
                try:
                    answers.append(conn.response(method))
                except wire.Closed:
                    answers.append(None)

    # -- judgement

    def check_state(self, number, step):
        wanted = step.get("state")
        op = step.get("op")
        if wanted is None or op is None:
            return
        words = wanted["any_of"] if isinstance(wanted, dict) else wanted if isinstance(wanted,
                                                                                       list) else [wanted]
        allowed = {s for w in words for s in STATES.get(w, (w,))}
        query = {"tenant": step.get("tenant")}
        if step.get("id_header", "Operation-Id") != "Operation-Id":
            query["provider"] = self.setup.provider_of(step)
        found = self.opid.operation(str(op), **query)
        status = "none" if found is None else "gone" if found.get("gone") else found["status"]
        if status not in allowed:
            self.complain(f"step {number}", [f"status of {op} is {status}, expected {sorted(allowed)}"])
        if found and "admin_shows" in step:
            self.complain(f"step {number}", differences(found, step["admin_shows"]))

    def judge(self, number, step):
        answers, op = self.answers.get(number, []), step.get("op")
        if "at_ms" in step or step.get("background"):
            self.check_state(number, step)
        if step.get("pipeline"):
            for part, answer in zip(step["pipeline"], answers):
                self.complain(f"step {number}",
                              outcomes.check_any(answer, part["expect"], part.get("op", op)))
            return
        for answer in answers:
            if "expect" in step:
                bad = outcomes.check_any(answer, step["expect"], op, step.get("dialect", "problem"))
                if bad and step.get("grade") == "should" and answer is not None and outcomes.matches(answer,
                                                                                                     "MISMATCH"):
                    print(f"note: {self.scenario['name']} step {number}: a safe false alarm (MISMATCH)")
                    bad = []
                self.complain(f"step {number}", bad)
            if "see" in step and answer is not None:
                self.complain(f"step {number}", seen(answer, step["see"]))
        if "expect_set" in step:
            self.judge_set(number, dict(step["expect_set"]), answers)

    def judge_set(self, number, wanted, answers):
        others, left = wanted.pop("others", []), list(answers)
        for word, count in wanted.items():
            fitting = [a for a in left if outcomes.matches(a, word)]
            if len(fitting) != count:
                self.complain(f"step {number}", [f"{len(fitting)} answers are {word}, expected {count}"])
            left = [a for a in left if a not in fitting]
        for answer in left:
            if not any(outcomes.matches(answer, word) for word in others):
                self.complain(f"step {number}", [f"answer fits none of {others}: {answer}"])

    def accept(self, numbered):
        if "accept" not in self.scenario:
            return
        requests = [n for n, step in numbered if "do" not in step]
        for row in self.scenario["accept"]:
            if all(not outcomes.check_word(self.answers[n][0], word) for n, word in zip(requests, row)):
                return
        self.complain("accept", [f"no allowed sequence fits: {[self.answers[n] for n in requests]}"])

    def accounts(self):
        s, p = self.scenario, self.provider
        for name, got in (("effects", p.effects), ("attempts", len(p.attempts))):
            if name in s and got != s[name]:
                self.complain("account", [f"{got} {name}, expected {s[name]}"])
            if f"{name}_max" in s and got > s[f"{name}_max"]:
                self.complain("account", [f"{got} {name}, at most {s[f'{name}_max']} allowed"])
        self.complain("provider", [f"malformed request: {f}" for f in p.faults])
        self.complain("provider", [f"attempt that must not happen: {x.line}" for x in p.unexpected])
        for x in p.attempts + p.lookups + p.partial:
            leaked = [n for n in x.headers.names()
                      if n.lower().startswith("operation-") or n.lower() == "proxy-authorization"]
            if leaked:
                self.complain("provider", [f"{leaked} reached the provider"])
        for check in s.get("checks") or []:
            if isinstance(check, dict):
                self.complain(f"check {check}", account_check(check, self.provider, self.attempts_of))
