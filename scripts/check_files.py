#!/usr/bin/env python3
"""Checks sizes of files, that sources and tests come in pairs, names, and that components hide in anonymous namespaces."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 500

FORBIDDEN = {
    r"\b(?!dnnl_)\w+_(new|old|v2|legacy)\b\s*\(": "a name that ends in _new, _old, _v2 or _legacy: replace, do not add",
    r"\.detach\(\)": "a detached thread",
    r"\bsleep_for\b|\busleep\(": "a sleep: wait for a condition",
    r"\bNDEBUG\b": "behavior that depends on NDEBUG",
    r"\b[Ff]ill in\b": "what scripts/new_component.py wrote and nobody filled in",
    r"\bTODO(?!\(#\d+\))": "a TODO without an issue number",
}


def sources():
    for top in ("lib", "app", "tests", "bench"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path


def builds():
    """Sources of modules that no CMakeLists.txt names are not compiled."""
    for path in sources():
        inside = path.relative_to(ROOT)
        if inside.parts[0] != "lib" or path.suffix != ".cpp":
            continue
        folder = path.parent
        while not (folder / "CMakeLists.txt").exists():
            folder = folder.parent
        lists = folder / "CMakeLists.txt"
        name = str(path.relative_to(folder))
        if not re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w.])", lists.read_text()):
            yield f"{inside}: {lists.relative_to(ROOT)} does not name it, so that it is not compiled"


def visible_types(lines):
    """The types that are defined outside anonymous namespaces, as clang-format writes them: (line number, name).
    Specializations of templates are no types of their own."""
    hidden = 0
    for number, line in enumerate(lines, 1):
        if line == "namespace {":
            hidden += 1
        elif line == "}  // namespace":
            hidden -= 1
        definition = re.match(r"(?:class|struct|union|enum(?: class)?) (\w+)\b(?!<)", line)
        declares_only = line.endswith(";") and "{" not in line
        if definition and not hidden and not declares_only:
            yield number, definition[1]


def one_name_per_type():
    """Types that are defined at the level of a namespace, in an anonymous one or not, have different names: whoever reads a name
    knows what is meant. Only what `pointwise` has is always written with its namespace."""
    homes = {}
    for path in sorted((ROOT / "lib").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        text = path.read_text()
        if "namespace tpack::pointwise {" in text:
            continue
        for line in text.splitlines():
            # Specializations and forward declarations define no name; "class A::B" is defined within its class.
            definition = re.match(r"(?:class|struct|union|enum(?: class)?) (\w+)\b(?!<|::)", line)
            if definition and not (line.endswith(";") and "{" not in line):
                homes.setdefault(definition[1], set()).add(path.relative_to(ROOT))
    for name, files in sorted(homes.items()):
        if len(files) > 1:
            yield f"{' and '.join(str(f) for f in sorted(files))}: both define a type {name}; give one of them another name"


def content():
    for path in sources():
        inside = path.relative_to(ROOT)
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES:
            yield f"{inside}: {len(lines)} lines; split it by idea (at most {MAX_LINES})"
        text = "\n".join(lines)
        for number, line in enumerate(lines, 1):
            for pattern, what in FORBIDDEN.items():
                if re.search(pattern, line) and "NOLINT" not in line:
                    yield f"{inside}:{number}: {what}"
        macros = set(re.findall(r"#define (\w+)", text)) - {"TPACK_REGISTER", "TPACK_ASSERT", "HWY_TARGET_INCLUDE", "TPACK_INLINE", "TPACK_FUNCTION",
                                                           "TPACK_COMPOSITE"}
        for macro in macros:
            yield f"{inside}: defines the macro {macro}; only TPACK_REGISTER and TPACK_ASSERT exist, and TPACK_FUNCTION and TPACK_COMPOSITE around lists of rows"
        is_component = inside.parts[0] == "lib" and path.suffix == ".cpp" and "TPACK_REGISTER(" in text
        if is_component and not path.with_suffix(".h").exists():
            for number, name in visible_types(lines):
                yield f"{inside}:{number}: {name} belongs into an anonymous namespace, as all of a component without a header"


def pages():
    """Rows that scripts/new_component.py wrote."""
    for path in sorted((ROOT / "docs").glob("*.md")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "fill in: " in line:
                yield f"{path.relative_to(ROOT)}:{number}: what scripts/new_component.py wrote and nobody filled in"


def exceptions_from_field_tests():
    """What a component's test says for the test of fields without effect is read by the program that has the test of its kind."""
    kinds = {}  # by class
    for path in (ROOT / "lib").rglob("*.h"):
        name = ""
        for line in path.read_text().splitlines():
            defined = re.match(r"class (\w+)", line)
            name = defined[1] if defined else name
            kind = re.search(r"kKind = \"([^\"]+)\"", line)
            if kind:
                kinds[name] = kind[1]
    program = {}  # the folder whose CMakeLists.txt makes the program, by folder
    for lists in (ROOT / "tests").glob("*/CMakeLists.txt"):
        others = re.search(r"tpack_tests\(\w+ FOLDERS ([\w ]+)", lists.read_text())
        for other in others[1].split() if others else []:
            program[other] = lists.parent.name
    tested = {}  # folders by kind
    said = []
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        text = path.read_text()
        folder = program.get(path.relative_to(ROOT).parts[1], path.relative_to(ROOT).parts[1])
        for name in re.findall(r"live::dead_fields\(\s*Registry<(\w+)>", text):
            tested.setdefault(kinds.get(name, name), set()).add(folder)
        said += [(path.relative_to(ROOT), folder, kind) for kind in re.findall(r"live::Fields \w+\(\s*\"([^\"]+)\"", text)]
    for path, folder, kind in said:
        if folder not in tested.get(kind, ()):
            yield f"{path}: live::Fields of kind {kind} has no effect here; move it to tests/{' or tests/'.join(sorted(tested.get(kind, ['?'])))}"


found = list(content()) + list(pages()) + list(one_name_per_type()) + list(builds()) + list(exceptions_from_field_tests())
print("\n".join(found) if found else "files: ok")
sys.exit(1 if found else 0)
