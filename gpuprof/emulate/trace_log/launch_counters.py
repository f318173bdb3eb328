"""Exact counters of one launch, one row per instruction of the module's code."""

from dataclasses import dataclass, field, fields

import numpy as np

from gpuprof.emulate.core.device_launches import Launched
from gpuprof.emulate.trace_log.patterns import Patterns


@dataclass
class Pulse:
    """How far the emulation is, at any time. It is only displayed: nothing is computed from it. `blocks` have begun,
    `at` is the instruction that ran last, -1 before the first.
    """

    blocks: int = 0
    warp_instructions: int = 0
    at: int = -1


@dataclass
class LaunchCounters:
    """uint64 arrays, shape (instructions,), indexed like `module.code`; `output` is what the kernel printed, `launched`
    the grids that it launched (see emulate.core.device_launches), both in order; `patterns` those of the instructions
    that access shared memory, by their index; `slow_slots` the issue slots of slow paths beyond those of their rows, by
    instruction.
    """

    inst_executed: np.ndarray  # by warps
    thread_inst_executed: np.ndarray  # by active lanes
    thread_inst_executed_pred_on: np.ndarray  # by active lanes whose guard held
    divergent_branches: np.ndarray  # warps whose lanes went two ways or more
    l1_tag_requests_global: np.ndarray  # distinct 128-byte lines
    l2_sectors_global: np.ndarray  # distinct 32-byte sectors
    l2_sectors_global_ideal: np.ndarray  # had the lanes' bytes been packed, never more than l2_sectors_global
    l2_sectors_local: np.ndarray
    l1_wavefronts_shared: np.ndarray
    l1_wavefronts_shared_ideal: np.ndarray
    output: list[str] = field(default_factory=list)
    launched: Launched = field(default_factory=Launched)
    patterns: dict[int, Patterns] = field(default_factory=dict)
    slow_slots: dict[int, int] = field(default_factory=dict)
    pulse: Pulse = field(default_factory=Pulse)

    @classmethod
    def zeros(cls, n_instructions: int) -> "LaunchCounters":
        return cls(*np.zeros((len(COUNTER_NAMES), n_instructions), np.uint64))


NO_COUNTERS = ("output", "launched", "patterns", "slow_slots", "pulse")
COUNTER_NAMES = tuple(f.name for f in fields(LaunchCounters) if f.name not in NO_COUNTERS)
