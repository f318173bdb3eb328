"""The causes that ended stalls: cycles and stalls by (instruction, reason, cause), exactly as many as the ledger has.

A cause is one number (see layout). An instruction that makes others wait leaves its cause with the resource they wait
for: the registers that it writes, the port that it takes, the queue, the block's memory barriers. Where another warp
may read it, the warp's age is part of it. Rows of the table are found by their key. Each entry of the ledger remembers
the row that it used last, which is mostly the next one, too.
"""

import numpy as np

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import CAUSE_MASK, CAUSE_WARP_SHIFT, KIND, OTHER, REASON_SHIFT, STALLED_SHIFT
from gpuprof.timing.state.table_rows import blame_at, blame_bucket_at, blame_latest_at, warp_at

BARRIER = KIND["barrier"]
SPREAD = -7046029254386353131  # 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)


@inline_njit
def seen_by(machine, warp, carried):
    """A cause with its warp, as warp `warp` sees it."""
    other = (carried ^ warp_at(machine, warp).cause_warp) >> CAUSE_WARP_SHIFT != 0
    return (carried & CAUSE_MASK) | OTHER * other


@inline_njit
def itself(machine, warp, kind):
    """The instruction that a warp is at, as a cause that others can see."""
    w = warp_at(machine, warp)
    return w.cause_warp | kind | w.pc


@call_njit
def latecomer(machine, warp):
    """The cause that the last warp at a barrier leaves: the instruction at which it was held longest since its previous
    barrier.
    """
    w = warp_at(machine, warp)
    return w.cause_warp | BARRIER | (w.longest_pc if w.longest else w.pc)


@inline_njit
def blame(machine, pc, reason, cause, cycles):
    """Charges one stall of `cycles` cycles to its cause."""
    key = pc << STALLED_SHIFT | reason << REASON_SHIFT | cause
    row = blame_at(machine, blame_latest_at(machine, pc, reason).value)
    if row.key != key:
        row = blame_at(machine, find_row(machine, pc, reason, key))
    row.cycles += cycles
    row.stalls += 1


@call_njit
def find_row(machine, pc, reason, key):
    """The number of the row of `key`, a new one if there is none. The next look is at it first."""
    bucket = blame_bucket_at(machine, (key * SPREAD) >> 32 & machine.blame_mask)
    number = np.int64(bucket.value)
    while number and blame_at(machine, number).key != key:
        number = np.int64(blame_at(machine, number).next)
    if number == 0:
        number = machine.n_blame
        machine.n_blame += 1
        blame_at(machine, number).key = key
        blame_at(machine, number).next = bucket.value
        bucket.value = number
    blame_latest_at(machine, pc, reason).value = number
    return number
