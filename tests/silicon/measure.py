"""Rows of the comparison, from cases: in as many processes as there are jobs."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from gpuprof.chips.fidelity.published_kernels import Row
from gpuprof.errors import GpuprofError
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.paths import TESTS
from tests.silicon.cards import chip_of
from tests.silicon.case import Case
from tests.silicon.published import by_id, published_cycles
from tests.silicon.run import modelled

COMPILERS = ("clang", "nvcc")
KERNELS = TESTS / "silicon" / "kernels"


class Job(NamedTuple):
    set: str
    case: Case
    compiler: str

    @property
    def place(self) -> tuple[str, str]:
        """The same for jobs that share their code."""
        return self.compiler, f"{self.case.file} {self.case.runs[0].launches[-1].partition('<<<')[0]}"


class Found(NamedTuple):
    row: Row
    seconds: float


def measure(jobs: Iterable[Job], processes: int) -> Iterator[Found]:
    """A row per job. Jobs with the same kernel go to one process, which compiles it once."""
    shared: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        shared.setdefault(job.place, []).append(job)
    if processes == 1:
        for group in shared.values():
            yield from map(measure_one, group)
        return
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(_measure_all, shared.values()):
            yield from found


def _measure_all(jobs: list[Job]) -> list[Found]:
    return [measure_one(job) for job in jobs]


def measure_one(job: Job) -> Found:
    begun = time.monotonic()
    try:
        found = modelled(job.case, job.compiler)
        row = row_of(job, found.kind, found.cycles)
    except GpuprofError as error:
        row = row_of(job, "", None, str(error).splitlines()[0].replace(f"{KERNELS}/", ""))
    return Found(row, time.monotonic() - begun)


def row_of(job: Job, kind: str, cycles: float | None, why: str = "") -> Row:
    """`why` the kernel does not run."""
    case = job.case
    return Row(
        MODEL_VERSION,
        case.id,
        job.set,
        case.family,
        kind,
        case.card,
        chip_of(case.card),
        job.compiler,
        by_id()[case.id].trust,
        published_cycles(case),
        cycles,
        case.group,
        case.ladder,
        why,
    )
