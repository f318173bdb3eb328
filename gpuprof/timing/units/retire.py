"""The end of a warp and of its block."""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.activity_bins import SM_HAS_WARPS
from gpuprof.timing.state.layout import EMPTY, NEVER, TOKEN
from gpuprof.timing.state.static_program import EXIT
from gpuprof.timing.state.table_rows import block_at, inst_at, part_at, presence_at, sm_at, warp_at
from gpuprof.timing.units.activity import spend
from gpuprof.timing.units.barrier import arrivals_after_exit
from gpuprof.timing.units.effects import BLOCK_ENDS, note
from gpuprof.timing.units.per_block import block_is_over, warp_ends
from gpuprof.timing.units.scoreboard import block_until_served, hold
from gpuprof.timing.units.sm_resources import give_back

DRAIN, WAIT, BRANCHING = INDEX["drain"], INDEX["wait"], INDEX["branch_resolving"]


@call_njit
def stores_done(machine, warp):
    """The cycle by which the warp's stores are acknowledged, TOKEN while some of this quantum are not served yet."""
    w = warp_at(machine, warp)
    return TOKEN if w.stores_quantum == machine.quantum_number else w.stores_done


@call_njit
def hold_for_stores(machine, warp, reason, least, done, cause):
    """Holds the warp until `done`, as stores_done or stores_gone gave it, for `cause`, and at least until cycle
    `least`.
    """
    hold(machine, warp, reason, NEVER if done == TOKEN else max(least, done))
    if done == TOKEN:
        warp_at(machine, warp).ready = least
        block_until_served(machine, warp)
    elif done > least:
        warp_at(machine, warp).hold_cause = cause


@call_njit
def stores_gone(machine, warp):
    """The cycle from which the warp need not wait for its stores: store_drain_cycles after the slices took them. TOKEN
    while some of this quantum are not served yet.
    """
    w = warp_at(machine, warp)
    return TOKEN if w.stores_quantum == machine.quantum_number else w.stores_gone


@call_njit
def finish(machine, warp, cycle):
    """The warp has issued its last instruction; `cycle` is the next cycle."""
    w = warp_at(machine, warp)
    if w.pc >= 0 and inst_at(machine, w.pc).kind == EXIT and machine.exit_cycles > 1:
        hold(machine, warp, WAIT, w.last + min(machine.control_cycles, machine.exit_cycles))
    else:
        drain(machine, warp, cycle)


@call_njit
def leave(machine, warp, cycle):
    """Ends one of the two waits after an exit: that for its fixed time, then that for the branch that it is."""
    # Samples of six cards show both after EXIT.
    w = warp_at(machine, warp)
    if w.hold_reason == WAIT and machine.exit_cycles > machine.control_cycles:
        hold(machine, warp, BRANCHING, cycle + machine.exit_cycles - machine.control_cycles)
    else:
        drain(machine, warp, cycle)


@call_njit
def drain(machine, warp, cycle):
    """The warp stays until its stores are out."""
    # gpu-stream on five cards: blocks that store cost almost nothing more than their turn, so a warp need not hear of
    # its stores (docs/model/instructions.md, The end of a warp).
    gone = stores_gone(machine, warp)
    if gone <= cycle:
        release(machine, warp, cycle)
        return
    hold_for_stores(machine, warp, DRAIN, cycle, gone, warp_at(machine, warp).last_gone)


@call_njit
def release(machine, warp, cycle):
    """The warp is gone from `cycle` on."""
    w = warp_at(machine, warp)
    part = part_at(machine, w.partition)
    sm = sm_at(machine, part.sm)
    block = block_at(machine, w.block_slot)
    presence = presence_at(machine, w.grid, part.sm)
    presence.resident_warp_cycles += cycle - w.start
    if machine.counts_blocks:
        warp_ends(machine, warp, cycle)
    w.state = EMPTY
    # The next warp in this slot must not inherit the scheduler's preference.
    if part.current == w.lane:
        part.current = -1
    sm.warps -= 1
    presence.warps -= 1
    if presence.warps == 0:
        presence.active_cycles += cycle - presence.active_since
        spend(machine, np.int64(w.grid), SM_HAS_WARPS, presence.active_since, cycle)
    block.live -= 1
    if block.live:
        arrivals_after_exit(machine, warp, w.block_slot, cycle)
        return
    if machine.counts_blocks:
        block_is_over(machine, warp, cycle)
    note(machine, BLOCK_ENDS, w.block_slot, cycle)
    give_back(machine, w.block_slot, part.sm, cycle)
