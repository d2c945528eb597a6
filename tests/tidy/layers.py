"""Includes and link lines stay within proxy/layers.txt; no file is dead; every header is guarded."""
import re
from pathlib import PurePosixPath

from source import CPP, Finding, line_of

TABLE = "proxy/layers.txt"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class Layers:
    def __init__(self, text):
        self.may_include = {}
        self.libraries = []  # (name, header prefix, {place: headers too?})
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if line.startswith("lib "):
                _, name, prefix, *places = line.split()
                self.libraries.append((name, prefix, {place.lstrip("+"): place.startswith("+") for place in places}))
            elif line:
                folder, _, others = line.partition(":")
                self.may_include[folder.strip()] = others.split()

    def folder_of(self, inner_path):
        """The longest row that covers a path below proxy/, or None."""
        rows = [row for row in self.may_include if covers(row, inner_path)]
        return max(rows, key=len, default=None)


def covers(place, inner_path):
    """A place is a file, a folder with all below it, or FOLDER/* for the files (and the library) of just that folder."""
    if place.endswith("/*"):
        return inner_path == place[:-2] or str(PurePosixPath(inner_path).parent) == place[:-2]
    return inner_path == place or inner_path.startswith(place + "/")


def check_file(tree, layers, path):
    inner = path.removeprefix("proxy/")
    folder = layers.folder_of(inner)
    code = tree.code(path)
    if folder is None:
        yield Finding(path, 1, "layers", f"its folder has no row in {TABLE}")
        return
    for match in INCLUDE.finditer(code):
        line, target = line_of(code, match.start()), match.group(2)
        if match.group(1) == '"':
            yield from check_own(tree, layers, path, folder, line, target)
        else:
            yield from check_library(layers, path, inner, line, target)


def check_own(tree, layers, path, folder, line, target):
    if "proxy/" + target not in tree.paths:
        if not target.endswith(".pb.h"):  # those are made at build time
            yield Finding(path, line, "layers", f'"{target}" is no file below proxy/ (write the path from there)')
        return
    theirs = layers.folder_of(target)
    allowed = theirs == folder or any(covers(place, target) for place in layers.may_include[folder])
    if not allowed:
        yield Finding(path, line, "layers", f'{folder} may not include "{target}" ({TABLE})')


def check_library(layers, path, inner, line, target):
    for name, prefix, places in layers.libraries:
        if not (target == prefix or target.startswith(prefix if prefix.endswith("/") else prefix + "/")
                or target == prefix + ".hpp"):
            continue
        matching = [place for place in places if covers(place, inner)]
        if not matching:
            yield Finding(path, line, "layers", f"{name} is used only in: {' '.join(places)} ({TABLE})")
        elif path.endswith(".hpp") and not any(places[place] for place in matching):
            yield Finding(path, line, "layers", f"{name} belongs into .cpp files; our own types cross the boundary")


LIBRARY = re.compile(r"opid_library\(\s*(\w+)(.*?)\)", re.DOTALL)


def check_links(tree, layers):
    """DEPS of opid_library name folders (X_common is what folder X itself holds beside its subfolders)."""
    by_target = {row.replace("/", "_"): row for row in layers.may_include}
    for path in tree.under(["proxy"], ["CMakeLists.txt"]):
        text = tree.text(path)
        for match in LIBRARY.finditer(text):
            name, body = match.groups()
            line, folder = line_of(text, match.start()), by_target.get(name.removesuffix("_common"))
            if folder is None:
                yield Finding(path, line, "layers", f"library {name} has no row in {TABLE}")
                continue
            deps = re.search(r"\bDEPS\b([\w\s]*)", body)
            words = re.split(r"\b(?:SOURCES|LIBS|PRIVATE_LIBS)\b", deps.group(1))[0].split() if deps else []
            for dep in words:
                theirs = by_target.get(dep.removesuffix("_common"))
                allowed = theirs and (covers(folder, theirs) or
                                      any(covers(place, theirs) or theirs == place.split("/")[0]
                                          for place in layers.may_include[folder]))
                if not allowed:
                    yield Finding(path, line, "layers", f"{name} may not link {dep} ({TABLE})")


def check_dead_files(tree):
    """Sources are built by some CMakeLists.txt, headers are included by somebody."""
    built = set()
    for path in tree.under(["proxy"], ["CMakeLists.txt"]):
        folder = PurePosixPath(path).parent
        built |= {str(folder / word) for word in re.findall(r"[\w./-]+\.cpp", tree.text(path))}
    included = set()
    for path in tree.under(["proxy", "tests", "bench"], CPP):
        included |= {"proxy/" + match.group(2) for match in INCLUDE.finditer(tree.code(path))}
    for path in tree.under(["proxy"], CPP):
        if path.endswith(".cpp") and path not in built:
            yield Finding(path, 1, "dead file", "no CMakeLists.txt builds it")
        if path.endswith(".hpp") and path not in included:
            yield Finding(path, 1, "dead file", "nobody includes it")


def check_guards(tree):
    for path in tree.under(["proxy", "tests", "bench"], [".hpp"]):
        if "#pragma once" not in tree.code(path):
            yield Finding(path, 1, "guard", "a header begins with #pragma once")


def check(tree):
    layers = Layers(tree.text(TABLE))
    for path in tree.under(["proxy"], CPP):
        yield from check_file(tree, layers, path)
    yield from check_links(tree, layers)
    yield from check_dead_files(tree)
    yield from check_guards(tree)
