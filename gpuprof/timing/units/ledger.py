"""The stall ledger: every cycle of every resident warp goes to (instruction it waits to issue, first reason that
holds).

It is updated lazily. When a warp issues at cycle t, the cycles since it was last accounted for split by the known ends
of each kind of dependency, in order of priority; once no dependency holds, they split into throttled and not selected
by how long the port that the instruction needs was busy in that time. Each part is one stall (see `stall_tables`). It
is also charged to its cause (`cause_ledger`) and to the time in which it was (`activity`). Within one wait for an
issue, cycles of the register file and the port precede those of not selected: their order is not known.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import PORT_LSU, REASON_OF_CLASS
from gpuprof.timing.state.stall_tables import N_BINS, ROW
from gpuprof.timing.state.table_rows import (
    cause_at,
    floor_log2,
    inst_at,
    lane_at,
    ledger_at,
    lowest_bit,
    part_at,
    port_at,
    queued_at,
    stall_row_at,
    until_at,
    warp_at,
    word_at,
)
from gpuprof.timing.units.activity import spend, spend_issue
from gpuprof.timing.units.cause_ledger import blame, seen_by
from gpuprof.timing.units.per_block import count_wait

SELECTED, NOT_SELECTED, BARRIER = INDEX["selected"], INDEX["not_selected"], INDEX["barrier"]
DISPATCH_STALL = INDEX["dispatch_stall"]


@inline_njit
def busy_cycles(part, port, cycle):
    """Busy cycles of a port of partition `part` before `cycle`, which is later than the port's last issue; without
    those in which the register file held the partition up.
    """
    return port.busy - max(0, port.free - max(cycle, part.register_free))


@inline_njit
def held_cycles(part, cycle):
    """Cycles before `cycle` in which the register file held the partition up."""
    return part.held - max(0, part.register_free - cycle)


@inline_njit
def charge_issue(machine, warp, cycle):
    """Accounts for warp `warp` up to and with `cycle`, in which it issues."""
    w = warp_at(machine, warp)
    pc = w.pc
    at = w.last + 1
    if cycle > at:
        # In the order of priority: a cycle that several classes hold is charged only to the first of them.
        held = np.int64(w.held)
        while held:
            c = lowest_bit(held)
            held &= held - 1
            end = min(until_at(machine, warp, c).value, cycle)
            if end > at:
                charge(machine, w, REASON_OF_CLASS[c], np.int64(cause_at(machine, warp, c).value), at, end)
                at = end
        if cycle > at:
            charge_turn(machine, warp, at, cycle)
    # With two dispatch units a warp may issue twice in a cycle, but it is resident there once.
    if cycle > w.last:
        ledger_at(machine, pc, SELECTED).value += 1
        w.issue_cycles += 1
        spend_issue(machine, w.grid, SELECTED, cycle)
    w.last = cycle


@call_njit
def charge(machine, warp, reason, cause, begin, end):
    """Charges a stall of warp `warp` at its current instruction, from cycle `begin` to `end`: `stall_tables` describes
    how it is counted, `cause_ledger` its cause.
    """
    cycles = end - begin
    spend(machine, np.int64(warp.grid), reason, begin, end)
    ledger_at(machine, warp.pc, reason).value += cycles
    row = stall_row_at(machine, warp.pc, reason)
    if row.value == 0:
        machine.n_stall_rows += 1
        row.value = machine.n_stall_rows
    first = np.int64(row.value) * ROW
    word_at(machine.stalls_table, first + min(floor_log2(cycles), N_BINS - 1)).value += 1
    longest = word_at(machine.stalls_table, first + N_BINS)
    longest.value = max(longest.value, cycles)
    blame(machine, np.int64(warp.pc), reason, cause, cycles)
    if machine.counts_warps:
        count_wait(machine, warp, reason, cycles)
    # Where a warp waits at a barrier itself, it does not make others late.
    if cycles > warp.longest and reason != BARRIER:
        warp.longest = cycles
        warp.longest_pc = warp.pc


@call_njit
def charge_turn(machine, warp, begin, cycle):
    """The cycles from `begin` to `cycle`, in which the warp waited for the port or for its turn."""
    w = warp_at(machine, warp)
    number = lane_at(machine, w.partition, w.lane).port
    port = port_at(machine, w.partition, number)
    part = part_at(machine, w.partition)
    held = held_cycles(part, cycle) - w.held_mark
    if held:
        charge(machine, w, DISPATCH_STALL, seen_by(machine, warp, part.holder), begin, begin + held)
        begin += held
    busy = busy_cycles(part, port, cycle) - w.busy_mark
    if busy:
        occupant = leaver(machine, w.partition) if number == PORT_LSU else port.occupant
        charge(
            machine, w, np.int64(inst_at(machine, w.pc).throttle), seen_by(machine, warp, occupant), begin, begin + busy
        )
        begin += busy
    if cycle > begin:
        charge(machine, w, NOT_SELECTED, seen_by(machine, warp, part.occupant), begin, cycle)


@inline_njit
def leaver(machine, partition):
    """The memory instruction that made room for the next, when its queue was full."""
    return queued_at(machine, partition, part_at(machine, partition).queued % machine.queue_depth).value


@inline_njit
def charge_hold(machine, warp, cycle):
    """Accounts for warp `warp` up to `cycle`, the first one after a hold."""
    w = warp_at(machine, warp)
    if cycle - 1 > w.last:
        charge(machine, w, np.int64(w.hold_reason), np.int64(w.hold_cause), w.last + 1, cycle)
    w.last = cycle - 1
