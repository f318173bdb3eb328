"""The L2 and the way to it: an SM's link, the slices (whole sectors, and sectors that a store writes in part), and the
atomic units.
"""

import numpy as np

from gpuprof.chips.model import LINE_NBYTES
from gpuprof.isa.opcodes import COMPARE_AND_SWAPS
from gpuprof.predict.units.caches import SECTOR_NBYTES, Traffic
from gpuprof.predict.units.lsu import ATOMICS, GLOBAL
from gpuprof.predict.work import Work


def slices(work: Work, traffic: Traffic) -> np.ndarray:
    executed, chips = work.counters.executed, work.chips
    is_store = work.mask_of(lambda op: op.space in GLOBAL and op.kind == "store")
    partial, requests = executed.partial_sectors[is_store].sum(), executed.partial_requests[is_store].sum()
    atomic = executed.sectors[is_atomic(work)].sum()
    whole = np.maximum(traffic.l2_sectors - partial - atomic, 0) * SECTOR_NBYTES / chips["l2_slice_nbytes_per_cycle"]
    cycles = whole + partial * chips["l2_partial_sector_cycles"] + requests * chips["l2_partial_request_cycles"]
    return cycles / chips["l2_slices"] / work.counters.warps


def atomic(work: Work) -> np.ndarray:
    """A pass handles a sector, with as many lanes as it has words for; lanes on one word take turns, and a word belongs
    to one slice: the fewer lines the accesses touch, the fewer slices share the work.
    """
    executed, chips = work.counters.executed, work.chips
    of = is_atomic(work)
    ops = [work.counters.ops[index] for index in executed.op[of]]
    lane = np.array([[is_float(op)] for op in ops], bool).reshape(-1, 1)
    turns = np.where(lane, chips["atomic_float_cycles"], chips["atomic_cycles"])
    passes = np.maximum(executed.sectors[of], executed.lanes[of] * np.array([op.nbytes for op in ops]) / SECTOR_NBYTES)
    cycles = np.maximum(np.outer(passes, chips["atomic_sector_cycles"]), executed.conflicts[of, None] * turns)
    swaps = np.array([[op.number in COMPARE_AND_SWAPS] for op in ops], bool).reshape(-1, 1)
    cycles *= np.where(swaps, chips["cas_passes"], 1)
    pieces = np.maximum(work.counters.atomic_lines * LINE_NBYTES / chips["l2_interleave_nbytes"], 1)
    return cycles.sum(0) / np.minimum(chips["l2_slices"], pieces) / work.counters.warps


def is_atomic(work: Work) -> np.ndarray:
    return work.mask_of(lambda op: op.space in GLOBAL and op.kind in ATOMICS)


def is_float(op) -> bool:
    return bool(op.types) and op.types[0].startswith(("f", "bf"))


def link(work: Work, traffic: Traffic) -> np.ndarray:
    """Cycles of an SM's link to the L2, on which both directions take turns."""
    return traffic.l2_sectors * SECTOR_NBYTES / work.chips["noc_nbytes_per_cycle"] / work.counters.warps
