"""The load balance between blocks and between threads: instructions, and bytes of memory."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.generators.counts.thread_counts import ThreadSums
from gpuprof.trace.kernel import ADDRESSING, Kernel


def of_blocks(unit: str, done: str) -> Table:
    """A table of work by block; `unit` of the work, `done`: the verb for it."""
    return Table(
        "blocks",
        f"{unit} {done} by each block",
        (
            Column("block", "integer", "", "linear index in the grid"),
            Column("total", "integer", unit, f"{done} by its threads"),
            Column("fewest", "integer", unit, f"{done} by one of its threads"),
            Column("most", "integer", unit, f"{done} by one of its threads"),
        ),
    )


def of_launch(unit: str, done: str) -> Table:
    return Table(
        "balance",
        f"{unit} {done} in the launch",
        (
            Column("over", "text", "", "blocks or threads, which share the work"),
            Column("total", "integer", unit, done),
            Column("fewest", "integer", unit, f"{done} by one"),
            Column("mean", "real", unit, f"{done} by one"),
            Column("most", "integer", unit, f"{done} by one"),
            Column("balance", "real", "", "mean / most: 1 when all do the same"),
        ),
    )


class Shares(TraceGenerator):
    """Work by thread, and its tables. Derived generators define the work."""

    def initialize(self, kernel: Kernel) -> None:
        self.sums = ThreadSums(kernel)

    def finish(self) -> None:
        by_thread = self.sums.by_thread
        by_block = by_thread.sum(axis=1)
        rows = np.stack([by_block, by_thread.min(axis=1), by_thread.max(axis=1)], axis=1).tolist()
        self.add_rows("blocks", [(block, *row) for block, row in enumerate(rows)])
        for over, work in (("blocks", by_block), ("threads", by_thread)):
            most = int(work.max())
            balance = float(work.mean()) / most if most else 1.0
            self.add_row("balance", over, work.sum(), work.min(), float(work.mean()), most, balance)


class Balance(Shares):
    """Finds the load balance: instructions executed by each block, and by the threads of a block."""

    name = "balance"
    blocks = True
    tables = (of_launch("instructions", "executed"), of_blocks("instructions", "executed"))

    def event(self, event: TraceEvent) -> None:
        self.sums.add(event, len(event.basic_block.instructions))


class BytesBalance(Shares):
    """Finds the load balance of memory: bytes of global memory that each block accesses, and the threads of a block."""

    name = "bytes_balance"
    kinds = ADDRESSING
    spaces = ("global",)
    tables = (of_launch("bytes", "accessed"), of_blocks("bytes", "accessed"))

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "global":
                self.sums.add_lanes(event, access.masks, access.nbytes)
