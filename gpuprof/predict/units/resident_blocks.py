"""Resident blocks per SM, the waves of a launch, and the limiting resource: the rules of `chips.residency`, for columns
of chips.
"""

from dataclasses import dataclass

import numpy as np

from gpuprof.chips.residency import REGISTER_UNIT
from gpuprof.predict.work import Work


@dataclass(frozen=True)
class Residency:
    """float64 (chips,). `waves` are those that fill the chip; `left`: remaining blocks."""

    blocks_per_sm: np.ndarray
    waves: np.ndarray
    left: np.ndarray


def residency(work: Work) -> Residency:
    fits = np.minimum.reduce(list(limits(work).values()))
    at_a_time = np.maximum(fits * work.chips["sms"], 1)
    waves = np.floor(work.counters.blocks / at_a_time)
    return Residency(fits, waves, work.counters.blocks - waves * at_a_time)


def limits(work: Work) -> dict[str, np.ndarray]:
    """Blocks per SM by each resource separately; 0 where not even one fits."""
    chips, warps = work.chips, work.block_warps
    return {
        "warps": np.floor(chips["warp_slots"] / warps) * (work.counters.threads <= chips["max_threads_per_block"]),
        "blocks": chips["max_blocks"],
        "registers": _by_registers(work),
        "shared": _by_shared_memory(work),
    }


def shared_of_block(work: Work) -> np.ndarray:
    """Bytes of shared memory that are allocated for a block."""
    unit = work.chips["shared_granularity"]
    return np.ceil((work.counters.shared_nbytes + work.chips["shared_reserved_nbytes"]) / unit) * unit


def _by_shared_memory(work: Work) -> np.ndarray:
    chips, given = work.chips, shared_of_block(work)
    fits = np.floor(chips["shared_nbytes"] / np.maximum(given, 1))
    fits = np.where(given > 0, fits, chips["max_blocks"])
    return fits * (work.counters.shared_nbytes <= chips["max_shared_nbytes_per_block"])


def _by_registers(work: Work) -> np.ndarray:
    chips, registers = work.chips, work.counters.registers
    if registers == 0:
        return chips["max_blocks"]
    unit, parts = chips["register_granularity"], chips["partitions"]
    of_warp = np.ceil(np.ceil(registers / REGISTER_UNIT) * REGISTER_UNIT * chips["warp_lanes"] / unit) * unit
    fits_at_all = of_warp * np.ceil(work.block_warps / parts) * parts <= chips["registers"]
    fits = np.floor(np.floor(chips["registers"] / parts / of_warp) * parts / work.block_warps)
    return fits * fits_at_all * (registers <= chips["max_registers_per_thread"])
