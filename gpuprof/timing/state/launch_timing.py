"""The timing of one launch: the values that a simulation gives."""

from dataclasses import dataclass

import numpy as np

from gpuprof.timing.state.activity_bins import Activity
from gpuprof.timing.state.extrapolation import Extrapolation

# A warp of a shader: its stage, a place in chips.draw_units.SHADER_STAGES, and the cycles in which it starts and has
# ended.
SHADER_WAVE = np.dtype([("stage", "u1"), ("start_cycle", "i8"), ("end_cycle", "i8")])


@dataclass(frozen=True)
class UnitTraffic:
    """Bytes that a fixed-function unit read and wrote for a draw: of the L2, in sectors; and of the DRAM, what this
    cost, with lines that had to leave the L2.
    """

    l2_read_nbytes: int
    l2_write_nbytes: int
    dram_read_nbytes: int
    dram_write_nbytes: int


@dataclass(frozen=True)
class DrawTiming:
    """Cycles from power-on: the draw starts with its command, and ends when all of it has left all units.

    Of each fixed-function unit that the draw passed, by name (chips.draw_units): `busy_cycles`, at work, and
    `blocked_cycles`, with an item for which the next buffer has no room; the cycle in which the unit began its first
    item, and that by which the last one had left it.

    waves: SHADER_WAVE, every warp of the draw's shaders as they were dispatched. work: what the draw asked of the
    units, by the amounts of chips.draw_units.COSTS, and `state_changes`. traffic: of each unit that may access memory.
    """

    start_cycle: int
    end_cycle: int
    busy_cycles: dict[str, float]
    blocked_cycles: dict[str, float]
    first_cycle: dict[str, int]
    last_cycle: dict[str, int]
    waves: np.ndarray
    work: dict[str, int]
    traffic: dict[str, UnitTraffic]


@dataclass(frozen=True)
class LaunchTiming:
    """Exact numbers of one launch. Cycles count from power-on unless they are a duration.

    ledger: uint64 (n_instructions, N_REASONS), warp-cycles by the instruction a warp waited to issue and the first
    reason that held (columns in the order of isa.stalls.REASONS). Its sum is `resident_warp_cycles`; a test and an
    assertion hold that.

    activity: the same cycles over time, and those in which SMs had its warps; its sums are the ledger's, and
    `sm_active_cycles`.

    stalls: lengths.STALLS_DTYPE, ascending by (instruction, reason): the same cycles, those of issues aside, as stalls:
    how many of which length in cycles, and the longest.

    losses: tables.launch.LOSSES, a row for each SM that was sampled. `samples_due` and `samples_dropped` are
    sums over them.
    disturbance_cycles: of `cycles`, what sampling cost, 0 but for records that leave through the load/store unit.

    causes: tables.launch.CAUSES, what ended the stalls, in the order that a recording has; the ledger's cycles
    once more, but for those of `selected`.

    atomic_lines: tables.launch.ATOMIC_LINES, at most MOST_ATOMIC_LINES rows.
    """

    start_cycle: int
    end_cycle: int
    cycles: int
    issue_slots: int  # issue slots used, all SMs
    resident_warp_cycles: int
    warps_launched: int
    blocks_launched: int
    blocks_per_sm: int
    occupancy_limiter: str
    samples_due: int
    samples_kept: int
    samples_dropped: int
    buffer_full: bool
    l1_sectors: int
    l1_hits: int  # sectors
    l2_sectors: int
    l2_hits: int  # sectors
    dram_read_nbytes: int
    dram_write_nbytes: int
    l2_atomic_cycles: int  # of the slice with the most
    shared_wavefronts: int
    tensor_busy_cycles: int  # sum over partitions of the cycles for which products keep the tensor pipe
    sm_active_cycles: int  # sum over SMs of the cycles in which a warp was resident
    active_cycles_of_sm: np.ndarray  # uint64 (n_sms,)
    ledger: np.ndarray
    activity: Activity
    stalls: np.ndarray
    losses: np.ndarray
    causes: np.ndarray
    atomic_lines: np.ndarray
    disturbance_cycles: int = 0
    sampling_period_cycles: int | None = None  # that was found, where the sampler looked for one
    extrapolation: Extrapolation | None = None  # when not all blocks were timed: how to continue from here
    repetitions: np.ndarray | None = None  # uint64, cycles of each timing of a launch that is timed several times
    draw: DrawTiming | None = None  # of the draw that it is the first shader of
