"""Memory instructions: the address unit of a partition, and the load/store unit of an SM with its banks and tags."""

import numpy as np

from gpuprof.isa.row import Opcode
from gpuprof.predict.opcode_facts import THROUGH_QUEUE
from gpuprof.predict.work import Work, width

GLOBAL = ("global", "local", "generic", "texture", "surface")
BARRIERS = ("barrier", "barrier_vote", "barrier_arrive")
ATOMICS = ("atomic", "reduction")
TURNS = (*ATOMICS, "mbarrier")  # kinds whose lanes on one word of shared memory take turns


def address(work: Work) -> np.ndarray:
    """Cycles of the address unit: one memory instruction at a time."""
    return work.by_op(work.counters.executed.warps * work.mask_of(takes_queue)).sum() * work.chips["address_cycles"]


def takes_queue(op: Opcode) -> bool:
    return op.slots > 0 and (op.space in (*GLOBAL, "shared") or op.kind in THROUGH_QUEUE)


def lsu(work: Work) -> np.ndarray:
    return global_memory(work) + shared_memory(work) + others(work)


def global_memory(work: Work) -> np.ndarray:
    """Cycles of accesses to global memory, each of which takes its passes through the banks, or through the tags,
    whichever is longer.
    """
    executed, chips = work.counters.executed, work.chips
    of = work.mask_of(lambda op: op.space in GLOBAL) & ~stays_on_chip(work)
    words = np.array([width(op) for op in work.counters.ops])[executed.op[of]] * executed.warps[of]
    of_chip = np.maximum.reduce(
        [
            np.outer(words, chips["lsu_cycles"]),
            np.outer(executed.tag_passes[of], chips["tag_pass_cycles"]),
            np.outer(executed.tag_lookups[of], chips["tag_lookup_cycles"]),
            np.outer(executed.wavefronts[of], np.ones(len(chips))),
        ]
    )
    return of_chip.sum(0) / work.counters.warps


def shared_memory(work: Work) -> np.ndarray:
    """Wavefronts through 32 banks, also of data that stages of a draw pass to each other; lanes of an atomic on the
    same word take turns.
    """
    executed, chips = work.counters.executed, work.chips
    of = work.mask_of(lambda op: op.space == "shared") | stays_on_chip(work)
    turns = work.mask_of(lambda op: op.space == "shared" and op.kind in TURNS)[of]
    passes = np.where(turns, np.maximum(executed.shared[of], executed.conflicts[of]), executed.shared[of])
    of_chip = np.maximum(passes[:, None], np.outer(executed.warps[of], chips["shared_cycles"]))
    return of_chip.sum(0) / work.counters.warps


def stays_on_chip(work: Work) -> np.ndarray:
    """bool (instructions,): accesses to data that stages of a draw pass to each other. They request sectors of no
    cache, only the banks.
    """
    executed = work.counters.executed
    return work.mask_of(lambda op: op.space in GLOBAL) & (executed.sectors == 0) & (executed.shared > 0)


def others(work: Work) -> np.ndarray:
    """Exchanges between lanes and special registers take one pass each, and arrivals at barriers take turns."""
    passes = work.executions[[op.kind in THROUGH_QUEUE and op.slots > 0 for op in work.counters.ops]].sum()
    arrivals = work.executions[[op.kind in BARRIERS for op in work.counters.ops]].sum()
    return passes + arrivals * work.chips["barrier_lsu_cycles"]
