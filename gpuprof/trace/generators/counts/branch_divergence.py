"""Branches, and where the lanes of a warp diverge."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

BRANCHES = Table(
    "branches",
    "branches, calls, returns and exits that have run, by call depth",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("depth", "integer", "calls", "that it is inside of: 0 in the kernel itself"),
        Column("kind", "text", "", "branch, call, return or exit; indirect ones end in _indirect"),
        Column("warps", "integer", "executions", "by warps"),
        Column("threads", "integer", "executions", "by active threads"),
        Column("taken", "integer", "executions", "by threads that take it"),
        Column("divergent", "integer", "executions", "by warps of which some lanes take it and others do not"),
    ),
)


class Branches(TraceGenerator):
    """Counts branches by call depth: how often they run, how many threads take them, and how often a warp diverges."""

    name = "branches"
    kinds = ("branch", "branch_indirect", "call", "call_indirect", "return", "exit")
    tables = (BRANCHES,)

    def initialize(self, kernel: Kernel) -> None:
        self.counts: dict[tuple[int, int, str], list[int]] = {}

    def event(self, event: TraceEvent) -> None:
        counts = self.counts.setdefault((event.pc, event.depth, event.instruction.kind), [0, 0, 0, 0])
        diverges = (event.taken_masks != 0) & (event.fall_through_masks != 0)
        for column, number in enumerate((event.n_warps, event.n_active, event.n_true, int(np.count_nonzero(diverges)))):
            counts[column] += number

    def finish(self) -> None:
        self.add_rows("branches", [(*key, *counts) for key, counts in sorted(self.counts.items())])
