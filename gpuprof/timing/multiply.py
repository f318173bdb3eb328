"""wgmma: multiplications that a warp starts and waits for later, by groups.

They queue in front of the tensor pipe, without limit, and do not keep their warp. Each takes the pipe once its operands in shared memory
have been read, through the banks that loads take, too. `wgmma.wait_group` holds the warp until all groups but the newest have ended.

The open group has the scoreboard entry number `products` modulo N_GROUPS: when it ends. What a warp starts later ends later.
"""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.jit import cold
from gpuprof.timing.layout import ENTRY_SHIFT, N_GROUPS, PORT_TENSOR, TICK_BITS
from gpuprof.timing.scoreboard import hold, write_results
from gpuprof.timing.tables import board_at, part_at, port_at, sm_at, warp_at

WARPGROUP = INDEX["warpgroup_arrive"]


@cold
def multiply(m, wi, inst, t):
    """Warp `wi` starts a multiplication in cycle t."""
    w = warp_at(m, wi)
    sm = sm_at(m, part_at(m, w.partition).sm)
    port = port_at(m, w.partition, PORT_TENSOR)
    begin = max(port.tick, t << TICK_BITS)
    end = begin + inst.port_ticks
    if inst.operand_ticks:
        sm.lsu_tick = max(sm.lsu_tick, t << TICK_BITS) + inst.operand_ticks
        end = max(end, sm.lsu_tick)
    port.tick = end
    before = max(port.free, t + 1)
    port.free = max(before, end >> TICK_BITS)
    port.busy += port.free - before
    done = max((begin >> TICK_BITS) + inst.latency, end >> TICK_BITS)
    write_results(m, wi, inst, done)
    group = board_at(m, wi, m.first_product + w.products % N_GROUPS)
    group.value = max(group.value, done << ENTRY_SHIFT)


@cold
def commit_products(m, wi):
    """The next group ends no sooner than this one."""
    w = warp_at(m, wi)
    w.products += 1
    if m.first_product >= 0:
        ended = board_at(m, wi, m.first_product + (w.products - 1) % N_GROUPS).value
        board_at(m, wi, m.first_product + w.products % N_GROUPS).value = ended


@cold
def wait_for_products(m, wi, newest, t):
    """Holds the warp until all groups but the open one and the `newest` before it have ended."""
    w = warp_at(m, wi)
    until = t + 1
    number = w.products - 1 - newest
    if m.first_product >= 0 and number >= 0:
        until = max(until, board_at(m, wi, m.first_product + number % N_GROUPS).value >> ENTRY_SHIFT)
    hold(m, wi, WARPGROUP, until)
