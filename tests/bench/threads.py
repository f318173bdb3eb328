"""Timing on threads: how many times as fast two are as one, what it costs to hand out a quantum, and what more of them
would give.

Run `python -m tests.bench.threads` for all of it. Where two cores are threads of one core, or others work on the
machine, two threads cannot be twice as fast as one.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from gpuprof.base.processes import use_threads
from gpuprof.chips import load_chip
from gpuprof.timing import crew, simulate as simulating
from gpuprof.timing.state.layout import QUANTUM
from tests.bench import timing
from tests.paths import ROOT

PAIRS = 5
BLOCKS = {"compute": 864, "memory": 864}
LAUNCH = "naive<<<(24, 24), (16, 16)>>>(a: f32[384,384]=random, b: f32[384,384]=random, c: f32[384,384], 384)"


def ratio(slow: Callable[[], float], quick: Callable[[], float], pairs: int = PAIRS) -> float:
    """The median of the ratios of pairs of measurements, the first and the second one first by turns."""
    found = []
    for number in range(pairs):
        first, second = (slow, quick) if number % 2 == 0 else (quick, slow)
        values = {first: first(), second: second()}
        found.append(values[slow] / values[quick])
    return statistics.median(found)


def seconds(kind: str, n_threads: int) -> float:
    """Seconds for an issue slot of a launch that fills the chip, without emulation."""
    return 1 / timing.timing_rate(kind, blocks=BLOCKS[kind], n_threads=n_threads)


def factor(kind: str, n_threads: int = 2) -> float:
    """How many times as fast threads are as one."""
    return ratio(lambda: seconds(kind, 1), lambda: seconds(kind, n_threads))


def collect_factor(folder: Path, n_threads: int = 2) -> float:
    """The same of `gpuprof collect` as a whole."""

    def collected(n: int) -> float:
        command = [sys.executable, "-m", "gpuprof", "collect", str(ROOT / "samples" / "matmul.cu"), "--launch", LAUNCH]
        began = time.perf_counter()
        subprocess.run([*command, "--threads", str(n), "-o", "t.gprec"], cwd=folder, check=True, capture_output=True)
        return time.perf_counter() - began

    collected(1)
    return ratio(lambda: collected(1), lambda: collected(n_threads), 3)


def handout_ns() -> float:
    """The cost of handing out a quantum, ns: of one block, which only one thread at a time can run, when each of its
    quanta is handed out to two, more than when none is.
    """
    at_once = (
        mock.patch.object(crew, "LEAST_SMS", 1),
        mock.patch.object(crew, "FIRST_QUANTA", 0),
        mock.patch.object(simulating, "FIRST_QUANTA", 1),
        mock.patch.object(timing, "LOOPS", 2048),  # some 20,000 quanta
    )
    with ExitStack() as stack:
        for patch in at_once:
            stack.enter_context(patch)
        code, chip, piece = timing._loop(timing._memory_body()), load_chip("a100"), timing._piece(1, 4)

        def once(n_threads: int) -> tuple[float, float]:
            use_threads(n_threads)
            took, found = timing._timed(code, chip, piece, 1, 0)
            return took, found.cycles / QUANTUM

        once(2)
        pairs = [(once(2), once(1)) for _ in range(4 * PAIRS)]
    return 1e9 * statistics.median((two[0] - one[0]) / one[1] for two, one in pairs)


def projected(serial_share: float, n_threads: int) -> float:
    """How many times as fast so many threads are, when a share of one thread's time stays with one (Amdahl, 1967)."""
    return 1 / (serial_share + (1 - serial_share) / n_threads)


def main() -> None:
    for kind in BLOCKS:
        two = factor(kind)
        serial = max(0.0, 2 / two - 1)
        print(f"{kind}: 2 threads {two:.2f} times as fast as 1; so one thread has {100 * serial:.0f} % for itself")
        print("  projection:", ", ".join(f"{n} threads {projected(serial, n):.1f}" for n in (4, 8, 16)))
    print(f"handing out a quantum: {handout_ns():.0f} ns")


if __name__ == "__main__":
    main()
