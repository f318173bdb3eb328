"""The L2's slices: whole sectors, sectors that a store writes in part, and the atomic unit."""

import numpy as np

from gpuprof.isa.opcodes import COMPARE_AND_SWAPS
from gpuprof.predict.units.caches import SECTOR_NBYTES, Traffic
from gpuprof.predict.units.lsu import ATOMICS, GLOBAL
from gpuprof.predict.work import Work


def slices(work: Work, traffic: Traffic) -> np.ndarray:
    found, chips = work.counters.executed, work.chips
    of = work.places(lambda op: op.space in GLOBAL and op.kind == "store")
    partial, requests = found.partial_sectors[of].sum(), found.partial_requests[of].sum()
    atomic = found.sectors[is_atomic(work)].sum()
    whole = np.maximum(traffic.l2_sectors - partial - atomic, 0) * SECTOR_NBYTES / chips["l2_slice_nbytes_per_cycle"]
    cycles = whole + partial * chips["l2_partial_sector_cycles"] + requests * chips["l2_partial_request_cycles"]
    return cycles / chips["l2_slices"] / work.counters.warps


def atomic(work: Work) -> np.ndarray:
    """A pass takes a sector, with as many lanes as it has words for; lanes on one word take turns, and a word has one
    slice: the more accesses meet on few lines, the fewer slices share the work.
    """
    found, chips = work.counters.executed, work.chips
    of = is_atomic(work)
    ops = [work.counters.ops[place] for place in found.op[of]]
    lane = np.array([[is_float(op)] for op in ops], bool).reshape(-1, 1)
    turns = np.where(lane, chips["atomic_float_cycles"], chips["atomic_cycles"])
    passes = np.maximum(found.sectors[of], found.lanes[of] * np.array([op.nbytes for op in ops]) / SECTOR_NBYTES)
    cycles = np.maximum(np.outer(passes, chips["atomic_sector_cycles"]), found.conflicts[of, None] * turns)
    swaps = np.array([[op.number in COMPARE_AND_SWAPS] for op in ops], bool).reshape(-1, 1)
    cycles *= np.where(swaps, chips["cas_passes"], 1)
    return cycles.sum(0) / np.minimum(chips["l2_slices"], work.counters.atomic_lines) / work.counters.warps


def is_atomic(work: Work) -> np.ndarray:
    return work.places(lambda op: op.space in GLOBAL and op.kind in ATOMICS)


def is_float(op) -> bool:
    return bool(op.types) and op.types[0].startswith(("f", "bf"))


def link(work: Work, traffic: Traffic) -> np.ndarray:
    return traffic.l2_sectors * SECTOR_NBYTES / work.chips["noc_nbytes_per_cycle"] / work.counters.warps
