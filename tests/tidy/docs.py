"""Documents have a title and links that lead somewhere; YAML parses; the image is built from files that exist."""
import re
from pathlib import PurePosixPath

from source import Finding, line_of

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")


def anchors(text):
    """The anchors that GitHub gives to headings."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(plain.strip().replace(" ", "-"))
    return found


def without_code(text):
    blank = lambda match: "\n" * match.group(0).count("\n")
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", blank, text, flags=re.MULTILINE | re.DOTALL))


def check_markdown(tree, path):
    text = tree.text(path)
    if not text.startswith("# "):
        yield Finding(path, 1, "title", "a document begins with `# Title`")
    prose = without_code(text)
    for match in LINK.finditer(prose):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        resolved = path if not file else normal(PurePosixPath(path).parent / file)
        line = line_of(prose, match.start())
        if not (tree.root / resolved).exists():
            yield Finding(path, line, "link", f"{target} leads nowhere")
        elif anchor and resolved.endswith(".md") and anchor not in anchors(tree.text(resolved)):
            yield Finding(path, line, "link", f"{target}: no such heading")


def normal(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def check_yaml(tree):
    paths = tree.under(["policies", "config"], [".yaml", ".yml"])
    paths += [path for path in tree.paths if path == "docker-compose.yml"]
    if not paths:
        return
    import yaml  # only here: the other checks need nothing beside Python

    class Strict(yaml.SafeLoader):
        """Refuses a key that stands twice, which YAML forbids and PyYAML lets pass."""

    def mapping(loader, node):
        keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
        twice = {str(key) for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"key twice: {', '.join(twice)}", node.start_mark)
        return loader.construct_mapping(node, deep=True)

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    for path in paths:
        try:
            yaml.load(tree.text(path), Strict)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            yield Finding(path, mark.line + 1 if mark else 1, "yaml", str(getattr(error, "problem", error)))


def check_dockerfile(tree):
    if "Dockerfile" not in tree.paths:
        return
    for number, line in enumerate(tree.text("Dockerfile").splitlines(), 1):
        words = line.split()
        if not words or words[0] not in ("COPY", "ADD"):
            continue
        words = [word for word in words[1:] if not word.startswith("--")]
        if "--from=" in line:
            continue
        for source in words[:-1]:
            if not (tree.root / source).exists():
                yield Finding("Dockerfile", number, "docker", f"{source} does not exist")
            elif f"!{source.split('/')[0]}" not in tree.text(".dockerignore").split():
                yield Finding("Dockerfile", number, "docker", f".dockerignore keeps {source} from the builder")


def check(tree):
    for path in tree.paths:
        if path.endswith(".md"):
            yield from check_markdown(tree, path)
    yield from check_yaml(tree)
    yield from check_dockerfile(tree)
