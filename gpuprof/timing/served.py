"""When a quantum's memory requests have been served: registers get their cycles, and warps that waited go to sleep
until then.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.barrier import open_all
from gpuprof.timing.copies import settle_copy
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import (
    BULK_LOAD,
    CAUSE_KIND_MASK,
    CAUSE_KIND_SHIFT,
    CLASS_CONSTANT,
    ENTRY_SHIFT,
    HOLDING,
    KIND,
    N_CLASSES,
    QUANTUM,
    TOKEN,
)
from gpuprof.timing.mbarrier import end_phases
from gpuprof.timing.scoreboard import register_waits, sleep
from gpuprof.timing.tables import (
    block_at,
    blocked_at,
    board_at,
    dep_at,
    inst_at,
    load_at,
    maker_at,
    second_at,
    second_maker_at,
    until_at,
    warp_at,
)

COPY = KIND["copy"]
DRAIN = INDEX["drain"]


@cold
def settle(m):
    """Replaces this quantum's tokens by cycles."""
    for index in range(m.n_loads):
        settle_load(m, index)
    for k in range(m.n_blocked):
        unblock(m, blocked_at(m, k).value)
    m.n_loads = 0
    m.n_blocked = 0


@hot
def settle_load(m, index):
    """Writes a load's completion to its registers, and to those that folded instructions copied it to."""
    load = load_at(m, index)
    wi = load.warp
    inst = inst_at(m, load.pc)
    end = inst.first_dep + inst.n_deps
    for k in range(end - inst.n_writes, end):
        register = dep_at(m, k).value
        settle_entry(board_at(m, wi, register), maker_at(m, wi, register), index, load)
    if load.group >= 0:
        conflict = np.int64(load.conflict) << 16
        settle_copy(m, wi, load.group, load.done, np.int64(load.level) << CAUSE_KIND_SHIFT | conflict | load.pc)
    elif load.group <= BULK_LOAD:
        settle_bulk(m, wi, BULK_LOAD - load.group, load.done, warp_at(m, wi).who | COPY | load.pc)
    if warp_at(m, wi).alias:
        for register in range(m.n_registers):
            settle_entry(board_at(m, wi, register), maker_at(m, wi, register), index, load)
            settle_entry(second_at(m, wi, register), second_maker_at(m, wi, register), index, load)


@cold
def settle_bulk(m, wi, ended, done, cause):
    """A bulk copy lands; `ended` is its memory barrier's key and, from bit 8 on, the phases it ended."""
    slot = warp_at(m, wi).block_slot
    block = block_at(m, slot)
    block.copies -= 1
    done = max(done, m.now + QUANTUM)  # nothing was to be read: what waits has been simulated up to here
    if ended >> 8:
        end_phases(m, slot, ended & 0xFF, ended >> 8, done, cause)
    if block.copies == 0 and block.live and block.waiting >= block.live:
        open_all(m, slot, done, cause)


@hot
def settle_entry(place, maker, index, load):
    entry = place.value
    if entry >> ENTRY_SHIFT == TOKEN + index:
        place.value = load.done << ENTRY_SHIFT | (entry & ((1 << ENTRY_SHIFT) - 1))
        maker.value = (maker.value & ~CAUSE_KIND_MASK) | np.int64(load.level) << CAUSE_KIND_SHIFT


@cold
def unblock(m, wi):
    w = warp_at(m, wi)
    if w.state == HOLDING:
        drains = w.hold_reason == DRAIN
        done = w.stores_gone if drains else w.stores_done
        if done > w.ready:
            w.ready = done
            w.hold_cause = w.last_gone if drains else w.last_store
    else:
        inst = inst_at(m, w.pc)
        for c in range(CLASS_CONSTANT):
            until_at(m, wi, c).value = 0
        register_waits(m, wi, inst)
        w.ready = w.last + 1
        for c in range(N_CLASSES):
            w.ready = max(w.ready, until_at(m, wi, c).value)
    sleep(m, wi, w.ready)
