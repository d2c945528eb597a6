"""Checks of the scenario runner on answers and on what the provider saw. Each gives a list of complaints."""
import gzip
import json

import outcomes
import wire


def account_check(check, provider, attempts_of):
    """One structured check of a scenario; see the README of the scenarios. `attempts_of`: step -> its attempts."""
    attempts = provider.attempts
    if "steps" in check:
        attempts = [x for n in check["steps"] for x in attempts_of.get(n, [])]
    keys = [x.key(provider.carrier) for x in attempts]
    bad = []
    if "keys" in check:
        single = all(len(k) == 1 for k in keys)
        values = {k[0] for k in keys if k}
        fits = {"equal": single and len(values) == 1, "differ": single and len(values) == len(keys),
                "none": not values}[check["keys"]]
        bad += [] if fits else [f"keys are {keys}"]
    if "key_max" in check:
        bad += [f"key {k}" for k in sum(keys, []) if not 1 <= len(k) <= check["key_max"] or not k.isascii()]
    if "key_is" in check:
        bad += [f"keys are {keys}"] if any(k != [check["key_is"]] for k in keys) else []
    if "lookups" in check and len(provider.lookups) != check["lookups"]:
        bad.append(f"{len(provider.lookups)} look-ups")
    if "attempt" in check:
        if len(provider.attempts) < check["attempt"]:
            return bad + ["there is no such attempt"]
        bad += check_attempt(provider.attempts[check["attempt"] - 1], check)
    return bad


def check_attempt(x, check):
    bad = []
    for name, value in (check.get("header") or {}).items():
        if x.headers.all(name) != [str(value)]:
            bad.append(f"{name} is {x.headers.all(name)}")
    bad += [f"{name} is there" for name in check.get("no_header") or [] if name in x.headers]
    if "body" in check and x.body != wire.as_bytes(check["body"]):
        bad.append(f"body is {x.body!r}")
    if "target" in check and x.target != check["target"]:
        bad.append(f"target is {x.target}")
    if "framing" in check and x.framing != check["framing"]:
        bad.append(f"framing is {x.framing}")
    if "json" in check:
        bad += differences(json.loads(x.body), check["json"])
    return bad


def seen(r, want):
    """What the client must see in an answer: header, no_header, body, json (pointers), gzip_json, header_has."""
    bad = []
    for name, value in (want.get("header") or {}).items():
        if r.headers.all(name) != [str(value)]:
            bad.append(f"{name} is {r.headers.all(name)}, expected {value!r}")
    bad += [f"{name} is there: {r.headers.all(name)}" for name in want.get("no_header") or [] if name in r.headers]
    bad += [f"{name} is missing" for name in want.get("header_has") or [] if name not in r.headers]
    if "body" in want and r.body != wire.as_bytes(want["body"]):
        bad.append(f"body is {r.body!r}")
    if "body_length" in want and len(r.body) != want["body_length"]:
        bad.append(f"body has {len(r.body)} bytes")
    if "reason" in want and r.reason != want["reason"]:
        bad.append(f"reason is {r.reason!r}")
    if "not_in_body" in want and want["not_in_body"].encode() in r.body:
        bad.append(f"the body tells {want['not_in_body']}")
    if "json" in want or "decodes_to" in want:
        body = gzip.decompress(r.body) if r.headers.get("Content-Encoding") == "gzip" else r.body
        if "json" in want:
            bad += differences(json.loads(body), want["json"])
        if "decodes_to" in want and body != wire.as_bytes(want["decodes_to"]):
            bad.append(f"decodes to {body!r}")
    return bad


def differences(document, want):
    """`want`: {pointer: value, or "present", or {contains: value}}."""
    bad = []
    for path, value in want.items():
        try:
            got = outcomes.pointer(document, path)
        except (KeyError, IndexError, TypeError, ValueError):
            bad.append(f"{path} is missing in {document}")
            continue
        if isinstance(value, dict) and "contains" in value:
            if value["contains"] not in got:
                bad.append(f"{path} is {got!r}")
        elif value != "present" and got != value:
            bad.append(f"{path} is {got!r}, expected {value!r}")
    return bad


def multipart(spec):
    out = b""
    for part in spec["parts"]:
        line = f'Content-Disposition: form-data; name="{part["name"]}"'
        if "filename" in part:
            line += f'; filename="{part["filename"]}"'
        out += f"--{spec['boundary']}\r\n{line}\r\n".encode()
        if "ctype" in part:
            out += f"Content-Type: {part['ctype']}\r\n".encode()
        out += b"\r\n" + part["text"].encode() + b"\r\n"
    return out + f"--{spec['boundary']}--\r\n".encode()
