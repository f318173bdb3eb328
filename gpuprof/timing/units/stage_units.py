"""When a quantum's memory requests have been served: registers get their cycles, and warps that waited go to sleep
until then.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    BULK_LOAD,
    CAUSE_KIND_MASK,
    CAUSE_KIND_SHIFT,
    CLASS_CONSTANT,
    ENTRY_SHIFT,
    HOLDING,
    KIND,
    QUANTUM,
    TOKEN,
)
from gpuprof.timing.state.table_rows import (
    block_at,
    blocked_at,
    board_at,
    dep_at,
    inst_at,
    load_at,
    maker_at,
    second_at,
    second_maker_at,
    sm_at,
    warp_at,
)
from gpuprof.timing.units.async_copies import settle_copy
from gpuprof.timing.units.barrier import open_all
from gpuprof.timing.units.mbarrier import end_phases
from gpuprof.timing.units.scoreboard import gap_waits, latest_end, register_waits, sleep

COPY = KIND["copy"]
DRAIN = INDEX["drain"]


@call_njit
def settle(machine, sm):
    """Replaces the tokens that an SM's loads of this quantum have left by cycles."""
    s = sm_at(machine, sm)
    # Registers first, since the blocked warps read them.
    for index in range(s.first_load, s.end_load):
        settle_load(machine, index)
    for k in range(s.first_blocked, s.end_blocked):
        unblock(machine, blocked_at(machine, k).value)


@inline_njit
def settle_load(machine, index):
    """Writes a load's completion to its registers, and to those that folded instructions copied it to."""
    load = load_at(machine, index)
    wi = load.warp
    inst = inst_at(machine, load.pc)
    if inst.sooner_cycles:  # what waits has been simulated up to the quantum's end
        load.done = max(load.done - inst.sooner_cycles, machine.now + QUANTUM)
    end = inst.first_dep + inst.n_deps
    for k in range(end - inst.n_writes, end):
        register = dep_at(machine, k).value
        settle_entry(board_at(machine, wi, register), maker_at(machine, wi, register), index, load)
    if load.group >= 0:
        conflict = np.int64(load.conflict) << 16
        settle_copy(machine, wi, load.group, load.done, np.int64(load.level) << CAUSE_KIND_SHIFT | conflict | load.pc)
    elif load.group <= BULK_LOAD:
        settle_bulk(machine, wi, BULK_LOAD - load.group, load.done, warp_at(machine, wi).cause_warp | COPY | load.pc)
    if warp_at(machine, wi).alias:
        for register in range(machine.n_registers):
            settle_entry(board_at(machine, wi, register), maker_at(machine, wi, register), index, load)
            settle_entry(second_at(machine, wi, register), second_maker_at(machine, wi, register), index, load)


@call_njit
def settle_bulk(machine, warp, ended, done, cause):
    """A bulk copy lands; `ended` is its memory barrier's key and, from bit 8 on, the phases it ended."""
    slot = warp_at(machine, warp).block_slot
    block = block_at(machine, slot)
    block.copies -= 1
    done = max(done, machine.now + QUANTUM)  # nothing was to be read: what waits has been simulated up to here
    if ended >> 8:
        end_phases(machine, slot, ended & 0xFF, ended >> 8, done, cause)
    if block.copies == 0 and block.live and block.waiting >= block.live:
        open_all(machine, slot, done, cause)


@inline_njit
def settle_entry(word, maker, index, load):
    entry = word.value
    if entry >> ENTRY_SHIFT == TOKEN + index:
        word.value = load.done << ENTRY_SHIFT | (entry & ((1 << ENTRY_SHIFT) - 1))
        maker.value = (maker.value & ~CAUSE_KIND_MASK) | np.int64(load.level) << CAUSE_KIND_SHIFT


@call_njit
def unblock(machine, warp):
    w = warp_at(machine, warp)
    if w.state == HOLDING:
        drains = w.hold_reason == DRAIN
        done = w.stores_gone if drains else w.stores_done
        if done > w.ready:
            w.ready = done
            w.hold_cause = w.last_gone if drains else w.last_store
    else:
        inst = inst_at(machine, w.pc)
        # The classes from CLASS_CONSTANT on do not depend on requests: their ends are known and stay.
        w.held &= -1 << CLASS_CONSTANT
        register_waits(machine, warp, inst)
        gap_waits(machine, warp, inst)
        w.ready = max(w.last + 1, latest_end(machine, warp))
    sleep(machine, warp, w.ready)
