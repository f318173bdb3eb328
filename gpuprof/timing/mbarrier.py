"""Memory barriers: a wait lasts until its phase has ended, and until what bulk copies bring to that phase has landed.

The trace says with each arrival and copy how many phases it ended and with each wait how many must have ended, by
`key`: the object's place modulo N_MBARRIERS. What ended a phase in the emulator ends it here, though here something
else may come last.

A block of which every live warp waits while no copy of its own is on its way is let go: what it waits for came from
another block, or two objects share a key.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.blame import seen_by
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import ACCESS_NBYTES, HOLDING, N_BARRIERS, N_MBARRIERS, NEVER
from gpuprof.timing.scoreboard import hold, sleep
from gpuprof.timing.tables import access_of, block_at, ended_at, landed_at, lander_at, warp_at

LONG_SCOREBOARD = INDEX["long_scoreboard"]
FEWER = 128  # numbers of phases are kept modulo 256


@cold
def start_mbarriers(m, slot):
    """A new block finds no phase ended."""
    for key in range(N_MBARRIERS):
        ended_at(m, slot, key).value = 0
        landed_at(m, slot, key).value = 0
        lander_at(m, slot, key).value = 0


@cold
def wait(m, wi, t):
    """Takes the wait's access record and holds the warp. Returns whether it stands still until somebody ends its
    phase.
    """
    w = warp_at(m, wi)
    record = access_of(w.access)
    w.access += ACCESS_NBYTES
    landed = np.int64(0)
    key = np.int64(record.conflicts)
    ahead = (ended_at(m, w.block_slot, key).value - np.int64(record.uniform)) & 0xFF
    if record.lanes and ahead >= FEWER:
        w.barrier = N_BARRIERS + key
        block_at(m, w.block_slot).waiting += 1
        hold(m, wi, LONG_SCOREBOARD, NEVER)
        return True
    if record.lanes and ahead == 0:
        landed = landed_at(m, w.block_slot, key).value
    hold(m, wi, LONG_SCOREBOARD, max(t + 1, landed))
    if landed > t + 1:
        w.hold_cause = seen_by(m, wi, lander_at(m, w.block_slot, key).value)
    return False


@hot
def waits_here(m, wi, slot):
    w = warp_at(m, wi)
    return w.state == HOLDING and w.hold_reason == LONG_SCOREBOARD and w.ready == NEVER and w.block_slot == slot


@cold
def end_phases(m, slot, key, count, t, cause):
    """Phases end at cycle t: those who wait for the next one go on."""
    ended_at(m, slot, key).value += count
    if t >= landed_at(m, slot, key).value:
        landed_at(m, slot, key).value = t
        lander_at(m, slot, key).value = cause
    first = slot // m.max_blocks * m.warp_slots
    for wi in range(first, first + m.warp_slots):
        w = warp_at(m, wi)
        if waits_here(m, wi, slot) and w.barrier == N_BARRIERS + key:
            w.ready = t + 1  # cycle t has had its issues
            w.hold_cause = seen_by(m, wi, cause)
            block_at(m, slot).waiting -= 1
            sleep(m, wi, w.ready)


@cold
def let_go(m, slot, t, cause):
    """Ends the phases that the block's warps wait for. Returns whether any did, or may soon because a copy is on its
    way.
    """
    if block_at(m, slot).copies:
        return True
    found = False
    first = slot // m.max_blocks * m.warp_slots
    for wi in range(first, first + m.warp_slots):
        if waits_here(m, wi, slot):
            found = True
            end_phases(m, slot, warp_at(m, wi).barrier - N_BARRIERS, 1, t, cause)
    return found
