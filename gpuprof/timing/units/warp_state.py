"""The state of a warp in a cycle whose issues are done: whether it was resident, and the reasons that held it."""

from gpuprof.jit.internal import inline_njit
from gpuprof.timing.state.layout import EMPTY, HOLDING, N_CLASSES, REASON_OF_CLASS, STARTING
from gpuprof.timing.state.table_rows import inst_at, lane_at, part_at, port_at, until_at, warp_at
from gpuprof.timing.units.ledger import DISPATCH_STALL, NOT_SELECTED


@inline_njit
def resident(machine, warp, cycle):
    """True when a warp was resident in `cycle`. One that issued its last instruction in it may be gone by now."""
    w = warp_at(machine, warp)
    return w.state != STARTING and (w.state != EMPTY or w.last == cycle)


@inline_njit
def holding_reasons(machine, warp, cycle):
    """A bit for each reason that held a warp in `cycle`, in which it did not issue; not_selected when it could have
    issued.

    A port that took an instruction in this cycle was free before.
    """
    w = warp_at(machine, warp)
    if w.state == HOLDING:
        return 1 << w.hold_reason
    bits = 0
    for c in range(N_CLASSES):
        if w.held >> c & 1 and until_at(machine, warp, c).value > cycle:
            bits |= 1 << REASON_OF_CLASS[c]
    if bits == 0:
        part = part_at(machine, w.partition)
        if part.register_free > cycle and part.issued < cycle:
            return 1 << DISPATCH_STALL
        port = port_at(machine, w.partition, lane_at(machine, w.partition, w.lane).port)
        bits = 1 << (inst_at(machine, w.pc).throttle if port.free > cycle and port.issued < cycle else NOT_SELECTED)
    return bits
