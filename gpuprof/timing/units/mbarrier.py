"""Memory barriers: a wait lasts until its phase has ended, and until what bulk copies bring to that phase has landed.

The trace says with each arrival and copy how many phases it ended and with each wait how many must have ended, by
`key`: the object's place modulo N_MBARRIERS. What ended a phase in the emulator ends it here, though here something
else may come last.

A block of which every live warp waits while no copy of its own is on its way is let go: what it waits for came from
another block, or two objects share a key.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import N_MBARRIERS
from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import ACCESS_NBYTES, HOLDING, NEVER
from gpuprof.timing.state.table_rows import access_of, block_at, ended_at, landed_at, lander_at, warp_at
from gpuprof.timing.units.cause_ledger import seen_by
from gpuprof.timing.units.scoreboard import hold, sleep

LONG_SCOREBOARD = INDEX["long_scoreboard"]
FEWER = 128  # numbers of phases are stored modulo 256


@call_njit
def start_mbarriers(machine, slot):
    """A new block finds no phase ended."""
    for key in range(N_MBARRIERS):
        ended_at(machine, slot, key).value = 0
        landed_at(machine, slot, key).value = 0
        lander_at(machine, slot, key).value = 0


@call_njit
def wait(machine, warp, cycle):
    """Takes the wait's access record and holds the warp. Returns True when it is held until its phase is ended."""
    w = warp_at(machine, warp)
    record = access_of(w.access)
    w.access += ACCESS_NBYTES
    landed = np.int64(0)
    key = np.int64(record.conflicts)
    ahead = (ended_at(machine, w.block_slot, key).value - np.int64(record.uniform)) & 0xFF
    # Counts are stored modulo 256: a difference of 128 and more means that the phase has not ended yet.
    if record.lanes and ahead >= FEWER:
        w.barrier = N_BARRIERS + key
        block_at(machine, w.block_slot).waiting += 1
        hold(machine, warp, LONG_SCOREBOARD, NEVER)
        return True
    # Only the newest phase may still have copies on their way.
    if record.lanes and ahead == 0:
        landed = landed_at(machine, w.block_slot, key).value
    hold(machine, warp, LONG_SCOREBOARD, max(cycle + 1, landed))
    if landed > cycle + 1:
        w.hold_cause = seen_by(machine, warp, lander_at(machine, w.block_slot, key).value)
    return False


@inline_njit
def waits_here(machine, warp, slot):
    w = warp_at(machine, warp)
    return w.state == HOLDING and w.hold_reason == LONG_SCOREBOARD and w.ready == NEVER and w.block_slot == slot


@call_njit
def end_phases(machine, slot, key, count, cycle, cause):
    """Ends phases at `cycle`: warps that wait for the next one continue."""
    ended_at(machine, slot, key).value += count
    if cycle >= landed_at(machine, slot, key).value:
        landed_at(machine, slot, key).value = cycle
        lander_at(machine, slot, key).value = cause
    first = slot // machine.block_slots * machine.warp_slots
    for wi in range(first, first + machine.warp_slots):
        w = warp_at(machine, wi)
        if waits_here(machine, wi, slot) and w.barrier == N_BARRIERS + key:
            w.ready = cycle + 1  # this cycle has had its issues
            w.hold_cause = seen_by(machine, wi, cause)
            block_at(machine, slot).waiting -= 1
            sleep(machine, wi, w.ready)


@call_njit
def let_go(machine, slot, cycle, cause):
    """Ends the phases that the block's warps wait for. Returns whether any did, or may soon because a copy is on its
    way.
    """
    if block_at(machine, slot).copies:
        return True
    any_released = False
    first = slot // machine.block_slots * machine.warp_slots
    for wi in range(first, first + machine.warp_slots):
        if waits_here(machine, wi, slot):
            any_released = True
            end_phases(machine, slot, warp_at(machine, wi).barrier - N_BARRIERS, 1, cycle, cause)
    return any_released
