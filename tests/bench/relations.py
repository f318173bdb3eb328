"""The cost of noting the bytes of launches, and the time that a million tasks and many launches take. Not a test: `make
bench` calls `slowdown`, `million` and `report_seconds`.
"""

import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gpuprof.correlate.correlate import correlate
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.tasks.task_queries import read_tasks
from gpuprof.emulate.watch.footprint import Footprint
from gpuprof.export.timeline import perfetto
from tests.bench.emulate import emulate_rate
from tests.bench.long_run import peak_nbytes
from tests.paths import ROOT
from tests.support.many_launches import write_many_launches
from tests.support.many_tasks import write_many_tasks

ROUNDS = 3


def slowdown(kind: str) -> float:
    """How many times as long a kernel of tests/bench/emulate.py takes with a footprint; the best of a few rounds of
    each, by turns.
    """
    rates = [(emulate_rate(kind), emulate_rate(kind, Footprint())) for _ in range(ROUNDS)]
    return max(plain for plain, _ in rates) / max(noted for _, noted in rates)


class Million(NamedTuple):
    """Seconds to correlate a recording of many tasks, to open its database with all checks, and to read its tasks; the
    most memory in MiB meanwhile; then seconds to export it for Perfetto.
    """

    correlate: float
    open: float
    read: float
    memory: float
    perfetto: float


def million(folder: Path, n_tasks: int) -> Million:
    """In a process of its own, for its memory."""
    write_many_tasks(folder / "many.gprec", n_tasks)
    command = [sys.executable, "-m", "tests.bench.relations", str(folder)]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return Million(*map(float, text.split()))


def timed(folder: Path) -> Million:
    times = [time.perf_counter()]
    correlate(folder / "many.gprec", folder / "many.gpudb")
    times.append(time.perf_counter())
    with closing(ensure_database(folder / "many.gpudb")) as database:
        times.append(time.perf_counter())
        assert len(read_tasks(database)) > 0
        times.append(time.perf_counter())
        most = peak_nbytes() / (1 << 20)
        perfetto.write(database, folder / "many.pftrace")
    took = time.perf_counter() - times[-1]
    return Million(*(after - before for before, after in pairwise(times)), most, took)


def report_seconds(folder: Path, n_launches: int) -> tuple[float, float]:
    """Seconds to report a recording of many launches, and to report its database."""
    recording, database = folder / "launches.gprec", folder / "launches.gpudb"
    write_many_launches(recording, n_launches)
    correlate(recording, database)
    return report_of(recording), report_of(database)


def report_of(path: Path) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gpuprof", "report", str(path)], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*timed(Path(sys.argv[1])))
    else:
        for name in ("converged", "memory", "gather"):
            print(f"{name:10s} {slowdown(name):.2f} times as long with a footprint")
        with TemporaryDirectory() as there:
            print(million(Path(there), 1_000_000))
