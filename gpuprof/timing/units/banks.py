"""The banks of an SM's shared memory, at 128 bytes a cycle: the load/store unit takes them first, wgmma what is left.

Operands of a wgmma are read while it and those before it multiply, not in one piece when it is queued. So an access
waits for accesses only, and puts off the operands of later wgmma by its own passes.
"""

from gpuprof.jit.internal import inline_njit
from gpuprof.timing.state.table_rows import sm_at


@inline_njit
def take_turn(machine, sm, arrival, ticks):
    """The load/store unit of `sm` takes `ticks` for an access of tick `arrival`: gives the tick in which it begins."""
    s = sm_at(machine, sm)
    begin = max(arrival, s.lsu_tick)
    s.lsu_tick = begin + ticks
    if s.operand_tick > arrival:
        s.operand_tick += ticks
    return begin


@inline_njit
def read_operands(machine, sm, arrival, ticks):
    """Gives the tick in which the operands of a wgmma that is queued at tick `arrival` have been read."""
    s = sm_at(machine, sm)
    s.operand_tick = max(arrival, s.lsu_tick, s.operand_tick) + ticks
    return s.operand_tick
