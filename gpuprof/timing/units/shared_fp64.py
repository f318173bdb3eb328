"""The fp64 unit that the partitions of an SM share where it has fewer lanes than they are.

Each partition has a queue in front of it. The unit takes the instructions of all queues in the order in which they were
issued: all is reserved at issue. A place of the queue is free again when its instruction is served.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import PORT_FP64, TICK_BITS, TICKS
from gpuprof.timing.state.table_rows import fp64_queue_at, part_at, port_at, sm_at


@call_njit
def enter_fp64(machine, partition, ticks, cycle):
    """`partition` issues an instruction in `cycle` that keeps the unit for `ticks`; returns the cycle in which it is
    served. The queue is the partition's port: full, it takes none.
    """
    part = part_at(machine, partition)
    sm = sm_at(machine, part.sm)
    tick = max(sm.fp64_tick, cycle << TICK_BITS)
    sm.fp64_tick = tick + ticks
    start = (tick + TICKS - 1) >> TICK_BITS
    fp64_queue_at(machine, partition, part.passed_fp64 % machine.fp64_queue_depth).value = start
    part.passed_fp64 += 1
    port = port_at(machine, partition, PORT_FP64)
    # The place that comes next is that of the oldest instruction.
    oldest = fp64_queue_at(machine, partition, part.passed_fp64 % machine.fp64_queue_depth).value
    port.free = max(cycle + 1, oldest)
    port.busy += port.free - cycle - 1
    return start
