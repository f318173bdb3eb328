"""The parallelism of a launch."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

LAUNCH = Table(
    "launch",
    "parallelism of the launch, as if every instruction took one cycle",
    (
        Column("warps", "integer", "instructions", "executed by all warps"),
        Column("longest_block", "integer", "instructions", "executed by the warps of one block, at most"),
        Column("longest_warp", "integer", "instructions", "executed by one warp, at most"),
        Column("blocks_speedup", "real", "", "warps / longest_block: speedup with a processor for each block"),
        Column("warps_speedup", "real", "", "warps / longest_warp: speedup with a processor for each warp"),
        Column("lanes", "real", "lanes", "active in an instruction, on the average"),
    ),
)


class Parallelism(TraceGenerator):
    """Finds the parallelism of a launch: between blocks, between warps, and between the lanes of a warp."""

    name = "parallelism"
    blocks = True
    tables = (LAUNCH,)

    def initialize(self, kernel: Kernel) -> None:
        self.warps_per_block = kernel.warps_per_block
        self.by_warp = np.zeros(kernel.n_blocks * kernel.warps_per_block, np.int64)
        self.threads = 0

    def event(self, event: TraceEvent) -> None:
        length = len(event.basic_block.instructions)
        self.by_warp[event.block * self.warps_per_block + event.warp] += length
        self.threads += length * event.n_active

    def finish(self) -> None:
        warps, longest_warp = int(self.by_warp.sum()), int(self.by_warp.max())
        longest_block = int(self.by_warp.reshape(-1, self.warps_per_block).sum(axis=1).max())
        ratios = [
            numerator / denominator if denominator else 0.0
            for numerator, denominator in ((warps, longest_block), (warps, longest_warp), (self.threads, warps))
        ]
        self.add_row("launch", warps, longest_block, longest_warp, *ratios)
