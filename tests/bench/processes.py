"""Emulation on processes: how many times as fast two are as one, and what a second one costs that is of no use.

Run `python -m tests.bench.processes` for all of it. Where two cores are threads of one core, or others work on the
machine, two processes cannot be twice as fast as one.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from gpuprof.base.heap import give_back_large_arrays
from gpuprof.base.processes import use_threads
from tests.bench import emulate
from tests.bench.threads import ratio
from tests.paths import ROOT
from tests.support.emulate_harness import run

KERNELS = ("converged", "divergent", "memory")
BLOCKS = 2048  # 17 chunks
PROGRAM, ROUNDS = ROOT / "tests" / "program" / "sources" / "spread.cu", 200000


def seconds(kind: str, n_processes: int) -> float:
    """Seconds of a launch of one of tests/bench/emulate.py's kernels that nothing observes."""
    give_back_large_arrays()  # as a session does
    use_threads(n_processes)
    with mock.patch.object(emulate, "BLOCKS", BLOCKS):
        code, memory = emulate.KINDS[kind]()
    start = time.perf_counter()
    run(code, memory=memory, grid=(BLOCKS, 1, 1), block=(emulate.THREADS, 1, 1), shared_nbytes=1024,
        max_warp_instructions=10_000_000, is_watched=False)  # fmt: skip
    return time.perf_counter() - start


def factor(kind: str, n_processes: int = 2) -> float:
    """How many times as fast processes are as one."""
    seconds(kind, 1)
    return ratio(lambda: seconds(kind, 1), lambda: seconds(kind, n_processes))


def run_factor(folder: Path, n_processes: int = 2) -> float:
    """The same of `gpuprof run` as a whole, of a program with one long launch."""

    def ran(n: int) -> float:
        command = [sys.executable, "-m", "gpuprof", "run", str(PROGRAM), "--threads", str(n), "--", str(ROUNDS)]
        began = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return time.perf_counter() - began

    ran(1)
    return ratio(lambda: ran(1), lambda: ran(n_processes), 3)


def in_vain_factor() -> float:
    """The time of one process by that of two, when the second does nothing that counts: what trying costs."""

    def in_vain(run, carry_out, left, outcomes, number) -> None:
        """Takes its half, and leaves no outcome."""
        for _ in range(left.n // 2):
            left.take_last()

    def two() -> float:
        with mock.patch("gpuprof.emulate.spread.spread.help_out", in_vain):
            return seconds("converged", 2)

    seconds("converged", 1)
    return ratio(lambda: seconds("converged", 1), two)


def main() -> None:
    for kind in KERNELS:
        print(f"{kind}: 2 processes {factor(kind):.2f} times as fast as 1")
    with tempfile.TemporaryDirectory() as folder:
        print(f"gpuprof run: {run_factor(Path(folder)):.2f} times as fast as 1")
    print(f"chunks that all run again: {in_vain_factor():.2f} times as fast as 1")


if __name__ == "__main__":
    main()
