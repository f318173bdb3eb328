"""The number of lanes that run together."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

LANES = Table(
    "lanes",
    "runs of each basic block by warps, by the number of active lanes",
    (
        Column("pc", "integer", "", "code address of the block's first instruction"),
        Column("lanes", "integer", "lanes", "active in the warp, 1 to 32"),
        Column("runs", "integer", "runs", "by warps with so many, never 0"),
    ),
)
BLOCKS = Table(
    "thread_blocks",
    "instructions of each block of threads",
    (
        Column("block", "integer", "", "linear index in the grid"),
        Column("warps", "integer", "instructions", "executed by warps"),
        Column("threads", "integer", "instructions", "executed by active threads"),
        Column("converged", "integer", "instructions", "of `warps`, those with all 32 lanes active"),
    ),
)


class Convergence(TraceGenerator):
    """Counts how many lanes run together, by basic block and by block of threads."""

    name = "convergence"
    blocks = True
    tables = (LANES, BLOCKS)

    def initialize(self, kernel: Kernel) -> None:
        self.runs: dict[int, np.ndarray] = {}  # by pc: int64 (33,), by number of lanes
        # int64 (blocks, 3): columns of the table
        self.of_blocks = np.zeros((kernel.n_blocks, 3), np.int64)

    def event(self, event: TraceEvent) -> None:
        lanes = np.bitwise_count(event.active_masks).astype(np.int64)
        runs = np.bincount(lanes, minlength=WARP + 1)
        if event.pc in self.runs:
            self.runs[event.pc] += runs
        else:
            self.runs[event.pc] = runs
        length = len(event.basic_block.instructions)
        blocks, n_blocks = event.block, len(self.of_blocks)
        for column, weights in enumerate((None, lanes, lanes == WARP)):
            self.of_blocks[:, column] += length * np.bincount(blocks, weights, n_blocks).astype(np.int64)

    def finish(self) -> None:
        for pc, runs in sorted(self.runs.items()):
            self.add_rows("lanes", [(pc, int(lanes), int(runs[lanes])) for lanes in np.flatnonzero(runs)])
        self.add_rows("thread_blocks", [(block, *row) for block, row in enumerate(self.of_blocks.tolist())])
