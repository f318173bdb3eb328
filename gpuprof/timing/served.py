"""When a quantum's memory requests have been served: registers get their cycles, and warps that waited go to sleep until then."""

from gpuprof.timing.barrier import open_all
from gpuprof.timing.copies import settle_copy
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import BULK_LOAD, CLASS_CONSTANT, ENTRY_SHIFT, HOLDING, N_CLASSES, QUANTUM, TOKEN
from gpuprof.timing.mbarrier import end_phases
from gpuprof.timing.scoreboard import register_waits, sleep
from gpuprof.timing.tables import block_at, blocked_at, board_at, dep_at, inst_at, load_at, second_at, until_at, warp_at


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
        settle_entry(board_at(m, wi, dep_at(m, k).value), index, load.done)
    if load.group >= 0:
        settle_copy(m, wi, load.group, load.done)
    elif load.group <= BULK_LOAD:
        settle_bulk(m, warp_at(m, wi).block_slot, BULK_LOAD - load.group, load.done)
    if warp_at(m, wi).alias:
        for register in range(m.n_registers):
            settle_entry(board_at(m, wi, register), index, load.done)
            settle_entry(second_at(m, wi, register), index, load.done)


@cold
def settle_bulk(m, slot, ended, done):
    """A bulk copy lands; `ended` is its memory barrier's key and, from bit 8 on, the phases it ended."""
    block = block_at(m, slot)
    block.copies -= 1
    done = max(done, m.now + QUANTUM)  # nothing was to be read: what waits has been simulated up to here
    if ended >> 8:
        end_phases(m, slot, ended & 0xFF, ended >> 8, done)
    if block.copies == 0 and block.live and block.waiting >= block.live:
        open_all(m, slot, done)


@hot
def settle_entry(place, index, done):
    entry = place.value
    if entry >> ENTRY_SHIFT == TOKEN + index:
        place.value = done << ENTRY_SHIFT | (entry & ((1 << ENTRY_SHIFT) - 1))


@cold
def unblock(m, wi):
    w = warp_at(m, wi)
    if w.state == HOLDING:
        w.ready = max(w.ready, w.stores_done)
    else:
        inst = inst_at(m, w.pc)
        for c in range(CLASS_CONSTANT):
            until_at(m, wi, c).value = 0
        register_waits(m, wi, inst)
        w.ready = w.last + 1
        for c in range(N_CLASSES):
            w.ready = max(w.ready, until_at(m, wi, c).value)
    sleep(m, wi, w.ready)
