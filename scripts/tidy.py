#!/usr/bin/env python3
"""Runs clang-tidy on the sources of lib/ and app/ that changed since main, on all of them, or on those given.

What changed are the commits that are not on origin/main (or main), what is not committed, and files that git does not track yet.
Most of clang-tidy's time goes into the headers, so the sources of a module are linted as one: a unit that includes them all.
Sources with names that clash (each command has its Options) come into different units.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"  # the flags are those of the clang build
UNITS = BUILD / "units"


def run(*command, cwd=BUILD):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def git(*words):
    """Lines of output; None if git fails."""
    done = run("git", *words, cwd=ROOT)
    return done.stdout.splitlines() if done.returncode == 0 else None


def start_of_changes(last_commit):
    """The commit to compare with, and what to call the difference."""
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base and base != head:
            return base[0], f"since {main}"
    if not last_commit:
        return "HEAD", "not committed"
    if git("rev-parse", "--verify", "HEAD~1"):
        return "HEAD~1", "since HEAD~1, as no commit is ahead of main"
    return "HEAD", "not committed, as there is no earlier commit to compare with"


def changed(last_commit):
    """Sources that changed, and those next to headers that did, or the header if there is none."""
    base, what = start_of_changes(last_commit)
    names = git("diff", "--name-only", "--diff-filter=d", base, "--", "lib", "app")
    names += git("ls-files", "--others", "--exclude-standard", "--", "lib", "app")
    paths = [ROOT / name for name in names if name.endswith((".cpp", ".h"))]
    sources = {path.with_suffix(".cpp") if path.with_suffix(".cpp").exists() else path for path in paths}
    print(f"clang-tidy: {len(sources)} files changed ({what})")
    return {str(path) for path in sources}


def given(names):
    """The sources of lib/ and app/ among these files; says which others are left out."""
    files = set()
    for name in names:
        path = pathlib.Path(name).resolve()
        if not path.exists():
            sys.exit(f"error: {name} does not exist")
        top = path.relative_to(ROOT).parts[0] if path.is_relative_to(ROOT) else ""
        if top in ("lib", "app") and path.suffix in (".cpp", ".h"):
            files.add(str(path))
        else:
            print(f"{name}: left out; only sources of lib/ and app/ are linted")
    return files


def modules(only):
    """(folder, flags) -> the sources of that folder of lib/ or app/ that are compiled with them. Files of `only` that no command
    compiles (headers, sources that no CMakeLists.txt names yet) come with the flags of their folder."""
    subprocess.run(["cmake", "--preset", "tidy"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = collections.defaultdict(list)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"]).relative_to(ROOT).parts
        if path[0] in ("lib", "app"):
            words = shlex.split(entry["command"])
            del words[words.index("-o"):]  # -o OBJECT -c SOURCE
            found[path[:-1][:2], tuple(words)].append(entry["file"])
    for file in sorted((only or set()) - {source for sources in found.values() for source in sources}):
        folder = pathlib.Path(file).relative_to(ROOT).parts[:-1][:2]
        key = next((key for key in found if key[0] == folder), None)
        if key is None:
            sys.exit(f"error: {os.path.relpath(file, ROOT)}: no source of its folder is compiled, so its flags are not known")
        found[key].append(file)
    return found


def unit_of(sources):
    name = sources[0].removeprefix(str(ROOT)).strip("/").replace("/", "_")
    unit = UNITS / f"{name.removesuffix('.cpp')}_and_{len(sources) - 1}.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    return str(unit)


def clashing(flags, sources):
    """Those of the sources that do not compile behind the others."""
    checked = run(*flags, "-w", "-fsyntax-only", "-ferror-limit=0", unit_of(sources))
    if checked.returncode == 0:
        return []
    broken = {os.path.realpath(BUILD / file) for file in re.findall(r"^([^\s:]+):\d+:\d+: error:", checked.stderr, re.M)}
    return [s for s in sources if s in broken] or sources[1:]


def units(flags, sources):
    """The sources in groups that compile as one; one that does not compile alone is a group too."""
    rest = list(sources)
    while rest:
        group = rest
        while len(group) > 1 and (apart := clashing(flags, group)):
            group = [s for s in group if s not in apart] or group[:1]
        yield group
        rest = [s for s in rest if s not in group]


def lint(flags, sources):
    """What clang-tidy says of these sources, which share their flags."""
    found = []
    for group in units(flags, sources):
        done = run("clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--header-filter={ROOT}/(lib|app)/",
                   "--checks=-bugprone-suspicious-include", unit_of(group), "--", *flags[1:], "-Wno-error", "-w")
        if done.returncode != 0:
            found.append(done.stdout or done.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="lint every source (ten minutes of processor time)")
    parser.add_argument("--last-commit", action="store_true", help="if no commit is ahead of main, lint what the last one changed")
    parser.add_argument("--list", action="store_true", help="print what would be linted")
    parser.add_argument("files", nargs="*", help="lint these")
    options = parser.parse_args()
    if options.files:
        only = given(options.files)
    else:
        only = None if options.all else changed(options.last_commit)
    if options.list or only == set():
        for file in sorted(only or []):
            print(os.path.relpath(file, ROOT))
        return 0
    jobs = [(flags, [s for s in sources if only is None or s in only]) for (_, flags), sources in modules(only).items()]
    jobs = sorted((job for job in jobs if job[1]), key=lambda job: -len(job[1]))
    UNITS.mkdir(exist_ok=True)
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for texts in pool.map(lambda job: lint(*job), jobs):
            for text in texts:
                findings.update(re.split(r"\n(?=/)", text.strip()))  # a header's come once a unit
    print("\n".join(sorted(findings)) if findings else f"clang-tidy: {sum(len(sources) for _, sources in jobs)} sources ok")
    return 1 if findings else 0


sys.exit(main())
