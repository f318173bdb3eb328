"""Executions of each basic block, by thread."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.counts.thread_counts import ThreadSums
from gpuprof.trace.kernel import Kernel

PC = Column("pc", "integer", "", "code address of the block's first instruction")
BLOCKS = Table(
    "blocks",
    "runs of each basic block that has run",
    (
        PC,
        Column("instructions", "integer", "instructions", "in the block"),
        Column("warps", "integer", "runs", "by warps"),
        Column("runs", "integer", "runs", "by threads"),
        Column("threads", "integer", "threads", "that have run it"),
        Column("fewest", "integer", "runs", "by a thread of the launch"),
        Column("most", "integer", "runs", "by a thread of the launch"),
    ),
)
THREADS = Table(
    "threads",
    "runs of each basic block by thread, with `threads`",
    (
        PC,
        Column("block", "integer", "", "linear index of the thread's block in the grid"),
        Column("thread", "integer", "", "linear index of the thread in its block"),
        Column("runs", "integer", "runs", "never 0"),
    ),
)


class BlockCounts(TraceGenerator):
    """Counts the runs of each basic block by warps and by threads: how many threads run it, and how unequally."""

    name = "block_counts"
    blocks = True
    tables = (BLOCKS, THREADS)
    threads = Option(False, "list the runs of every thread")

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.sums: dict[int, ThreadSums] = {}  # by basic block
        self.warps: dict[int, int] = {}

    def event(self, event: TraceEvent) -> None:
        index = event.basic_block.index
        if index not in self.sums:
            self.sums[index], self.warps[index] = ThreadSums(self.kernel), 0
        self.warps[index] += event.n_warps
        self.sums[index].add(event, 1)

    def finish(self) -> None:
        for index, sums in sorted(self.sums.items()):
            instructions = self.kernel.basic_blocks[index].instructions
            pc, runs = instructions[0].pc, sums.by_thread
            n_threads = np.count_nonzero(runs)
            self.add_row(
                "blocks", pc, len(instructions), self.warps[index], runs.sum(), n_threads, runs.min(), runs.max()
            )
            if self.threads:
                blocks, threads = np.nonzero(runs)
                rows = zip(blocks.tolist(), threads.tolist(), runs[blocks, threads].tolist(), strict=True)
                self.add_rows("threads", [(pc, *row) for row in rows])
