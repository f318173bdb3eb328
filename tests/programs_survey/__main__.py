"""`python -m tests.programs_survey FOLDER [--draw N] [--seed N] [--only build]`: how many public programs build, run
and pass their own checks.

FOLDER holds the programs of HeCBench (https://github.com/zjin-lcf/HeCBench, its folder `src`), which are no part of
this repository. Those that need a foreign library are left out before the draw. What is found is kept in
FOLDER/gpuprof-survey.json, so that a survey that was stopped goes on, and one with more --seconds runs those again that
had too few; delete it, or name programs, to look again.
"""

import argparse
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.programs_survey.arguments import known_arguments
from tests.programs_survey.draw import drawn, folders, foreign_library, library_of
from tests.programs_survey.judge import judge
from tests.programs_survey.limits import run_limited
from tests.programs_survey.makefile import Recipe, read_recipe
from tests.programs_survey.twin import agrees, twin_of

KEPT = "gpuprof-survey.json"
TIME_OVER = "time over"
STATES = {
    "passes": "passes", "wrong": "wrong", "nothing": "checks nothing", "usage": "no arguments",
    "memory": "needs more memory",
}  # fmt: skip
BUILD_S = 240
COLUMNS = ("program", "state", "cause", "build_s", "run_s", "arguments")  # of the file of results
CAUSE = re.compile(r"error|undefined|Error|lost|no such|not ", re.I)
FILE = re.compile(r"\.[a-z]\w+$")  # how the name of a file ends
MISSING = re.compile(r"'([^']+)' file not found")


def main() -> None:
    given = _arguments()
    kept = given.folder / KEPT
    found: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.is_file() else {}
    names = given.names or _drawn(given.folder, given.draw, given.seed)
    for name in names:
        known = found.get(name, {})
        if given.names or "build_s" not in known or (given.only == "all" and _may_end(known, given.seconds)):
            is_built = "build_s" in known and not given.names
            found[name] = known | (_run if is_built else _looked_at)(given.folder / name, given)
            kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
            print(f"{name}: {found[name]['state']}  {found[name]['cause']}", flush=True)
    entries = [{"program": name} | found[name] for name in names]
    if given.results:
        _write(given.results, entries)
    _show(entries)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.programs_survey", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="programs to look at again, in place of a draw")
    parser.add_argument("--draw", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--only", choices=("build", "all"), default="all", help="build: run nothing")
    parser.add_argument("--seconds", type=int, default=300, metavar="N", help="that a run may take")
    parser.add_argument("--gib", type=int, default=16, metavar="N", help="of addresses that a run may have")
    parser.add_argument("--results", type=Path, metavar="FILE.csv", help="a row for each program")
    return parser.parse_intermixed_args()


def _may_end(known: dict[str, Any], seconds: int) -> bool:
    """Whether a program that is known to build has not been run, or for less time."""
    return known["state"] == "builds" or (known["state"] == TIME_OVER and known.get("limit_s", 0) < seconds)


def _drawn(suite: Path, n_drawn: int, seed: int) -> list[str]:
    foreign = {folder.name: foreign_library(folder) for folder in folders(suite)}
    counts = Counter(library for library in foreign.values() if library)
    own = [name for name, library in foreign.items() if not library]
    print(f"{len(foreign)} programs, {len(own)} without foreign libraries; left out:", dict(counts.most_common()))
    return drawn(own, n_drawn, seed)


def _looked_at(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Builds a program and, if that is asked, runs it."""
    if not (folder / "Makefile").is_file():
        return {"state": "no Makefile", "cause": "", "build_s": 0}
    recipe = read_recipe(folder)
    command = [sys.executable, "-m", "tests.programs_survey.build", *_flags(recipe), *recipe.sources]
    built = run_limited(command, folder, BUILD_S, given.gib)
    entry = {"build_s": built.seconds, "output": built.output[-3000:]}
    if built.code != 0:
        cause = _cause(built.output, built.code is None)
        missing = MISSING.search(cause)
        state = "foreign library" if missing and library_of(missing[1]) else "does not build"
        return entry | {"state": state, "cause": cause}
    return entry | ({"state": "builds", "cause": ""} if given.only == "build" else _run(folder, given))


def _flags(recipe: Recipe) -> list[str]:
    return [
        *(f"-I{each}" for each in recipe.include_dirs),
        *(f"-D{each}" for each in recipe.defines),
        *(f"-l{each}" for each in recipe.libraries),
        *([f"--std={recipe.standard}"] if recipe.standard else []),
        *(["--rdc"] if recipe.links_device else []),
    ]


def _run(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    recipe = read_recipe(folder)
    arguments = _small(recipe)
    if absent := [each for each in arguments if is_input(each) and not (folder / each).exists()]:
        return {"state": "no data", "cause": f"{absent[0]} is not in the suite", "arguments": " ".join(arguments)}
    command = [sys.executable, "-m", "gpuprof", "run", *_flags(recipe), *recipe.sources, "--", *arguments]
    ended = run_limited(command, folder, given.seconds, given.gib)
    entry = {"run_s": ended.seconds, "arguments": " ".join(arguments), "output": ended.output[-3000:]}
    if ended.code is None or ended.seconds > given.seconds:
        return entry | {"state": TIME_OVER, "cause": f"more than {given.seconds} s", "limit_s": given.seconds}
    verdict = judge(ended.output, ended.code, given.gib)
    if verdict.says in ("wrong", "nothing") and _twin_agrees(folder, arguments, ended.output, given):
        return entry | {"state": "prints what its serial twin prints", "cause": verdict.line.strip()[:200]}
    return entry | {"state": STATES[verdict.says], "cause": verdict.line.strip()[:200]}


def is_input(argument: str) -> bool:
    """Whether an argument names a file that the program reads; `output.txt` is one that it writes."""
    return bool(FILE.search(argument)) and not Path(argument).name.startswith("out")


def _twin_agrees(folder: Path, arguments: tuple[str, ...], output: str, given: argparse.Namespace) -> bool:
    twin = twin_of(folder)
    if twin is None:
        return False
    recipe = read_recipe(*twin)
    command = [sys.executable, "-m", "gpuprof", "run", *_flags(recipe), *recipe.sources, "--", *arguments]
    ended = run_limited(command, recipe.folder, given.seconds, given.gib)
    return ended.code is not None and agrees(output, ended.output)


def _small(recipe: Recipe) -> tuple[str, ...]:
    """The arguments of `arguments.csv`; else those of the Makefile with one repetition: most programs take their number
    last.
    """
    known = known_arguments()
    if recipe.folder.name in known:
        return known[recipe.folder.name]
    *others, last = recipe.arguments or ("",)
    return tuple(each for each in (*others, "1" if last.isdigit() else last) if each)


def _cause(output: str, is_over: bool) -> str:
    if is_over:
        return f"the build takes more than {BUILD_S} s"
    lines = output.strip().splitlines() or ["no message"]
    return next((line for line in lines[1:] if CAUSE.search(line)), lines[-1]).strip()[:200]


def _write(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        rows.writerows(entries)


def _show(entries: Iterable[dict[str, Any]]) -> None:
    entries = list(entries)
    for state, count in Counter(each["state"] for each in entries).most_common():
        print(f"{count:4} {state}")
        if state not in ("passes", "builds"):
            for each in entries:
                if each["state"] == state:
                    print(f"       {each['program']}: {each['cause']}")


if __name__ == "__main__":
    main()
