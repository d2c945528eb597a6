"""Writes the rows of a run of matrix.py as a page."""
import platform
import subprocess

COLUMNS = [("success", "one write"), ("replay", "same ID again"), ("mismatch", "same ID, other payload"),
           ("lost_with_key", "answer lost, provider with keys"), ("lost_without_key", "answer lost, no keys"),
           ("read", "read"), ("events", "event stream"), ("blind", "host without a profile")]

INTRODUCTION = """# Real clients through opid

Written by `tests/clients/matrix.py --write-matrix`; the run that wrote it failed nowhere. Every client speaks to its
provider's real name through `HTTPS_PROXY`, and opid intercepts TLS under its own CA. A fake provider with a ledger of
effects stands behind it.

- *led by*: what makes the client take the way through opid. `environment`: the variables alone, without a change of code.
- *one write*, *same ID again*: 1 effect; the second answer equals the first (*marked*: the client shows
  `Idempotent-Replayed`).
- *same ID, other payload*: no effect; the error that the caller gets.
- *answer lost*: the provider commits and drops the connection. There is 1 effect after all that the client retries by
  itself and after one more run with the same ID. With keys the client sees success; without, it sees that a person has
  to decide.
- *event stream*: each event reaches the client before the provider has made the next.
- *host without a profile*: a blind tunnel; the protocol that client and origin chose, and whose certificate was shown.
"""


def cell(text):
    return str(text if text is not None else "-").replace("|", "\\|")


def write_page(path, rows, printed):
    lines = [INTRODUCTION]
    lines.append("The variables were those that `opid env` prints.\n" if printed else
                 "The variables were set by hand.\n")
    heads = ["client", "version", "led by"] + [title for _, title in COLUMNS]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in sorted(rows, key=lambda r: r["client"]):
        if row["skipped"]:
            cells = [row["client"], "not installed here"] + ["-"] * (len(heads) - 2)
        else:
            cells = [row["client"], row["version"], row["led"]] + [row.get(step) for step, _ in COLUMNS]
        lines.append("| " + " | ".join(cell(c) for c in cells) + " |")
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    lines.append(f"\nPython {platform.python_version()}, Node {node}.")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
