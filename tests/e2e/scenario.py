"""Loads scenarios (format: tests/scenarios/README.md), unfolds their twins, and makes opid's configuration of them."""
import copy
import os
import re

import yaml

import opid as opid_process


def load(path):
    """All scenarios of a YAML file (a list or several documents), or of the yaml blocks of a Markdown file."""
    with open(path) as f:
        text = f.read()
    texts = re.findall(r"^```yaml\n(.*?)^```", text, re.S | re.M) if path.endswith(".md") else [text]
    found = []
    for part in texts:
        for document in yaml.safe_load_all(part):
            for item in document if isinstance(document, list) else [document]:
                if isinstance(item, dict) and "steps" in item:
                    item["file"] = os.path.basename(path)
                    found.append(item)
    return found


def unfold(scenario):
    """The scenario and each of its twins, as complete scenarios."""
    base = {k: v for k, v in scenario.items() if k != "twins"}
    base["name"] = scenario["id"]
    yield base
    for n, twin in enumerate(scenario.get("twins") or [], 1):
        variant = copy.deepcopy(base)
        variant["name"] = f"{scenario['id']} twin {n} ({twin.get('why', '')})"
        for key, value in twin.items():
            if key == "steps":
                for number, changes in value.items():
                    step = next(s for i, s in enumerate(variant["steps"], 1) if s.get("n", i) == number)
                    step.update(copy.deepcopy(changes))
            elif key == "config":
                variant["config"] = opid_process.merge(variant.get("config") or {}, value)
            elif key == "more_steps":
                variant["steps"] += copy.deepcopy(value)
            elif key != "why":
                variant[key] = copy.deepcopy(value)
        for bound in ("effects", "attempts"):
            if bound in twin:
                variant.pop(f"{bound}_max", None)
            elif f"{bound}_max" in twin:
                variant.pop(bound, None)
        yield variant


def short_profile(short):
    """The short form of provider knowledge ({keys: ...}) as members of a provider profile."""
    if "keys" not in short:
        return copy.deepcopy(short)
    profile, key = {}, {"carrier": "none"}
    if short["keys"] == "header":
        key = {"carrier": f"header:{short['name']}"}
    elif short["keys"] == "body":
        key = {"carrier": f"body:{short['pointer']}"}
    if short["keys"] != "none":
        if short.get("max"):
            key["encoding"] = {"alphabet": "base32hex", "length": min(32, short["max"])}
        if short.get("window_s"):
            key["window"] = {"for": f"{short['window_s']}s", "bound": "at_least", "margin": "1s"}
        profile["verdicts"] = [{"status": 400, "body": {"/error": {"matches": "key used"}},
                                "verdict": "mismatch"}]
    if short.get("only"):
        profile["rules"] = []
        for n, entry in enumerate(short["only"]):
            method, path = entry.split(" ")
            profile["rules"].append({"name": f"keyed_{n}", "match": {"method": method, "path": path},
                                     "key": key})
        key = {"carrier": "none"}
    profile["key"] = key
    rules = short.get("body_rules")
    if rules:
        no_effect, unclear = rules.get("no_effect", []), rules.get("ambiguous", [])
        profile["verdicts"] = profile.get("verdicts", []) + [
            {"status": 200, "body": {"/ok": True}, "verdict": "succeeded"},
            {"status": 200, "body": {"/ok": False, "/error": {"one_of": no_effect}},
             "verdict": "not_executed"},
            {"status": 200, "body": {"/ok": False, "/error": {"one_of": unclear}}, "verdict": "unknown"},
        ]
    return profile


def short_config(short):
    """Product settings of the short form ({lease_ms: ...}) as opid's configuration; the rest as it stands."""
    config, volatile = {}, None
    names = {"lease_ms": ("timeouts", "lease", "ms"),
             "upstream_timeout_ms": ("timeouts", "upstream_response", "ms"),
             "answers_kept_s": ("retention", "records", "s"),
             "ids_remembered_s": ("retention", "tombstones", "s")}
    for key, value in (short or {}).items():
        if key in names:
            section, name, unit = names[key]
            config.setdefault(section, {})[name] = f"{value}{unit}"
        elif key == "volatile":
            volatile = value
        else:
            config[key] = value
    return config, volatile


def request_steps(scenario):
    for step in scenario["steps"]:
        yield step
        yield from step.get("pipeline", [])


def upstream_entries(scenario):
    for step in request_steps(scenario):
        for name in ("upstream", "upstream_if_sent", "upstream_each", "upstream_after"):
            value = step.get(name)
            for entry in value if isinstance(value, list) else [value]:
                if isinstance(entry, dict):
                    yield entry


class Setup:
    """Configuration, profiles and environment of one scenario against a fake provider at `authority`."""

    def __init__(self, scenario, authority, ca_file=None):
        hows = {e.get("how") for e in upstream_entries(scenario) if e.get("then") == "refuse"}
        self.by_name = bool(hows & {"dns", "tls"}) or scenario.get("by_name", False)
        self.tls = "tls" in hows or scenario.get("tls", False)
        scheme = "https" if self.tls else "http"
        port = 443 if self.tls else 80
        config, volatile = short_config(scenario.get("config"))
        timeouts = {"timeouts": {"upstream_response": "1500ms", "lease": "2s"}}
        self.hosts = {"demo": "api.demo.test"}
        hosts = {s["host"] for s in request_steps(scenario) if s.get("host")}
        self.hosts.update({h.split(".")[0].replace("-", "_"): h for h in sorted(hosts)})
        self.hosts.update({n: f"api.{n}.test" for n in scenario.get("providers") or {}})
        resolve = {f"{h}:{port}": authority for h in self.hosts.values()}
        resolve.update({f"{h}:{80}": authority for h in self.hosts.values()})
        self.env, tenants = {}, sorted({s["tenant"] for s in request_steps(scenario) if s.get("tenant")})
        base = opid_process.base_config(egress={"allow": ["127.0.0.0/8"], "resolve": resolve})
        base = opid_process.merge(base, timeouts)
        if tenants:
            base["tenants"] = [{"name": t, "tokens": [f"env:TOKEN_{t}"]} for t in tenants]
            self.env = {f"TOKEN_{t}": f"token-of-{t}-0123456789abcdef" for t in tenants}
        self.config = opid_process.merge(base, config)
        self.tenants = tenants
        self.profiles = []
        for name, host in self.hosts.items():
            members = short_profile(scenario.get("profile") or {"keys": "none"})
            members = opid_process.merge(members, (scenario.get("providers") or {}).get(name) or {})
            target = host if self.by_name else authority
            profile = {"provider": name, "hosts": [host], "upstream": f"{scheme}://{target}"}
            if self.tls:
                profile["tls"] = {"ca": f"file:{ca_file}"}
            if volatile:
                rules = members.setdefault("rules", [])
                rules.append({"name": "volatile", "match": {"path": "/**"}, "intent": {"ignore": volatile}})
            self.profiles.append({**profile, **members})
        key = next((p["key"]["carrier"] for p in self.profiles if p.get("key", {}).get("carrier",
                                                                                       "none") != "none"),
                   None)
        rules = [r for p in self.profiles for r in p.get("rules", [])]
        key = key or next((r["key"]["carrier"] for r in rules
                           if r.get("key", {}).get("carrier", "none") != "none"), None)
        self.carrier = scenario.get("key_carrier") or key or "header:Idempotency-Key"

    def provider_of(self, step):
        if step.get("host"):
            return next(n for n, h in self.hosts.items() if h == step["host"])
        return step.get("to", "demo")

    def config_without_names(self):
        """The same configuration where the provider's name does not resolve."""
        return opid_process.merge(self.config, {"egress": {"resolve": None}})
