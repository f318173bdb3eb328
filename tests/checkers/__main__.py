"""`python -m tests.checkers`: of the planted errors how many are found, by kind, and of the clean twins how many have a
finding: planted, found, twins, told. docs/checkers-rates.md has the sums.
"""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import KernelFault
from gpuprof.trace.checkers.initcheck import Initcheck
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.checkers.synccheck import Synccheck
from gpuprof.trace.generator import TraceGenerator
from tests.checkers import (
    memory_cases,
    test_async_races,
    test_image_races,
    test_initcheck,
    test_launch_races,
    test_mbarrier_use,
    test_racecheck,
    test_synccheck,
)
from tests.support.planted import Planted


class Outcome(NamedTuple):
    """The kinds that a case's author put there, and those that are found."""

    planted: frozenset[str]
    found: frozenset[str]


class Case(NamedTuple):
    """A planted kernel, how it is launched, and the kinds that its author put there."""

    name: str
    body: str
    grid: int
    block: int
    cluster: int
    arrays: int
    kinds: frozenset[str]


class Matrix(NamedTuple):
    checker: type[TraceGenerator]
    chip: str
    prelude: str
    cases: list[Case]


def matrices() -> Iterator[Matrix]:
    races = [Case(each.name, each.body, each.grid, each.block, 1, 2, frozenset(each.kinds))
             for each in test_racecheck.CASES]  # fmt: skip
    yield Matrix(Racecheck, "a100", "", races)
    races = [Case(each.name, each.body, each.cluster, each.block, each.cluster, 2, frozenset(each.kinds))
             for each in test_async_races.CASES]  # fmt: skip
    yield Matrix(Racecheck, "h200", test_async_races.PRELUDE, races)
    uses = [Case(each.name, each.body, each.cluster, 64, each.cluster, 0, frozenset(kind for kind, _ in each.found))
            for each in test_mbarrier_use.CASES]  # fmt: skip
    yield Matrix(Synccheck, "h200", test_async_races.PRELUDE, uses)
    barriers = [Case(name, body, 2, threads, 1, 2, frozenset(kind for kind, _ in found))
                for name, (body, threads, found) in test_synccheck.CASES.items()]  # fmt: skip
    locked = [Case(name, body, 1, 64, 1, 2, frozenset(["deadlock"]))
              for name, (body, _) in test_synccheck.DEADLOCKS.items()]  # fmt: skip
    yield Matrix(Synccheck, "a100", "", barriers + locked)


def outcomes(matrix: Matrix, folder: Path) -> Iterator[Outcome]:
    source = matrix.prelude + "".join(_kernel(case) for case in matrix.cases)
    planted = Planted(folder, source, matrix.checker(), chip=matrix.chip)
    for case in matrix.cases:
        arrays = [planted.array(8192) for _ in range(case.arrays)]
        with suppress(KernelFault):  # what is misused may end the kernel; the finding stays
            planted.run(case.name, case.grid, case.block, *arrays, cluster=case.cluster)
        yield Outcome(case.kinds, frozenset(finding.kind for finding in planted.checkers[0].results[-1].findings))


def between_launches(folder: Path) -> Iterator[Outcome]:
    rig = test_launch_races.rig_in(folder)
    for case in test_launch_races.cases():
        told = test_launch_races.found_in(rig, case)
        yield Outcome(case.kinds, frozenset(sentence.split(":")[0] for sentence in told))
    for free in test_launch_races.FREE_CASES:
        told = test_launch_races.found_around_free(rig, free)
        yield Outcome(free.kinds, frozenset(sentence.split(":")[0] for sentence in told))


def images(folder: Path) -> Iterator[Outcome]:
    rig = test_image_races.rig_in(folder)
    for case in test_image_races.CASES:
        rig.planted.device.synchronize()
        yield Outcome(frozenset(case.kinds), frozenset(rig.run(case.name)))


def _kernel(case: Case) -> str:
    parameters = ("int *x, int *y")[: 14 * bool(case.arrays)]
    places = "int t = threadIdx.x, b = blockIdx.x, block = b; (void)b; (void)block;"
    if "u64 a, b;" in case.body:  # the name of an object there
        places = "int t = threadIdx.x, block = blockIdx.x; (void)block;"
    return f'extern "C" __global__ void {case.name}({parameters}) {{ {places} {case.body} }}\n'


class Count:
    """Of one group of cases how many are planted, how many of these are found, and the same of clean twins."""

    def __init__(self):
        self.planted = self.found = self.clean = self.told = 0

    def add(self, is_planted: bool, is_told: bool) -> None:
        self.planted, self.found = self.planted + is_planted, self.found + (is_planted and is_told)
        self.clean, self.told = self.clean + (not is_planted), self.told + (not is_planted and is_told)

    def __str__(self) -> str:
        return f"{self.planted} | {self.found} | {self.clean} | {self.told}"


Counts = dict[tuple[str, ...], Count]


def races_and_barriers(folder: Path) -> Counts:
    """racecheck and synccheck: by kind."""
    counts: Counts = {}
    of_folder = [*(partial(outcomes, matrix) for matrix in matrices()), between_launches, images]
    for number, each in enumerate(of_folder):
        (folder / str(number)).mkdir()
        for outcome in each(folder / str(number)):
            for kind in outcome.planted:
                counts.setdefault((kind,), Count()).add(True, kind in outcome.found)
            if not outcome.planted:
                counts.setdefault(("none",), Count()).add(False, bool(outcome.found))
    return counts


def accesses(folder: Path) -> Counts:
    """memcheck: by kind; of each by space, operation, width and distance in elements."""
    counts: Counts = {}
    planted = Planted(folder, memory_cases.source_of(memory_cases.CASES), Memcheck())
    for case in memory_cases.CASES:
        found = {each.kind for each in memory_cases.run(planted, case)}
        kind = case.kind or "none"
        for group in ((kind, case.space), (kind, f"{case.nbytes} bytes"), (kind, f"by {case.operation}")):
            counts.setdefault(group, Count()).add(bool(case.kind), (case.kind in found) if case.kind else bool(found))
        if case.kind == "out_of_bounds":
            counts.setdefault((kind, f"{case.ahead:+d} elements"), Count()).add(True, case.kind in found)
    return counts


def values(folder: Path) -> Counts:
    """initcheck: by kind; of each by where the value is, its width and what carries it."""
    counts: Counts = {}
    source = test_initcheck.HELPERS + "".join(case.source for case in test_initcheck.CASES)
    planted = Planted(folder, source, Initcheck())
    for case in test_initcheck.CASES:
        kind = test_initcheck.KINDS[case.sink]
        for is_whole in (False, True):
            found = {each.kind for each in test_initcheck.run_case(planted, case, is_whole)}
            is_told = bool(found) if is_whole else kind in found
            for group in (case.origin, f"{case.nbytes} bytes", f"carried by {case.carrier}"):
                counts.setdefault((kind, group), Count()).add(not is_whole, is_told)
    return counts


def main() -> None:
    for group in (accesses, values, races_and_barriers):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{group.__doc__}\n")
            for key, count in sorted(group(Path(folder)).items()):
                print(f"| {' | '.join(key)} | {count} |")
            print()


if __name__ == "__main__":
    main()
