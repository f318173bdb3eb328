"""The stall ledger: every cycle of every resident warp goes to (instruction it waits to issue, first reason that holds).

It is kept lazily. When a warp issues at cycle t, the cycles since it was last accounted for split by the known ends of each kind of
dependency, in order of priority; once no dependency holds, they split into throttled and not selected by how long the port that the
instruction needs was busy in that time. Each part is one stall (see `lengths`).
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import N_CLASSES, REASON_OF_CLASS
from gpuprof.timing.lengths import N_BINS, ROW
from gpuprof.timing.tables import floor_log2, inst_at, lane_at, ledger_at, port_at, stall_row_at, until_at, warp_at, word_at

SELECTED, NOT_SELECTED = INDEX["selected"], INDEX["not_selected"]


@hot
def busy_cycles(port, cycle):
    """Busy cycles of a port before `cycle`, which is later than the port's last issue."""
    return port.busy - max(0, port.free - cycle)


@cold
def charge(m, pc, reason, cycles):
    """A stall of so many cycles has ended, if it has any: see `lengths` for how it is counted."""
    if cycles == 0:
        return
    ledger_at(m, pc, reason).value += cycles
    place = stall_row_at(m, pc, reason)
    if place.value == 0:
        m.n_stall_rows += 1
        place.value = m.n_stall_rows
    first = np.int64(place.value) * ROW
    word_at(m.stalls_table, first + min(floor_log2(cycles), N_BINS - 1)).value += 1
    longest = word_at(m.stalls_table, first + N_BINS)
    longest.value = max(longest.value, cycles)


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
                charge(m, pc, REASON_OF_CLASS[c], end - at)
                at = end
        if t > at:
            port = port_at(m, w.partition, lane_at(m, w.partition, w.lane).port)
            busy = busy_cycles(port, t) - w.busy_mark
            charge(m, pc, inst_at(m, pc).throttle, busy)
            charge(m, pc, NOT_SELECTED, t - at - busy)
    if t > w.last:
        ledger_at(m, pc, SELECTED).value += 1
    w.last = t


@hot
def charge_hold(m, wi, t):
    """Accounts for warp `wi` up to cycle t, the first one after a hold."""
    w = warp_at(m, wi)
    charge(m, w.pc, w.hold_reason, t - 1 - w.last)
    w.last = t - 1
