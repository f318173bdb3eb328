"""The execution of a launch on warps and SIMD units of other widths."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.generators.counts.thread_counts import FULL
from gpuprof.trace.kernel import Kernel

NARROW = (1, 2, 4, 8, 16, 32)
WIDE = 64
WIDTHS = Table(
    "widths",
    "the launch's instructions on warps, or SIMD units, of other widths",
    (
        Column("lanes", "integer", "lanes", "of a warp; with temporal SIMT, of the SIMD unit"),
        Column("issues", "integer", "instructions", "groups of so many lanes of which one or more is active"),
        Column("threads", "integer", "instructions", "executed by active threads"),
        Column("activity", "real", "", "threads / (lanes * issues)"),
        Column("spatial_cycles", "integer", "cycles", "when idle groups are not skipped"),
    ),
)


class Widths(TraceGenerator):
    """Finds what warps of 1 to 64 lanes would execute, and SIMD units of that width that skip idle groups.

    A narrower warp is a group of adjacent lanes. With temporal SIMT a unit of w lanes processes a warp in groups of w,
    one per cycle, and skips those without an active lane: it takes as many cycles as a warp of w lanes has issues. A
    warp of 64 consists of two warps with even and odd numbers; it executes the instructions of both at once when they
    are reached together, and one after the other when they are not.
    """

    name = "widths"
    blocks = True
    tables = (WIDTHS,)

    def initialize(self, kernel: Kernel) -> None:
        self.issues = dict.fromkeys((*NARROW, WIDE), 0)
        self.threads = self.warps = 0

    def event(self, event: TraceEvent) -> None:
        length = len(event.basic_block.instructions)
        masks = event.active_masks
        self.threads += length * event.n_active
        self.warps += length * event.n_warps
        for lanes in NARROW:
            self.issues[lanes] += length * _issues(masks, lanes)
        # Warps of one block whose numbers differ only in the last bit are next to each other.
        pair, block = event.warp >> 1, event.block
        self.issues[WIDE] += length * (1 + int(np.count_nonzero((np.diff(pair) != 0) | (np.diff(block) != 0))))

    def finish(self) -> None:
        for lanes, issues in self.issues.items():
            activity = self.threads / (lanes * issues) if issues else 0.0
            spatial = self.warps * (WARP // lanes) if lanes <= WARP else issues
            self.add_row("widths", lanes, issues, self.threads, activity, spatial)


def _issues(masks: np.ndarray, lanes: int) -> int:
    """The number of groups of `lanes` lanes with a bit in the masks, uint32 (n,)."""
    if (masks == FULL).all():
        return len(masks) * WARP // lanes
    folded = masks
    shift = 1
    while shift < lanes:  # in the end a lane's bit is set if it or a higher lane of its group is in the mask
        folded = folded | folded >> np.uint32(shift)
        shift *= 2
    first_lanes = sum(1 << lane for lane in range(0, WARP, lanes))
    return int(np.bitwise_count(folded & np.uint32(first_lanes)).sum())
