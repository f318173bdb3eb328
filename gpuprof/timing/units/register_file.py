"""The register file of a partition: two banks, each of which reads a word of a warp at a time.

An instruction may read for some cycles. Where a bank has more to read than that, the partition issues nothing until the
rest can be read in time, which every warp that is ready waits for as dispatch_stall.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import KIND, PORTS
from gpuprof.timing.state.table_rows import part_at, port_at, warp_at
from gpuprof.timing.units.cause_ledger import itself

PIPE = KIND["pipe"]
N_PORTS = len(PORTS)


@inline_njit
def read_registers(machine, warp, inst, follows, cycle):
    """`warp` issues `inst` in `cycle`, and has its operands read. `follows`: it issued last in its partition, too, so
    the reuse cache has the operands of the instruction before.
    """
    even = inst.even_left if follows else inst.even
    odd = inst.odd_left if follows else inst.odd
    part = part_at(machine, warp_at(machine, warp).partition)
    if even:
        part.even_free = max(part.even_free, cycle) + even * machine.register_word_cycles
    if odd:
        part.odd_free = max(part.odd_free, cycle) + odd * machine.register_word_cycles
    free = max(part.even_free, part.odd_free) + 1 - machine.register_window_cycles
    if free > cycle + 1:
        hold_up(machine, warp, free, cycle)


@inline_njit
def taken_cycles(part, begin, free):
    """Cycles from `begin` to `free`, in which a port is taken, without those in which the register file holds the
    partition up: in these the port holds up no warp.
    """
    return free - max(begin, min(free, part.register_free))


@call_njit
def hold_up(machine, warp, free, cycle):
    """The partition issues nothing between `cycle` and `free`."""
    partition = warp_at(machine, warp).partition
    part = part_at(machine, partition)
    part.held += free - cycle - 1
    part.register_free = free
    part.holder = itself(machine, warp, PIPE)
    # In these cycles a busy port holds no warp up.
    for number in range(N_PORTS):
        port = port_at(machine, partition, number)
        port.busy -= max(0, min(port.free, free) - cycle - 1)
