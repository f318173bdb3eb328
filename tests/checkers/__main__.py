"""`python -m tests.checkers`: of the planted errors how many are found, by kind, and of the clean twins how many have a
finding. docs/checkers.md has the table.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import KernelFault
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.checkers.synccheck import Synccheck
from gpuprof.trace.generator import TraceGenerator
from tests.checkers import test_async_races, test_mbarrier_use, test_racecheck, test_synccheck
from tests.support.planted import Planted


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


def outcomes(matrix: Matrix, folder: Path) -> Iterator[tuple[Case, frozenset[str]]]:
    """Each case with the kinds that are found."""
    source = matrix.prelude + "".join(_kernel(case) for case in matrix.cases)
    planted = Planted(folder, source, matrix.checker(), chip=matrix.chip)
    for case in matrix.cases:
        arrays = [planted.array(8192) for _ in range(case.arrays)]
        with suppress(KernelFault):  # what is misused may end the kernel; the finding stays
            planted.run(case.name, case.grid, case.block, *arrays, cluster=case.cluster)
        yield case, frozenset(finding.kind for finding in planted.checkers[0].results[-1].findings)


def _kernel(case: Case) -> str:
    parameters = ("int *x, int *y")[: 14 * bool(case.arrays)]
    places = "int t = threadIdx.x, b = blockIdx.x, block = b; (void)b; (void)block;"
    if "u64 a, b;" in case.body:  # the name of an object there
        places = "int t = threadIdx.x, block = blockIdx.x; (void)block;"
    return f'extern "C" __global__ void {case.name}({parameters}) {{ {places} {case.body} }}\n'


def main() -> None:
    planted, found, n_clean, n_told = Counter(), Counter(), 0, 0
    for matrix in matrices():
        with tempfile.TemporaryDirectory() as folder:
            for case, kinds in outcomes(matrix, Path(folder)):
                planted.update(case.kinds)
                found.update(case.kinds & kinds)
                n_clean += not case.kinds
                n_told += not case.kinds and bool(kinds)
    for kind in sorted(planted):
        print(f"| `{kind}` | {planted[kind]} | {found[kind]} |")
    print(f"clean twins: {n_clean}, of these with a finding: {n_told}")


if __name__ == "__main__":
    main()
