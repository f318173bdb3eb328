"""What noting the bytes of launches costs, and how long a million tasks take to load. Not a test: `make bench` calls
`slowdown` and `load`.
"""

import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from gpuprof.correlate.correlate import correlate
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.tasks.queries import read_tasks
from gpuprof.emulate.watch.footprint import Footprint
from tests.bench.emulate import emulate_rate
from tests.support.many_tasks import write_many_tasks

ROUNDS = 3


def slowdown(kind: str) -> float:
    """How many times as long a kernel of tests/bench/emulate.py takes with a footprint; the best of a few rounds of
    each, by turns.
    """
    rates = [(emulate_rate(kind), emulate_rate(kind, Footprint())) for _ in range(ROUNDS)]
    return max(plain for plain, _ in rates) / max(noted for _, noted in rates)


def load(folder: Path, n_tasks: int) -> float:
    """Seconds to read the tasks of a database that is open."""
    recording = write_many_tasks(folder / "many.gprec", n_tasks)
    correlate(recording, folder / "many.gpudb")
    with closing(ensure_database(folder / "many.gpudb")) as database:
        start = time.perf_counter()
        assert len(read_tasks(database)) == n_tasks
        return time.perf_counter() - start


if __name__ == "__main__":
    for name in ("converged", "memory", "gather"):
        print(f"{name:10s} {slowdown(name):.2f} times as long with a footprint")
    with TemporaryDirectory() as there:
        n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
        print(f"{n:,} tasks load in {load(Path(there), n):.2f} s")
