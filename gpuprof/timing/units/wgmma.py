"""wgmma: multiplications that a warp starts and waits for later, by groups.

They queue in front of the tensor pipe, without limit, and do not keep their warp. Each takes the pipe once its operands
in shared memory have been read, through the banks that loads take first. `wgmma.wait_group` holds the warp until all
groups but the newest have ended.

The open group has the scoreboard entry number `products` modulo N_GROUPS: when it ends. What a warp starts later ends
later.
"""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import CAUSE_MASK, ENTRY_SHIFT, KIND, N_GROUPS, PORT_TENSOR, TICK_BITS
from gpuprof.timing.state.table_rows import board_at, maker_at, part_at, port_at, warp_at
from gpuprof.timing.units.banks import read_operands
from gpuprof.timing.units.cause_ledger import itself
from gpuprof.timing.units.register_file import taken_cycles
from gpuprof.timing.units.scoreboard import hold, write_results

WARPGROUP = INDEX["warpgroup_arrive"]
PIPE, PRODUCT = KIND["pipe"], KIND["product"]


@call_njit
def multiply(machine, warp, inst, cycle):
    """`warp` starts a multiplication in `cycle`."""
    w = warp_at(machine, warp)
    port = port_at(machine, w.partition, PORT_TENSOR)
    begin = max(port.tick, cycle << TICK_BITS)
    end = begin + inst.port_ticks
    if inst.operand_ticks:
        sm = part_at(machine, w.partition).sm
        end = max(end, read_operands(machine, sm, cycle << TICK_BITS, inst.operand_ticks))
    port.tick = end
    port.occupant = itself(machine, warp, PIPE)
    before = max(port.free, cycle + 1)
    port.free = max(before, end >> TICK_BITS)
    port.busy += taken_cycles(part_at(machine, w.partition), before, port.free)
    done = max((begin >> TICK_BITS) + inst.latency, end >> TICK_BITS)
    cause = itself(machine, warp, PRODUCT) & CAUSE_MASK
    write_results(machine, warp, inst, done, cause)
    number = machine.first_product + w.products % N_GROUPS
    group = board_at(machine, warp, number)
    if done << ENTRY_SHIFT >= group.value:
        group.value = done << ENTRY_SHIFT
        maker_at(machine, warp, number).value = cause


@call_njit
def commit_products(machine, warp):
    """The next group ends no sooner than this one."""
    w = warp_at(machine, warp)
    w.products += 1
    # Multiplications of a warp end in order, so the cycle of a group bounds all groups before it.
    if machine.first_product >= 0:
        closed, opened = (
            machine.first_product + (w.products - 1) % N_GROUPS,
            machine.first_product + w.products % N_GROUPS,
        )
        board_at(machine, warp, opened).value = board_at(machine, warp, closed).value
        maker_at(machine, warp, opened).value = maker_at(machine, warp, closed).value


@call_njit
def wait_for_products(machine, warp, newest, cycle):
    """Holds the warp until all groups but the open one and the `newest` before it have ended."""
    w = warp_at(machine, warp)
    ended = np.int64(0)
    number = w.products - 1 - newest
    if machine.first_product >= 0 and number >= 0:
        ended = board_at(machine, warp, machine.first_product + number % N_GROUPS).value >> ENTRY_SHIFT
    hold(machine, warp, WARPGROUP, max(cycle + 1, ended))
    if ended > cycle + 1:
        w.hold_cause = maker_at(machine, warp, machine.first_product + number % N_GROUPS).value
