"""One plain co_await a statement: g++ 12 destroys temporaries twice beside a co_await inside braces or ?:, and an
aggregate temporary in the same statement likewise. Name a local variable first; it reads better too."""
import re

from source import CPP, Finding, block_end, line_of, waived

RULE = "co_await shape"
AWAIT = re.compile(r"\bco_await\b")
BLOCK_WORDS = {"else", "do", "try", "const", "noexcept", "override", "final", "mutable"}


def opens_block(code, brace, start):
    """Whether the brace begins statements (a block, a function or lambda body) and not a value."""
    head = code[start:brace].rstrip()
    if not head:
        return start == 0 or code[start - 1] in ";{}"
    if head[-1] in ")]:;{}":
        return True
    word = re.search(r"(\w+)$", head)
    if word and word.group(1) in BLOCK_WORDS:
        return True
    # A trailing return type leads to a body; the last closing parenthesis before the arrow ends the parameters.
    return re.search(r"[)\]]\s*(mutable\s*|noexcept\s*)*->\s*[\w:<>,\s*&]+$", head) is not None


def statement_start(code, position):
    """(start, ways) of the statement around a position; ways lists what had to be opened to get there: { ( ?"""
    ways, depth, index = [], 0, position - 1
    while index >= 0:
        char = code[index]
        if char in ")]":
            depth += 1
        elif char in "([":
            if depth:
                depth -= 1
            else:
                ways.append(char)
        elif char == "}":
            closed = matching_open(code, index)
            if depth == 0 and opens_block(code, closed, boundary_before(code, closed)):
                return index + 1, ways
            index = closed
        elif char == "{":
            if opens_block(code, index, boundary_before(code, index)):
                return index + 1, ways
            ways.append("{")
            depth = 0
        elif char == "?" and depth == 0:
            ways.append("?")
        elif char == ";" and depth == 0:
            return index + 1, ways
        index -= 1
    return 0, ways


def boundary_before(code, position):
    """Where the text that leads to a brace starts."""
    depth, index = 0, position - 1
    while index >= 0:
        char = code[index]
        if char in ")]":
            depth += 1
        elif char in "([":
            if depth == 0:
                return index + 1
            depth -= 1
        elif char in ";{}," and depth == 0 and not (char == "," and "<" in code[max(0, index - 60):index]):
            return index + 1
        index -= 1
    return 0


def matching_open(code, close):
    depth = 0
    for index in range(close, -1, -1):
        if code[index] == "}":
            depth += 1
        elif code[index] == "{":
            depth -= 1
            if depth == 0:
                return index
    return 0


def rest_of_statement(code, position):
    """The text from a co_await to the end of its statement, without the bodies of lambdas."""
    kept, depth, index = [], 0, position
    while index < len(code):
        char = code[index]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == ";" and depth <= 0:
            break
        elif char == "{":
            if opens_block(code, index, boundary_before(code, index)):
                if depth <= 0:
                    break
                index = block_end(code, index)
                continue
        elif char == "}" and depth <= 0 and kept.count("{") <= kept.count("}"):
            break
        kept.append(char)
        index += 1
    return "".join(kept)


def complaint(code, position):
    start, ways = statement_start(code, position)
    rest = rest_of_statement(code, position)
    if "{" in ways:
        return "co_await inside braces"
    if "?" in ways or "?" in rest:
        return "co_await beside ?:"
    if "{" in rest or has_value_brace(code[start:position]):
        return "a braced temporary beside co_await"
    if AWAIT.search(rest, len("co_await")):
        return "two co_await in one statement"
    return None


def has_value_brace(before):
    return any(char == "{" and not opens_block(before, index, boundary_before(before, index))
               for index, char in enumerate(before))


def check(tree):
    for path in tree.under(["proxy", "tests", "bench"], CPP):
        code = tree.code(path)
        for match in AWAIT.finditer(code):
            what = complaint(code, match.start())
            line = line_of(code, match.start())
            if what and not waived(tree.text(path).splitlines(), line, RULE):
                yield Finding(path, line, RULE, f"{what}: give the part a name in a statement of its own")
