"""`python -m tests.races_survey FOLDER [NAME ...]`: what racecheck finds in public suites of kernels whose authors say
whether they race.

FOLDER holds suites, which are no part of this repository: `gpuverify`, the folder testsuite/CUDA of
https://github.com/mc-imperial/gpuverify; `scor`, the folder microbenchmarks of https://github.com/csl-iisc/ScoR;
`indigo`, the folder of that name of https://github.com/JohnJacobsonIII/HiRace-Artifact-SC24, of which --draw programs
are drawn at random. What is found is kept in FOLDER/races-survey.json, so that a survey that was stopped goes on;
delete it, or name cases, to look again.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from tests.programs_survey.limits import run_limited
from tests.races_survey import kernels

KEPT = "races-survey.json"
FOUND_CODE = 9
SECONDS, GIB = 120, 16  # of one program
FINDING = re.compile(r"^gpuprof: (\w+_race|missing_proxy_fence|more_races): ", re.M)
ENDED = re.compile(r"^gpuprof: (no errors|[\d,]+ errors? at [\d,]+ places?)", re.M)
# Of Indigo: those with this are wrong in another way, as its users count them; a graph, threads of a block, blocks.
NO_RACE, GRAPH, SIZES = "boundsBug", "DAG_100n_200e.egr", ("64", "128")


class Case(NamedTuple):
    """`look` gives the kinds of races that are found, and raises GpuprofError where that cannot be said."""

    suite: str
    name: str
    is_racy: bool
    look: Callable[[], list[str]]


def cases(folder: Path, n_drawn: int, seed: int) -> Iterator[Case]:
    for path in sorted((folder / "scor" / "src").glob("*.cu")):
        yield Case(
            "scor", path.stem, path.stem.startswith("race"), partial(_of_program, path, "racecheck:volatile=yes")
        )
    for case in kernels.cases(folder / "gpuverify"):
        yield Case("gpuverify", case.name, case.is_racy, partial(_of_kernels, case))
    indigo = folder / "indigo"
    programs = [path for path in sorted(indigo.glob("indigo_sources/*/*.cu")) if NO_RACE not in path.stem]
    words = ("-I", str(indigo / "indigo_include"), "--", str(indigo / "input" / GRAPH), *SIZES)
    for path in sorted(random.Random(seed).sample(programs, min(n_drawn, len(programs)))):
        yield Case("indigo", path.stem, "Bug" in path.stem, partial(_of_program, path, "racecheck", *words))


def _of_program(path: Path, trace: str, *words: str) -> list[str]:
    command = [sys.executable, "-m", "gpuprof", "run", str(path), "--trace", trace]
    command += ["--error-exitcode", str(FOUND_CODE), *words]
    ended = run_limited(command, path.parent, SECONDS, GIB)
    # Programs of a suite may end with a code of their own where results are wrong.
    if not ENDED.search(ended.output):
        raise GpuprofError(ended.output.strip().splitlines()[-1] if ended.output.strip() else "no time left")
    return sorted(set(FINDING.findall(ended.output)))


def _of_kernels(case: kernels.Case) -> list[str]:
    with tempfile.TemporaryDirectory() as scratch:
        return kernels.kinds_found(case, Path(scratch))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.races_survey", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="cases to look at again")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="programs of Indigo to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    given = parser.parse_args()
    kept = given.folder / KEPT
    known = json.loads(kept.read_text()) if kept.is_file() else {}
    rows = []
    for case in cases(given.folder, given.draw, given.seed):
        key = f"{case.suite}/{case.name}"
        if key not in known or case.name in given.names:
            known[key] = _looked_at(case)
            kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
            print(f"{key}: {'racy' if case.is_racy else 'clean'}: {known[key]}", flush=True)
        rows.append((case.suite, case.is_racy, known[key]))
    for line in rates(rows):
        print(line)


def _looked_at(case: Case) -> dict[str, object]:
    try:
        return {"found": case.look(), "why_not": ""}
    except GpuprofError as error:
        return {"found": [], "why_not": str(error).splitlines()[0]}


def rates(rows: list[tuple[str, bool, dict]]) -> Iterator[str]:
    """For each suite: of the racy ones, how many have a finding; of the others, how many have one."""
    yield "suite       racy  found  clean  with a finding  not run"
    for suite in dict.fromkeys(suite for suite, _, _ in rows):
        of_suite = [(is_racy, bool(found["found"])) for name, is_racy, found in rows
                    if name == suite and not found["why_not"]]  # fmt: skip
        n_all = sum(name == suite for name, _, _ in rows)
        racy, clean = ([found for is_racy, found in of_suite if is_racy == wanted] for wanted in (True, False))
        counts = len(racy), sum(racy), len(clean), sum(clean), n_all - len(of_suite)
        yield f"{suite:10s} {counts[0]:5d} {counts[1]:6d} {counts[2]:6d} {counts[3]:15d} {counts[4]:8d}"


if __name__ == "__main__":
    main()
