"""The end of a warp and of its block."""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.barrier import arrivals_after_exit
from gpuprof.timing.jit import cold
from gpuprof.timing.layout import EMPTY, NEVER, TOKEN
from gpuprof.timing.pool import block_ends
from gpuprof.timing.room import give_back
from gpuprof.timing.scoreboard import block_until_served, hold
from gpuprof.timing.tables import block_at, grid_at, part_at, presence_at, sm_at, warp_at

DRAIN = INDEX["drain"]


@cold
def stores_done(m, wi):
    """The cycle by which the warp's stores are acknowledged, TOKEN while some of this quantum are not served yet."""
    w = warp_at(m, wi)
    return TOKEN if w.stores_quantum == m.quantum_number else w.stores_done


@cold
def hold_for_stores(m, wi, reason, least, done, cause):
    """Holds the warp until `done`, as stores_done or stores_gone gave it, for `cause`, and at least until cycle
    `least`.
    """
    hold(m, wi, reason, NEVER if done == TOKEN else max(least, done))
    if done == TOKEN:
        warp_at(m, wi).ready = least
        block_until_served(m, wi)
    elif done > least:
        warp_at(m, wi).hold_cause = cause


@cold
def stores_gone(m, wi):
    """The cycle by which the warp's stores are on their way, of which it need not hear: store_drain_cycles after slices
    took them. Or TOKEN.
    """
    w = warp_at(m, wi)
    return TOKEN if w.stores_quantum == m.quantum_number else w.stores_gone


@cold
def finish(m, wi, t):
    """The warp has issued its last instruction; t is the next cycle. It stays until its stores are out."""
    gone = stores_gone(m, wi)
    if gone <= t:
        release(m, wi, t)
        return
    hold_for_stores(m, wi, DRAIN, t, gone, warp_at(m, wi).last_gone)


@cold
def release(m, wi, t):
    """The warp is gone from cycle t on."""
    w = warp_at(m, wi)
    part = part_at(m, w.partition)
    sm = sm_at(m, part.sm)
    block = block_at(m, w.block_slot)
    grid = grid_at(m, w.grid)
    grid.resident_warp_cycles += t - w.start
    grid.end_cycle = max(grid.end_cycle, t)
    w.state = EMPTY
    if part.current == w.lane:
        part.current = -1
    sm.warps -= 1
    presence = presence_at(m, w.grid, part.sm)
    presence.warps -= 1
    if presence.warps == 0:
        presence.active_cycles += t - presence.active_since
    block.live -= 1
    if block.live:
        arrivals_after_exit(m, wi, w.block_slot, t)
        return
    block_ends(m, w.block_slot, t)
    give_back(m, w.block_slot, part.sm, t)
