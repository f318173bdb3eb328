"""wgmma: multiplications that a warp starts and waits for later, by groups.

They queue in front of the tensor pipe, without limit, and do not keep their warp. Each takes the pipe once its operands
in shared memory have been read, through the banks that loads take, too. `wgmma.wait_group` holds the warp until all
groups but the newest have ended.

The open group has the scoreboard entry number `products` modulo N_GROUPS: when it ends. What a warp starts later ends
later.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.blame import itself
from gpuprof.timing.jit import cold
from gpuprof.timing.layout import CAUSE_MASK, ENTRY_SHIFT, KIND, N_GROUPS, PORT_TENSOR, TICK_BITS
from gpuprof.timing.scoreboard import hold, write_results
from gpuprof.timing.tables import board_at, maker_at, part_at, port_at, sm_at, warp_at

WARPGROUP = INDEX["warpgroup_arrive"]
PIPE, PRODUCT, QUEUED = KIND["pipe"], KIND["product"], KIND["queued"]


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
        sm.lsu_occupant = itself(m, wi, QUEUED)
        end = max(end, sm.lsu_tick)
    port.tick = end
    port.occupant = itself(m, wi, PIPE)
    before = max(port.free, t + 1)
    port.free = max(before, end >> TICK_BITS)
    port.busy += port.free - before
    done = max((begin >> TICK_BITS) + inst.latency, end >> TICK_BITS)
    cause = itself(m, wi, PRODUCT) & CAUSE_MASK
    write_results(m, wi, inst, done, cause)
    number = m.first_product + w.products % N_GROUPS
    group = board_at(m, wi, number)
    if done << ENTRY_SHIFT >= group.value:
        group.value = done << ENTRY_SHIFT
        maker_at(m, wi, number).value = cause


@cold
def commit_products(m, wi):
    """The next group ends no sooner than this one."""
    w = warp_at(m, wi)
    w.products += 1
    if m.first_product >= 0:
        closed, opened = m.first_product + (w.products - 1) % N_GROUPS, m.first_product + w.products % N_GROUPS
        board_at(m, wi, opened).value = board_at(m, wi, closed).value
        maker_at(m, wi, opened).value = maker_at(m, wi, closed).value


@cold
def wait_for_products(m, wi, newest, t):
    """Holds the warp until all groups but the open one and the `newest` before it have ended."""
    w = warp_at(m, wi)
    ended = np.int64(0)
    number = w.products - 1 - newest
    if m.first_product >= 0 and number >= 0:
        ended = board_at(m, wi, m.first_product + number % N_GROUPS).value >> ENTRY_SHIFT
    hold(m, wi, WARPGROUP, max(t + 1, ended))
    if ended > t + 1:
        w.hold_cause = maker_at(m, wi, m.first_product + number % N_GROUPS).value
