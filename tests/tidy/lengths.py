"""Files, functions and lines have a length at which a reader gives up. Old offenders stand in ratchet.txt with the
length they may have; the list may only shrink."""
import ast
import re

from source import CPP, Finding, block_end, line_of

FILE_LINES, FUNCTION_LINES, COLUMNS = 400, 70, 120
RATCHET = "tests/tidy/ratchet.txt"
CODE = CPP + (".py", ".mjs", ".js", ".sh")
CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b(?!.*\)\s*(const|noexcept|override|final|\s)*$)",
                       re.DOTALL)


def cpp_functions(code):
    """(name, first line, lines) of every function body at namespace or class level."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.MULTILINE)
    index, head_start = 0, 0
    while index < len(code):
        char = code[index]
        if char in ";}":
            head_start = index + 1
        elif char == "{":
            head = code[head_start:index]
            end = block_end(code, index)
            if CONTAINER.search(head) and "(" not in re.sub(r"alignas\s*\([^)]*\)|requires\s*\([^)]*\)", "", head):
                head_start = index + 1
            elif is_member_initialiser(head):
                index = end  # the head goes on behind it
                continue
            else:
                if "(" in head and not re.search(r"=\s*$", head):
                    first = line_of(code, head_start + len(head) - len(head.lstrip()))
                    yield function_name(head), first, line_of(code, end - 1) - first + 1
                index, head_start = end, end
                continue
        index += 1


def is_member_initialiser(head):
    """`Name(…) : a_{1}, b_{2} {`: braces directly behind a member's name are not the body."""
    return re.search(r"\)\s*(noexcept\s*)?:(?!:)", head) is not None and re.search(r"[\w>]\s*$", head) is not None


def function_name(head):
    match = re.search(r"([\w:~]+|operator\s*\S+)\s*\(", head)
    return match.group(1) if match else "?"


def measure(tree):
    """Yields (kind, path, name, line, length, limit) of everything that has a limit."""
    for path in tree.under(["proxy", "tests", "bench"], CODE):
        text = tree.text(path)
        yield "file", path, "-", 1, text.count("\n"), FILE_LINES
        if path.endswith(CPP):
            for name, line, length in cpp_functions(tree.code(path)):
                if name not in ("TEST_CASE", "SCENARIO", "TEMPLATE_TEST_CASE", "TEST_CASE_METHOD"):
                    yield "function", path, name, line, length, FUNCTION_LINES
        if path.endswith(".py"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield "function", path, node.name, node.lineno, node.end_lineno - node.lineno + 1, FUNCTION_LINES


def read_ratchet(text):
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            kind, path, name, length = line.split()
            rows[kind, path, name] = (int(length), number)
    return rows


def check(tree):
    ratchet = read_ratchet(tree.text(RATCHET))
    seen = set()
    for kind, path, name, line, length, limit in measure(tree):
        allowed, _ = ratchet.get((kind, path, name), (limit, 0))
        if length > limit:
            seen.add((kind, path, name))
        if length > allowed:
            what = name if kind == "function" else "file"
            yield Finding(path, line, f"{kind} length", f"{what} has {length} lines, {allowed} are allowed")
    for row, (_, number) in ratchet.items():
        if row not in seen:
            yield Finding(RATCHET, number, "ratchet", f"no longer needed, take it out: {' '.join(row)}")
    for path in tree.under(["proxy", "tests", "bench"], CPP):
        for number, text in enumerate(tree.text(path).splitlines(), 1):
            if len(text) > COLUMNS and 'R"' not in text and "://" not in text:
                yield Finding(path, number, "columns", f"{len(text)} columns, {COLUMNS} are allowed")
