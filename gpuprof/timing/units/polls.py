"""Loops that wait for other warps: grid barriers, flags, look-back (isa/spin_loops).

The trace says with each load of such a loop how many signals its sectors had had in the emulator. Until they have had
as many here, the warp polls: its load goes to the L2, comes back, and goes again. So each poll takes the slice that the
signals are to go through. Signals are counted when their slice takes them, whoever they come from.

A warp that waits for what never comes (a block that has no room as long as this one waits, or signals counted wrongly)
continues when no warp has issued anything for PATIENCE cycles.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import NEED_MASK, NEED_SHIFT, SECTOR_MASK
from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    CAUSE_PC_MASK,
    KIND,
    NEVER,
    POLL,
    QUANTUM,
    READ,
    SECTOR_NUMBER_NBYTES,
)
from gpuprof.timing.state.table_rows import (
    load_at,
    part_at,
    poller_at,
    request_at,
    signal_at,
    warp_at,
    word_at,
)
from gpuprof.timing.units.cause_ledger import SPREAD, seen_by
from gpuprof.timing.units.effects import WARP_POLLS, note
from gpuprof.timing.units.l1 import request
from gpuprof.timing.units.scoreboard import hold, sleep

LONG_SCOREBOARD = INDEX["long_scoreboard"]
SIGNAL_KIND = KIND["signal"]
PATIENCE = 1 << 16
GRID_BITS = 16


@call_njit
def poll(machine, warp, first, count, start):
    """Holds a warp that is at a waiting loop's load of `count` sectors, from address `first` on, when their signals
    have not come. `start`: when the load leaves for the L2. Returns whether it does.
    """
    w = warp_at(machine, warp)
    w.poll_first = first
    w.poll_end = first + count * SECTOR_NUMBER_NBYTES
    if unseen(machine, w) == 0:
        w.poll_first = 0
        return False
    w.poll_next = start
    note(machine, WARP_POLLS, warp, start)
    hold(machine, warp, LONG_SCOREBOARD, NEVER)
    return True


@call_njit
def begin_to_poll(machine, warp):
    poller_at(machine, machine.n_pollers).value = warp
    machine.n_pollers += 1


@call_njit
def unseen(machine, warp):
    """The address of the first sector number of a warp's load whose signals have not come, 0 when all have."""
    at = np.int64(warp.poll_first)
    while at < warp.poll_end:
        word = word_at(at, 0).value
        row = row_of_signal(machine, np.int64(warp.grid), word & SECTOR_MASK)
        count = np.int64(signal_at(machine, row).count) if row >= 0 else 0
        # Counts are stored modulo NEED_MASK + 1: half of that and more means that some are still to come.
        behind = (count - (word >> NEED_SHIFT)) & NEED_MASK > NEED_MASK >> 1
        if behind and machine.n_signals <= machine.signal_mask >> 1:
            return at
        at += SECTOR_NUMBER_NBYTES
    return 0


@inline_njit
def key_of(grid, sector):
    return (sector << GRID_BITS | grid) + 1


@call_njit
def row_of_signal(machine, grid, sector):
    """The row of a sector's signals, -1 when it has had none."""
    key = key_of(grid, sector)
    place = (key * SPREAD) >> 40 & machine.signal_mask
    while signal_at(machine, place).key != key:
        if signal_at(machine, place).key == 0:
            return -1
        place = (place + 1) & machine.signal_mask
    return place


@call_njit
def count_signal(machine, request):
    """A slice has taken an atomic or a store of one lane that may end waiting loops."""
    # A table that is half full takes no more sectors, and no warp waits any more.
    if machine.n_signals > machine.signal_mask >> 1:
        return
    sector = np.int64(request.line) << 2
    while not request.sectors >> (sector & 3) & 1:
        sector += 1
    grid = np.int64(request.grid)
    row = row_of_signal(machine, grid, sector)
    if row < 0:
        key = key_of(grid, sector)
        row = (key * SPREAD) >> 40 & machine.signal_mask
        while signal_at(machine, row).key:
            row = (row + 1) & machine.signal_mask
        signal_at(machine, row).key = key
        machine.n_signals += 1
    signal_at(machine, row).count += 1
    if request.target >= 0:
        who = load_at(machine, request.target).warp
        where = np.int64(load_at(machine, request.target).pc)
    else:
        who = -1 - request.target
        where = np.int64(request.slot) & CAUSE_PC_MASK
    signal_at(machine, row).cause = warp_at(machine, who).cause_warp | SIGNAL_KIND | where


@call_njit
def soonest_poll(machine):
    soonest = NEVER
    for k in range(machine.n_pollers):
        soonest = min(soonest, warp_at(machine, poller_at(machine, k).value).poll_next)
    return soonest


@call_njit
def ask_again(machine):
    """Sends the polls of the quantum to the L2, after what issues in the same cycle."""
    asks = False
    for k in range(machine.n_pollers):
        warp = poller_at(machine, k).value
        w = warp_at(machine, warp)
        if w.poll_next < machine.now + QUANTUM:
            at = unseen(machine, w)
            word = word_at(at if at else np.int64(w.poll_first), 0).value & SECTOR_MASK
            machine.grid = w.grid
            arrival = max(machine.now, w.poll_next)
            sm = part_at(machine, w.partition).sm
            index = request(machine, sm, arrival, word >> 2, 1 << (word & 3), READ, -1 - warp, -1)
            request_at(machine, index).watch = POLL
            w.poll_next = NEVER
            asks = True
    if asks and nothing_issues(machine):
        for k in range(machine.n_pollers):
            go_on(machine, poller_at(machine, k).value, machine.now + QUANTUM)


@call_njit
def nothing_issues(machine):
    for partition in range(machine.sms * machine.partitions):
        if part_at(machine, partition).issued > machine.now - PATIENCE:
            return False
    return True


@call_njit
def polled(machine, request):
    """A poll is back: its warp continues, or asks again."""
    warp = -1 - request.target
    w = warp_at(machine, warp)
    if w.poll_first == 0:  # it has lost its patience
        return
    if unseen(machine, w):
        w.poll_next = request.done + machine.poll_cycles
        return
    go_on(machine, warp, request.done)
    sector = np.int64(request.line) << 2
    while not request.sectors >> (sector & 3) & 1:
        sector += 1
    row = row_of_signal(machine, np.int64(w.grid), sector)
    if row >= 0:
        w.hold_cause = seen_by(machine, warp, signal_at(machine, row).cause)


@call_njit
def go_on(machine, warp, cycle):
    w = warp_at(machine, warp)
    w.ready = cycle
    w.poll_first = 0
    w.poll_next = NEVER
    sleep(machine, warp, cycle)


@call_njit
def drop_those_that_went_on(machine):
    """Leaves the warps in the list that still wait, in their order."""
    kept = 0
    for k in range(machine.n_pollers):
        warp = poller_at(machine, k).value
        if warp_at(machine, warp).poll_first:
            poller_at(machine, kept).value = warp
            kept += 1
    machine.n_pollers = kept
