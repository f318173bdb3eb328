"""A cache of chosen size, line, ways and policy, for the accesses or instructions of a launch."""

from collections.abc import Mapping

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.memory.sets import POLICIES, Sets
from gpuprof.trace.generators.memory.units import of_access
from gpuprof.trace.kernel import ADDRESSING, Kernel

INSTRUCTION_NBYTES = 16
HITS = Table(
    "hits",
    "accesses to the cache by instruction, and of the launch",
    (
        Column("pc", "integer", "", "code address of the instruction, or of a basic block; -1: the whole launch"),
        Column("accesses", "integer", "accesses", "of warps to a line"),
        Column("hits", "integer", "accesses", "whose line was there"),
        Column("misses", "integer", "accesses", "whose line was not"),
        Column("evictions", "integer", "lines", "replaced by one of these"),
    ),
)


class Simulated(TraceGenerator):
    """A cache, and its table. Derived generators define the accesses."""

    tables = (HITS,)
    size = Option(128 * 1024, "bytes of the cache")
    line = Option(128, "bytes of a line")
    ways = Option(4, "lines of a set; 0: one set has them all")
    policy = Option("lru", f"which line of a set is replaced: {', '.join(POLICIES)}")

    def initialize(self, kernel: Kernel) -> None:
        n_lines = self.size // self.line if self.line > 0 else 0
        ways = self.ways or n_lines
        if self.line < 1 or self.line & self.line - 1 or n_lines < 1 or ways < 1 or n_lines % ways:
            raise UsageError(
                f"a cache of {self.size} bytes with lines of {self.line} bytes and {self.ways} ways: the line needs a "
                "power of two bytes, and the size a whole number of sets"
            )
        if self.policy not in POLICIES:
            raise UsageError(f"option policy is {self.policy!r}: expected {', '.join(POLICIES)}")
        self.shift = self.line.bit_length() - 1
        self.sets = Sets(n_lines // ways, ways, self.policy)
        self.counts: dict[int, list[int]] = {}  # by pc: accesses, hits, evictions

    def take(self, pc: int, lines: np.ndarray) -> None:
        """An instruction requests lines, int64 (n,), in this order."""
        counts = self.counts.setdefault(pc, [0, 0, 0])
        hits, evictions = self.sets.take(lines)
        counts[0] += len(lines)
        counts[1] += hits
        counts[2] += evictions

    def finish(self) -> None:
        totals = tuple(map(sum, zip((0, 0, 0), *self.counts.values(), strict=True)))
        for pc, (accesses, hits, evictions) in [(-1, totals), *sorted(self.counts.items())]:
            self.add_row("hits", pc, accesses, hits, accesses - hits, evictions)


class Cache(Simulated):
    """Simulates a cache of chosen size, line, ways and policy on the launch's accesses to global memory.

    Loads and stores both allocate their line. All blocks share the cache, in the order of the emulation.
    """

    name = "cache"
    kinds = ADDRESSING
    spaces = ("global",)

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "global":
                self.take(event.pc, of_access(access, self.shift)[0])


class InstructionCache(Simulated):
    """Simulates a cache of chosen size, line, ways and policy on the instructions that warps execute.

    A warp requests a line of code when it enters it, in the order of the emulation.
    """

    name = "instruction_cache"
    blocks = True

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self.lines: Mapping[int, np.ndarray] = {
            block.index: np.unique(
                np.arange(block.instructions[0].pc, block.instructions[-1].pc + INSTRUCTION_NBYTES, INSTRUCTION_NBYTES)
                >> self.shift
            )
            for block in kernel.basic_blocks
        }

    def event(self, event: TraceEvent) -> None:
        self.take(event.pc, np.tile(self.lines[event.basic_block.index], event.n_warps))
