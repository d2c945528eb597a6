"""What an answer of opid must look like, in outcome words. Every check returns a list of complaints."""
import json

# slug -> (status, Retry-After demanded, "the same request cannot help" marks demanded)
PROBLEMS = {
    "operation-id-missing": (400, False, False),
    "operation-id-invalid": (400, False, False),
    "payload-mismatch": (422, False, True),
    "operation-in-progress": (409, True, False),
    "outcome-unknown": (504, True, False),
    "needs-review": (423, False, True),
    "not-sent": (502, True, False),
    "approval-required": (403, False, False),
    "approval-expired": (403, False, False),
    "approval-mismatch": (403, False, False),
    "approval-denied": (403, False, True),
    "provider-key-conflict": (422, False, False),
    "answer-not-kept": (410, False, False),
    "not-allowed": (403, False, False),
    "operation-expired": (410, False, True),
    "operation-cancelled": (409, False, True),
    "store-unavailable": (503, True, False),
    "overloaded": (503, True, False),
    "body-too-large": (413, False, False),
    "bad-request": (400, False, False),
    "tenant-unauthenticated": ((401, 407), False, False),
    "unknown-provider": (404, False, False),
    "unreachable": (502, False, False),
    "upstream-invalid": (502, False, False),
    "loop": (508, False, False),
    "misdirected": (421, False, False),
    "request-timeout": (408, False, False),
    "target-too-long": (414, False, False),
    "expectation-failed": (417, False, False),
    "head-too-large": (431, False, False),
    "not-implemented": (501, False, False),
    "version": (505, False, False),
}

WORDS = {
    "MISMATCH": ["payload-mismatch"],
    "BUSY": ["operation-in-progress"],
    "NOT_SENT": ["not-sent"],
    "REFUSED": ["store-unavailable"],
    "INVALID": ["operation-id-invalid", "operation-id-missing", "bad-request"],
    "SPENT": ["operation-expired", "answer-not-kept"],
    "NEEDS_APPROVAL": ["approval-required", "approval-expired", "approval-mismatch"],
    "DENIED": ["approval-denied"],
    "CANCELLED": ["operation-cancelled"],
}
IN_DOUBT = ("unknown", "needs_review")
DOUBT_SLUGS = ("outcome-unknown", "needs-review")


def check_problem(r, slug=None, op=None, method="POST", dialect="problem"):
    """`r` is opid's own answer, complete in all the members that real clients read."""
    if r is None:
        return ["no answer"]
    bad = []
    got = r.problem
    if slug and got != slug:
        return [f"expected the problem {slug}, got {got or 'an answer without Opid-Problem'}: {r}"]
    if got not in PROBLEMS:
        return [f"unknown problem {got!r}"]
    status, retry_after, dead_end = PROBLEMS[got]
    status = status if isinstance(status, tuple) else (status,)
    if dialect == "slack":
        status = (200,)
    elif dialect in ("graphql", "jsonrpc"):
        status = status + (200,)
    if r.status not in status:
        bad.append(f"{got} with status {r.status}, expected {status}")
    if "Proxy-Status" not in r.headers:
        bad.append("no Proxy-Status")
    if r.headers.get("Cache-Control") != "no-store":
        bad.append(f"Cache-Control {r.headers.get('Cache-Control')!r}")
    if retry_after and not r.headers.get("Retry-After", "").isdigit():
        bad.append(f"{got} without Retry-After")
    if dead_end:
        for name in ("x-should-retry", "stripe-should-retry"):
            if r.headers.get(name) != "false":
                bad.append(f"{got} without {name}: false")
    if "Idempotent-Replayed" in r.headers:
        bad.append("opid's own answer is marked as a replay")
    if r.framing == "close":
        bad.append("no Content-Length")
    if method == "HEAD" or bad and r.status not in status:
        return bad
    return bad + check_problem_body(r, got, op, dialect)


def check_problem_body(r, slug, op, dialect):
    try:
        body = r.json
    except ValueError:
        return [f"{slug}: body is not JSON: {r.body[:200]!r}"]
    bad = []
    if dialect == "slack":
        if body.get("ok") is not False or body.get("error") != slug:
            bad.append(f"slack body {body}")
    elif dialect == "graphql":
        if not (isinstance(body.get("errors"), list) and isinstance(body["errors"][0].get("extensions"),
                                                                    dict)):
            bad.append(f"graphql body {body}")
    elif dialect == "jsonrpc":
        if body.get("jsonrpc") != "2.0" or not isinstance(body.get("error"), dict) or "id" not in body:
            bad.append(f"jsonrpc body {body}")
    else:
        media = r.headers.get("Content-Type", "").replace(" ", "").lower()
        if media != "application/problem+json;charset=utf-8":
            bad.append(f"Content-Type {r.headers.get('Content-Type')!r}")
        error = body.get("error") or {}
        expected = {"type": f"urn:opid:problem:{slug}", "status": r.status, "message": body.get("detail")}
        for name, value in expected.items():
            if body.get(name) != value:
                bad.append(f"{name} is {body.get(name)!r}, expected {value!r}")
        if not body.get("title") or not body.get("detail"):
            bad.append("title or detail is empty")
        if (error.get("type"), error.get("code"), error.get("message")) != ("opid_error", slug,
                                                                            body.get("detail")):
            bad.append(f"error member {error}")
        if op and "operation_id" in body and body["operation_id"] != op:
            bad.append(f"operation_id {body['operation_id']!r}")
        if op and slug in ("payload-mismatch", "outcome-unknown", "needs-review", "operation-in-progress",
                           "not-sent"):
            if body.get("operation_id") != op:
                bad.append("the answer does not name the operation")
            if not body.get("operation_status"):
                bad.append("no operation_status")
        if slug == "payload-mismatch" and not body.get("differences"):
            bad.append("no differences")
    return bad


def check_guarded(r):
    """The fields of every guarded answer that is the provider's own."""
    bad = [f"no {n}" for n in ("Operation-Id", "Operation-Status", "Operation-Attempt") if n not in r.headers]
    if len(r.headers.all("Idempotent-Replayed")) > 1:
        bad.append("Idempotent-Replayed twice")
    return bad


def status_fits(r, number):
    return number == "2xx" and r.status // 100 == 2 or str(r.status) == number


def check_word(r, word, op=None, dialect="problem"):
    """`word`: PASS n, REPLAY n, DONE n, UNKNOWN, ABORTED, GONE, a word of WORDS, or a slug. `r` None: no answer came."""
    name, _, number = str(word).partition(" ")
    if name == "GONE":
        return []
    if name == "ABORTED":
        return [] if r is None or r.broken else [f"expected a broken answer, got {r}"]
    if r is None:
        return [f"expected {word}, but the connection ended without an answer"]
    if r.broken:
        return [f"expected {word}, got a broken answer {r}"]
    if name in ("PASS", "REPLAY", "DONE"):
        if r.problem or not status_fits(r, number):
            return [f"expected {word}, got {r}"]
        if name == "PASS" and r.replayed or name == "REPLAY" and not r.replayed:
            return [f"expected {word}, but Idempotent-Replayed is {r.headers.get('Idempotent-Replayed')!r}"]
        return check_guarded(r)
    if name == "THROUGH":       # passed through without being guarded
        guarded = r.problem or not status_fits(r, number) or "Operation-Status" in r.headers
        return [f"expected {word}, got {r}"] if guarded else []
    if name == "UNKNOWN":
        if r.problem in DOUBT_SLUGS:
            return check_problem(r, r.problem, op, dialect=dialect)
        if r.problem is None and r.status >= 300 and r.headers.get("Operation-Status") in IN_DOUBT:
            return check_guarded(r)
        return [f"expected UNKNOWN, got {r}"]
    slugs = WORDS.get(name, [name])
    if r.problem not in slugs:
        return [f"expected {word}, got {r}"]
    return check_problem(r, r.problem, op, dialect=dialect)


def check_any(r, expect, op=None, dialect="problem"):
    """`expect`: one word or {any_of: [words]}."""
    words = expect["any_of"] if isinstance(expect, dict) else [expect]
    complaints = [check_word(r, w, op, dialect) for w in words]
    return [] if any(not c for c in complaints) else complaints[0]


def matches(r, word):
    return not check_word(r, word)


def pointer(document, path):
    """The member at a JSON pointer; KeyError where there is none."""
    for member in path.split("/")[1:] if path else []:
        member = member.replace("~1", "/").replace("~0", "~")
        document = document[int(member)] if isinstance(document, list) else document[member]
    return document


def as_json(value):
    return json.dumps(value, separators=(",", ":"))
