"""The share of active lanes."""

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

BLOCKS = Table(
    "blocks",
    "activity of each basic block that has run, and of the kernel",
    (
        Column("pc", "integer", "", "code address of the block's first instruction; -1: the whole kernel"),
        Column("warps", "integer", "instructions", "instructions executed by warps"),
        Column("threads", "integer", "instructions", "instructions executed by active threads"),
        Column("factor", "real", "", "threads / (32 * warps): 1 when all lanes are always active"),
    ),
)


class Activity(TraceGenerator):
    """Finds the activity factor: the share of lanes that are active, by basic block and of the kernel."""

    name = "activity"
    blocks = True
    tables = (BLOCKS,)

    def initialize(self, kernel: Kernel) -> None:
        self.counts: dict[int, list[int]] = {}  # by pc: warps, threads

    def event(self, event: TraceEvent) -> None:
        counts = self.counts.setdefault(event.pc, [0, 0])
        length = len(event.basic_block.instructions)
        counts[0] += length * event.n_warps
        counts[1] += length * event.n_active

    def finish(self) -> None:
        total = [sum(column) for column in zip(*self.counts.values(), strict=True)] or [0, 0]
        for pc, (warps, threads) in [(-1, total), *sorted(self.counts.items())]:
            self.add_row("blocks", pc, warps, threads, threads / (WARP * warps) if warps else 0.0)
