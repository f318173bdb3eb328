"""The control-flow graph, with the execution count of each edge."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

NODES = Table(
    "nodes",
    "basic blocks that have run",
    (
        Column("pc", "integer", "", "code address of the block's first instruction"),
        Column("instructions", "integer", "instructions", "in the block"),
        Column("warps", "integer", "runs", "by warps"),
        Column("threads", "integer", "runs", "by threads"),
    ),
)
EDGES = Table(
    "edges",
    "transitions from one basic block to the next, including calls and returns",
    (
        Column("pc", "integer", "", "code address of the first instruction of the block that is left"),
        Column("to_pc", "integer", "", "code address of the entered block"),
        Column("threads", "integer", "runs", "threads that take this edge, never 0"),
    ),
)
NOWHERE = -1


class Graph(TraceGenerator):
    """Counts the runs of the control-flow graph's blocks and edges (gpuprof export --format cfg-dot, cfg-svg)."""

    name = "graph"
    blocks = True
    tables = (NODES, EDGES)

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        n_warps = kernel.n_blocks * kernel.warps_per_block
        # The last block of each warp: of all its lanes, or (-1) of each lane, in `_lanes`.
        self._together = np.full(n_warps, NOWHERE, np.int32)
        self._lanes: np.ndarray | None = None
        self._is_divergent = np.zeros(n_warps, bool)
        n_blocks = len(kernel.basic_blocks)
        self.runs = np.zeros((n_blocks, 2), np.int64)  # by warps, by threads
        self.edges: dict[int, np.ndarray] = {}  # by the block that is entered: int64 (blocks,), threads

    def event(self, event: TraceEvent) -> None:
        index, masks = event.basic_block.index, event.active_masks
        self.runs[index] += event.n_warps, event.n_active
        warps = event.block * self.kernel.warps_per_block + event.warp
        is_converged = (masks == 0xFFFFFFFF) & ~self._is_divergent[warps]
        together = warps[is_converged]
        self._count(index, self._together[together], WARP)
        self._together[together] = index
        if not is_converged.all():
            self._each_lane(index, warps[~is_converged], event.active[~is_converged])

    def _each_lane(self, index: int, warps: np.ndarray, active: np.ndarray) -> None:
        if self._lanes is None:
            self._lanes = np.empty((len(self._together), WARP), np.int32)
        diverging = warps[~self._is_divergent[warps]]
        self._lanes[diverging] = self._together[diverging, None]
        self._is_divergent[diverging] = True
        last = self._lanes[warps]
        self._count(index, last[active], 1)
        last[active] = index
        self._lanes[warps] = last
        # Lanes of a warp that are in the same block again are converged.
        converged = warps[(last == last[:, :1]).all(axis=1)]
        self._together[converged], self._is_divergent[converged] = self._lanes[converged, 0], False

    def _count(self, index: int, last: np.ndarray, threads: int) -> None:
        last = last[last != NOWHERE]
        if len(last):
            counts = threads * np.bincount(last, minlength=len(self.runs))
            self.edges[index] = self.edges[index] + counts if index in self.edges else counts

    def finish(self) -> None:
        pcs = [block.instructions[0].pc for block in self.kernel.basic_blocks]
        lengths = [len(block.instructions) for block in self.kernel.basic_blocks]
        for index in np.flatnonzero(self.runs[:, 0]).tolist():
            self.add_row("nodes", pcs[index], lengths[index], *self.runs[index])
        edges = [
            (pcs[start], pcs[end], int(counts[start]))
            for end, counts in self.edges.items()
            for start in np.flatnonzero(counts).tolist()
        ]
        self.add_rows("edges", sorted(edges))
