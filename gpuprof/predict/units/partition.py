"""The units of a partition of an SM: the scheduler's issue slots, the pipes, and the register file."""

import numpy as np

from gpuprof.isa.causes import INDEX as KIND
from gpuprof.isa.stalls import INDEX as REASON
from gpuprof.predict.opcode_facts import PIPES
from gpuprof.predict.work import Work


def issue(work: Work) -> np.ndarray:
    """The issue slots of the reference chip's recording, corrected by the difference between both architectures'
    tables.
    """
    return slots(work) / work.chips["dispatch_units"]


def slots(work: Work) -> np.ndarray:
    """Issue slots per warp."""
    recorded = work.by_op(work.counters.executed.slots).sum()
    table = work.executions @ work.facts.slots
    return np.maximum(recorded + table - table[0], 1)


def pipes(work: Work) -> dict[str, np.ndarray]:
    """Cycles of each pipe: an instruction of a warp occupies one of n lanes for 32 / n cycles."""
    return {pipe: work.executions @ work.facts.busy[pipe] for pipe in PIPES}


WAITS = tuple(REASON[name] for name in ("wait", "long_scoreboard", "short_scoreboard", "branch_resolving"))


def register_file(work: Work) -> np.ndarray:
    """Cycles of the fuller of two banks, each of which reads one word of a warp at a time. After a wait, an instruction
    has no operand of the previous one in the reuse cache. An fp64 unit that partitions share reads its operands later.
    """
    executed, chips = work.counters.executed, work.chips
    waited = np.minimum(1, waits(work) / np.maximum(executed.warps, 1))
    banks = np.array(
        (
            executed.warps * (waited * executed.even + (1 - waited) * executed.even_left),
            executed.warps * (waited * executed.odd + (1 - waited) * executed.odd_left),
        )
    )
    is_fp64 = work.mask_of(lambda op: op.pipe == "fp64")
    later = np.where(chips["lanes.fp64"] < 1, banks[:, is_fp64].sum(1)[:, None], 0)
    words = banks.sum(1)[:, None] - later  # by bank and chip
    return words.max(0) / work.counters.warps * chips["register_word_cycles"]


def waits(work: Work) -> np.ndarray:
    """float64 (instructions,): stalls for an operand or a jump, except for the pipe that the warp's last instruction
    occupies.
    """
    stalls = work.counters.waits
    is_counted = np.isin(stalls.reason, WAITS) & (stalls.kind != KIND["pipe"]) & (stalls.waiting >= 0)
    return np.bincount(stalls.waiting[is_counted], stalls.count[is_counted], len(work.counters.executed.pc))
