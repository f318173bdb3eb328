"""A launch on some chips: the input of the block models."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuprof.isa.row import Opcode
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.launch_counters import LaunchCounters
from gpuprof.predict.opcode_facts import Facts, facts_of


@dataclass(frozen=True)
class Work:
    """`chips`: the reference chip first, then the requested ones. All arrays made from it have one value per chip."""

    counters: LaunchCounters
    chips: Numbers

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.counters.ops, self.chips)

    @cached_property
    def zeros(self) -> np.ndarray:
        return np.zeros(len(self.chips))

    @cached_property
    def block_warps(self) -> np.ndarray:
        """Warps of a block."""
        return np.ceil(self.counters.threads / self.chips["warp_lanes"])

    def by_op(self, values: np.ndarray) -> np.ndarray:
        """float64 (ops,): sums of per-instruction values, per warp."""
        ex = self.counters.executed
        return np.bincount(ex.op, values, len(self.counters.ops)) / self.counters.warps

    @cached_property
    def executions(self) -> np.ndarray:
        """float64 (ops,): executions per warp."""
        return self.by_op(self.counters.executed.warps)

    def mask_of(self, matches) -> np.ndarray:
        """bool (instructions,): the instructions for whose row `matches(row)` holds."""
        of_ops = np.array([matches(op) for op in self.counters.ops], bool)
        return of_ops[self.counters.executed.op]


def width(op: Opcode) -> int:
    """Words of 4 bytes that each lane accesses."""
    return max(1, op.nbytes // 4) if op.kind in ("load", "store") else 1
