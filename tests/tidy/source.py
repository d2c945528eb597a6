"""What every check needs: the files of the checkout, and C++ text with comments and literals blanked out."""
import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CPP = (".cpp", ".hpp")
SKIPPED_FOLDERS = {".git", "build", "data", "node_modules", "__pycache__"}


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


class Tree:
    """The files under one root by their relative path. What git ignores is not looked at, where git is there to ask."""

    def __init__(self, root):
        self.root = Path(root)
        self.paths = sorted(self._from_git() or self._from_disk())

    def _from_git(self):
        if not (self.root / ".git").exists():
            return None
        try:
            answer = subprocess.run(["git", "-C", str(self.root), "-c", "safe.directory=*", "ls-files", "-z", "--cached",
                                     "--others", "--exclude-standard"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        names = answer.stdout.decode().split("\0")
        return [name for name in names if name and (self.root / name).is_file()]

    def _from_disk(self):
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            found += [str((Path(folder) / name).relative_to(self.root)) for name in files]
        return found

    def under(self, folders, suffixes):
        wanted = tuple(folder if folder.endswith("/") else folder + "/" for folder in folders)
        return [path for path in self.paths if path.startswith(wanted) and path.endswith(tuple(suffixes))]

    @lru_cache(maxsize=None)
    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    @lru_cache(maxsize=None)
    def code(self, path):
        return strip_cpp(self.text(path))


LITERAL = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


def strip_cpp(text):
    """Blanks comments and literals, and keeps every newline; include paths in quotes stay readable."""

    def blank(match):
        found = match.group(0)
        if found.startswith('"'):
            line_start = text.rfind("\n", 0, match.start()) + 1
            if text[line_start:match.start()].strip().startswith("#"):
                return found
        newlines = "\n" * found.count("\n")
        if found.startswith(("//", "/*")):
            return " " + newlines
        return "' '" if found.startswith("'") else '""' + newlines

    return LITERAL.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def block_end(code, brace):
    """Behind the brace that closes the one at `brace`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, brace):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


WAIVER = re.compile(r"tidy: allow\(([a-z0-9 _-]+)\)\s*(\S.*)?")


def waived(lines, line, rule):
    """A line, or the one above it, may say `tidy: allow(RULE) reason`. Without a reason it does not count."""
    for index in (line - 1, line - 2):
        if 0 <= index < len(lines):
            match = WAIVER.search(lines[index])
            if match and match.group(1) == rule and match.group(2):
                return True
    return False
