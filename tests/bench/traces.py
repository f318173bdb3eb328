"""What watching costs: emulation with trace generators against the same without. Not a test: `make bench` calls
`slowdown` and `rate`.
"""

import time
from collections.abc import Callable

import numpy as np

from gpuprof.trace.event import TraceEvent
from gpuprof.trace.find import CHECKERS, find
from gpuprof.trace.generator import TraceGenerator
from tests.bench.emulate import BLOCKS, KINDS, THREADS
from tests.support.watching import watch

SMALL_BLOCKS = 1
REPEATS = 3


class Count(TraceGenerator):
    """Counts instructions by basic block: warps and threads."""

    blocks = True

    def initialize(self, kernel):
        self.warps, self.threads = [0] * len(kernel.basic_blocks), [0] * len(kernel.basic_blocks)
        self.kernel = kernel

    def event(self, event: TraceEvent) -> None:
        self.warps[event.basic_block.index] += event.n_warps
        self.threads[event.basic_block.index] += event.n_active

    def executed(self) -> int:
        pairs = zip(self.kernel.basic_blocks, self.warps, strict=True)
        return sum(len(block.instructions) * warps for block, warps in pairs)


class CountInstructions(TraceGenerator):
    """Counts threads by instruction, those whose guard holds."""

    def initialize(self, kernel):
        self.threads = [0] * len(kernel.instructions)

    def event(self, event: TraceEvent) -> None:
        self.threads[event.instruction.number] += event.n_true


class Lines(TraceGenerator):
    """Looks at every address: the distinct lines of each warp's access."""

    kinds = ("load", "store", "atomic", "reduction")

    def initialize(self, kernel):
        self.warps = self.lines = 0

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            lines = np.where(access.active, access.addresses >> 7, -1)
            self.lines += int(np.count_nonzero(lines[:, 1:] != lines[:, :-1])) + len(lines)
            self.warps += event.n_warps


class Zeros(TraceGenerator):
    """Looks at every result: lanes that have zero."""

    values = True

    def initialize(self, kernel):
        self.warps = self.zeros = 0

    def post_event(self, event: TraceEvent) -> None:
        self.warps += event.n_warps
        for value in event.results:
            self.zeros += int(np.count_nonzero((value.bits == 0) & event.true))


def seconds(kind: str, blocks: int, *generators: TraceGenerator) -> float:
    """Of one emulation, the best of REPEATS."""

    def once() -> float:
        code, memory = KINDS[kind]()
        start = time.perf_counter()
        watch(code, *generators, memory=memory, grid=(blocks, 1, 1), block=(THREADS, 1, 1), shared_nbytes=1024)
        return time.perf_counter() - start

    return min(once() for _ in range(REPEATS))


def slowdown(kind: str, blocks: int, make: Callable[[], TraceGenerator]) -> float:
    """How many times as long the emulation takes when it is watched."""
    seconds(kind, blocks)  # the first compiles or loads the kernels
    return seconds(kind, blocks, make()) / seconds(kind, blocks)


def rate(kind: str, make: Callable[[], TraceGenerator]) -> float:
    """Warp accesses, or warp instructions, that a generator takes in a second of the time that watching adds."""
    seconds(kind, BLOCKS)
    generator = make()
    watched = seconds(kind, BLOCKS, generator)
    return generator.warps / (watched - seconds(kind, BLOCKS))


FIGURES = {
    "trace.count": ("converged", BLOCKS, Count),
    "trace.count.divergent": ("divergent", BLOCKS, Count),
    "trace.count.small": ("converged", SMALL_BLOCKS, Count),
    "trace.instructions": ("converged", BLOCKS, CountInstructions),
}


class Timed:
    """Warp instructions that a checker takes in a second of the whole emulation. The goal is 2 M, of racecheck 1 M."""

    def __init__(self, kind: str, make: Callable[[], TraceGenerator]):
        self.kind, self.make = kind, make

    def rate(self) -> float:
        counting = Count()
        seconds(self.kind, BLOCKS, counting)
        return counting.executed() / seconds(self.kind, BLOCKS, self.make())


CHECKED = {
    f"trace.{name}.{kind}": Timed(kind, find(name)) for name in CHECKERS for kind in ("converged", "memory", "gather")
}
RATES = {
    "trace.addresses": ("memory", Lines),
    "trace.addresses.gather": ("gather", Lines),
    "trace.values": ("converged", Zeros),
}


if __name__ == "__main__":
    for name, (kind, blocks, make) in FIGURES.items():
        print(f"{name:24s} {slowdown(kind, blocks, make):6.2f} times as long as emulation alone")
    for name, (kind, make) in RATES.items():
        print(f"{name:24s} {rate(kind, make) / 1e6:6.2f} M a second of the time that watching adds")
    for name, timed in CHECKED.items():
        print(f"{name:24s} {timed.rate() / 1e6:6.2f} M warp instructions a second")
