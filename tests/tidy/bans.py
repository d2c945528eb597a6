"""What must not stand in the code, why, and what to write instead."""
import re
from dataclasses import dataclass

from source import CPP, Finding, block_end, line_of, waived


@dataclass(frozen=True)
class Ban:
    name: str  # also the word in `// tidy: allow(NAME) reason`
    pattern: str
    why: str
    instead: str
    where: tuple = ("proxy/",)
    but_not: tuple = ()  # paths that begin so may
    unless: str = ""  # what redeems it in the block that it opens


CODE_BANS = [
    Ban("real clock", r"\b(system_clock|steady_clock|high_resolution_clock)::now\b|\b(gettimeofday|clock_gettime)\s*\(",
        "simulated time must rule everything", "the clock that was passed in (engine/ports)",
        but_not=("proxy/adapters/system/",)),
    Ban("real timer", r"\b(steady_timer|system_timer|high_resolution_timer)\b|\bsleep_(for|until)\s*\(\s*std::",
        "simulated time must rule everything", "the timers port, or a stream's own deadline",
        but_not=("proxy/adapters/system/",)),
    Ban("real chance", r"\brandom_device\b|\bRAND_bytes\b|\b(mt19937|minstd_rand)|\bs?rand\s*\(",
        "a seed must reproduce a run", "the entropy port",
        but_not=("proxy/adapters/system/",)),
    Ban("detached", r"\basio::detached\b",
        "a task without a parent is lost at shutdown and its exception with it", "a task group"),
    Ban("thread", r"\bstd::j?thread\b|\bstd::async\b",
        "engine and core run on one executor", "a coroutine; blocking work belongs to an adapter's named thread",
        but_not=("proxy/adapters/", "proxy/app/")),
    Ban("shared from this", r"\b(enable_)?shared_from_this\b",
        "lifetime nobody can name", "an owner, and references to what it owns"),
    Ban("environment", r"\b(secure_)?getenv\b|\bsetenv\b|\benviron\b",
        "settings have one way in", "a setting with an env: reference",
        but_not=("proxy/adapters/settings/", "proxy/surfaces/cli/")),
    Ban("stdout", r"\bstd::cout\b|(?<!\w)printf\s*\(|\bstd::puts\b",
        "a server's output is its log", "the observer or the log",
        but_not=("proxy/surfaces/cli/", "proxy/main.cpp")),
    Ban("capture all", r"\[=[\],]",
        "copies what nobody meant to copy, `this` included", "the names that are needed",
        where=("proxy/", "tests/", "bench/")),
    Ban("catch all", r"\bcatch\s*\(\s*\.\.\.\s*\)",
        "swallows the bug that it should show", "Result values; the task boundaries carry a waiver each",
        but_not=("proxy/main.cpp",), unless=r"\bthrow\s*;|\bcurrent_exception\b|\bstd::terminate\b|\babort\b"),
    Ban("source location", r"\bstd::source_location\b|\bstd::(ranges::)?views::|#\s*include\s*<(format|expected|source_location)>",
        "one of the two compilers lacks it", "fmt, base/result.hpp, a plain loop",
        where=("proxy/", "tests/", "bench/")),
    Ban("using namespace", r"\busing\s+namespace\s+std\s*;",
        "names from nowhere", "the names that are needed", where=("proxy/", "tests/", "bench/")),
    Ban("test sleep", r"\bsleep_(for|until)\b|\busleep\s*\(",
        "a test that sleeps is slow and still flaky", "an event to wait for, or simulated time", where=("tests/unit/",)),
]

ALL_TEXT = ("proxy/", "tests/", "bench/", "cmake/", "config/", "policies/", "dev", "Dockerfile", "docker-compose.yml",
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/")
DATA = ("tests/golden/", "tests/fuzz/corpus/", "tests/tidy/", "tests/clients/package-lock.json")

TEXT_BANS = [
    Ban("unfinished", r"\b(FIXME|TODO|XXX|HACK)\b",
        "it is forgotten here", "do it, or open a ticket", where=ALL_TEXT, but_not=DATA),
    Ban("foreign place", r"(?<![\w.])/work/|(?<![\w.])/home/\w+|\.library\b|\b(DESIGN|STYLE|CASES|PROXYING|STORAGE|CLIENTS)(-DETAILS)?\.md\b",
        "readers of this repository do not have it", "the fact itself, or the RFC", where=ALL_TEXT, but_not=DATA),
    Ban("foreign vectors", r"\.\./shared\b",
        "readers of this repository do not have it", "vectors inside tests/, or a test that skips without them",
        where=ALL_TEXT, but_not=DATA + ("tests/",)),
    Ban("foreign words", r"\b(CEO|sub-?agent|workplace|steering repo|as an AI|Claude|ChatGPT|Copilot)\b",
        "the code speaks of opid alone", "nothing", where=ALL_TEXT, but_not=DATA),
    Ban("ticket number", r"\b[Ii]ssue #?\d+\b",
        "the reason belongs here, the number says nothing", "the reason", where=ALL_TEXT, but_not=DATA),
]


def redeemed(ban, text, position):
    start = text.find("{", position)
    return bool(ban.unless) and start >= 0 and re.search(ban.unless, text[start:block_end(text, start)]) is not None


def apply(ban, tree, paths, read):
    pattern = re.compile(ban.pattern)
    for path in paths:
        if not path.startswith(ban.where) or (ban.but_not and path.startswith(ban.but_not)):
            continue
        text, lines = read(path), None
        for match in pattern.finditer(text):
            lines = lines or tree.text(path).splitlines()
            line = line_of(text, match.start())
            if not redeemed(ban, text, match.end()) and not waived(lines, line, ban.name):
                yield Finding(path, line, ban.name, f"`{match.group(0).strip()}`: {ban.why}; instead: {ban.instead}")


def check(tree):
    cpp = tree.under(["proxy", "tests", "bench"], CPP)
    for ban in CODE_BANS:
        yield from apply(ban, tree, cpp, tree.code)
    readable = [path for path in tree.paths if path.startswith(ALL_TEXT)]
    for ban in TEXT_BANS:
        yield from apply(ban, tree, readable, tree.text)
