"""`python -m tests.clean_survey FOLDER [NAME ...]`: what the checkers find in code that is meant to be right.

That is all samples, kernels and programs of these tests, of CUDA C++, Triton and numba, under all four checkers. What
is found is kept in FOLDER/clean-survey.json, so that a survey that was stopped goes on; name units to look again. A
unit is a file of tests, of which a CPU time of 300 s is looked at, or a whole program.
"""

import argparse
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.trace.find import CHECKERS
from tests.paths import ROOT, TESTS
from tests.program.test_checked import FOLDER, WORDS
from tests.programs_survey.limits import run_limited

KEPT = "clean-survey.json"
SECONDS, GIB = 300, 24  # of one unit
# Files of tests whose kernels do nothing wrong on purpose.
TEST_FILES = {
    "samples": ("checkers/test_clean.py",),
    "programs": ("whole/test_programs.py", "whole/test_user_programs.py"),
    "kernels": ("whole/test_kernels.py", "checkers/test_hopper_clean.py"),
    "Triton": ("interop/test_triton.py",),
    "numba": ("interop/test_numba.py",),
}
FINDING = re.compile(r"^gpuprof: ([a-z_]+: (?!.*: cuda).*)$", re.MULTILINE)
COUNTED = re.compile(r"^gpuprof: (no errors|[\d,]+ errors? at .*)$", re.MULTILINE)


class Unit(NamedTuple):
    group: str
    name: str
    look: Callable[[], dict[str, object]]


def units() -> Iterator[Unit]:
    for group, files in TEST_FILES.items():
        for file in files:
            yield Unit(group, file, lambda file=file: _of_tests(file))
    for path in sorted(FOLDER.glob("*.cu")):
        words = WORDS.search(path.read_text())
        more = shlex.split(words[1]) if words else []
        yield Unit("whole programs", path.name, lambda path=path, more=more: _of_program(path, more))


def _of_program(path: Path, more: list[str]) -> dict[str, object]:
    checkers = [word for name in CHECKERS for word in ("--trace", name)]
    with tempfile.TemporaryDirectory() as scratch:
        words = [sys.executable, "-m", "gpuprof", "run", str(path), *checkers, *more]
        ended = run_limited(words, Path(scratch), SECONDS, GIB)
    why_not = "" if COUNTED.search(ended.output) else (ended.output.strip() or "no time left").splitlines()[-1]
    found = FINDING.findall(ended.output)
    return {"looked_at": int(not why_not), "found": {path.stem: found} if found else {}, "why_not": why_not}


def _of_tests(file: str) -> dict[str, object]:
    """All tests of a file: what is looked at are launches."""
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch, "found.json")
        words = [sys.executable, "-m", "pytest", "-q", "-p", "tests.clean_survey.plugin", "-p", "no:cacheprovider",
                 "--clean-survey", str(told), str(TESTS / file)]  # fmt: skip
        ended = run_limited(words, ROOT, SECONDS, GIB)
        if not told.is_file():
            return {"looked_at": 0, "found": {}, "why_not": (ended.output.strip() or "no time left").splitlines()[-1]}
        found = json.loads(told.read_text())
    return {"looked_at": found["launches"], "found": found["found"], "why_not": ""}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.clean_survey", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="units to look at again")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / KEPT
    known = json.loads(kept.read_text()) if kept.is_file() else {}
    rows = []
    for unit in units():
        key = f"{unit.group}/{unit.name}"
        if key not in known or unit.name in given.names:
            known[key] = unit.look()
            kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
            print(f"{key}: {known[key]}", flush=True)
        rows.append((unit.group, known[key]))
    for line in rates(rows):
        print(line)


def rates(rows: list[tuple[str, dict]]) -> Iterator[str]:
    """Rows of the table in docs/checkers-rates.md: by group the number of checked programs or launches, the programs or
    tests with a finding, and the units that could not be checked.
    """
    for group in dict.fromkeys(group for group, _ in rows):
        found = [each for name, each in rows if name == group]
        told = sum(len(each["found"]) for each in found)
        unseen = sum(bool(each["why_not"]) for each in found)
        yield f"| {group} | {sum(each['looked_at'] for each in found)} | {told} | {unseen} |"


if __name__ == "__main__":
    main()
