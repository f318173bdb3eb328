"""The stall ledger: every cycle of every resident warp goes to (instruction it waits to issue, first reason that holds).

It is kept lazily. When a warp issues at cycle t, the cycles since it was last accounted for split by the known ends of each kind of
dependency, in order of priority; once no dependency holds, they split into throttled and not selected by how long the port that the
instruction needs was busy in that time.
"""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.jit import hot
from gpuprof.timing.layout import N_CLASSES, REASON_OF_CLASS

SELECTED, NOT_SELECTED = INDEX["selected"], INDEX["not_selected"]


@hot
def busy_cycles(port, cycle):
    """Busy cycles of a port before `cycle`, which is later than the port's last issue."""
    return port.busy - max(0, port.free - cycle)


@hot
def charge_issue(m, wi, t):
    """Accounts for warp `wi` up to and with cycle t, in which it issues."""
    w = m.core.warp[wi]
    pc = w.pc
    at = w.last + 1
    if t > at:
        for c in range(N_CLASSES):
            end = min(m.core.until[wi, c], t)
            if end > at:
                m.core.ledger[pc, REASON_OF_CLASS[c]] += end - at
                at = end
        if t > at:
            port = m.core.port[w.partition, m.core.lane[w.partition, w.lane].port]
            busy = busy_cycles(port, t) - w.busy_mark
            m.core.ledger[pc, m.prog.inst[pc].throttle] += busy
            m.core.ledger[pc, NOT_SELECTED] += t - at - busy
    if t > w.last:
        m.core.ledger[pc, SELECTED] += 1
    w.last = t


@hot
def charge_hold(m, wi, t):
    """Accounts for warp `wi` up to cycle t, the first one after a hold."""
    w = m.core.warp[wi]
    m.core.ledger[w.pc, w.hold_reason] += t - 1 - w.last
    w.last = t - 1
