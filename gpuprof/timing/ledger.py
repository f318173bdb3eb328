"""The stall ledger: every cycle of every resident warp goes to (instruction it waits to issue, first reason that
holds).

It is kept lazily. When a warp issues at cycle t, the cycles since it was last accounted for split by the known ends of
each kind of dependency, in order of priority; once no dependency holds, they split into throttled and not selected by
how long the port that the instruction needs was busy in that time. Each part is one stall (see `lengths`). It is
charged to what ended it, too (`blame`).
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.blame import blame, seen_by
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import N_CLASSES, PORT_LSU, REASON_OF_CLASS
from gpuprof.timing.lengths import N_BINS, ROW
from gpuprof.timing.tables import (
    cause_at,
    floor_log2,
    inst_at,
    lane_at,
    ledger_at,
    part_at,
    port_at,
    queued_at,
    stall_row_at,
    until_at,
    warp_at,
    word_at,
)

SELECTED, NOT_SELECTED, BARRIER = INDEX["selected"], INDEX["not_selected"], INDEX["barrier"]


@hot
def busy_cycles(port, cycle):
    """Busy cycles of a port before `cycle`, which is later than the port's last issue."""
    return port.busy - max(0, port.free - cycle)


@hot
def charge_issue(m, wi, t):
    """Accounts for warp `wi` up to and with cycle t, in which it issues."""
    w = warp_at(m, wi)
    pc = w.pc
    at = w.last + 1
    if t > at:
        for c in range(N_CLASSES):
            end = min(until_at(m, wi, c).value, t)
            if end > at:
                charge(m, w, REASON_OF_CLASS[c], np.int64(cause_at(m, wi, c).value), end - at)
                at = end
        if t > at:
            charge_turn(m, wi, t, t - at)
    if t > w.last:
        ledger_at(m, pc, SELECTED).value += 1
    w.last = t


@cold
def charge(m, w, reason, cause, cycles):
    """A stall of warp `w` at the instruction that it is at has ended: see `lengths` for how it is counted, `blame` for
    its cause.
    """
    ledger_at(m, w.pc, reason).value += cycles
    place = stall_row_at(m, w.pc, reason)
    if place.value == 0:
        m.n_stall_rows += 1
        place.value = m.n_stall_rows
    first = np.int64(place.value) * ROW
    word_at(m.stalls_table, first + min(floor_log2(cycles), N_BINS - 1)).value += 1
    longest = word_at(m.stalls_table, first + N_BINS)
    longest.value = max(longest.value, cycles)
    blame(m, np.int64(w.pc), reason, cause, cycles)
    if cycles > w.longest and reason != BARRIER:
        w.longest = cycles
        w.longest_pc = w.pc


@cold
def charge_turn(m, wi, t, cycles):
    """The last cycles before cycle t, in which the warp waited for the port or for its turn."""
    w = warp_at(m, wi)
    number = lane_at(m, w.partition, w.lane).port
    port = port_at(m, w.partition, number)
    busy = busy_cycles(port, t) - w.busy_mark
    if busy:
        occupant = leaver(m, w.partition) if number == PORT_LSU else port.occupant
        charge(m, w, np.int64(inst_at(m, w.pc).throttle), seen_by(m, wi, occupant), busy)
    if cycles > busy:
        charge(m, w, NOT_SELECTED, seen_by(m, wi, part_at(m, w.partition).occupant), cycles - busy)


@hot
def leaver(m, partition):
    """The memory instruction that made room for the next, when its queue was full."""
    return queued_at(m, partition, part_at(m, partition).queued % m.queue_depth).value


@hot
def charge_hold(m, wi, t):
    """Accounts for warp `wi` up to cycle t, the first one after a hold."""
    w = warp_at(m, wi)
    if t - 1 > w.last:
        charge(m, w, np.int64(w.hold_reason), np.int64(w.hold_cause), t - 1 - w.last)
    w.last = t - 1
