"""The causes that end a stall: their kinds, by the numbers that recordings have, and the flags that go with them.

Each stall (one warp, one issue slot of one instruction, one reason) has one cause: its kind and an instruction, which
may be one of another warp.
Of several that end in the same cycle, the one of the greater number is it.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    name: str
    label: str  # after the cause's line
    text: str


KINDS = (
    Kind("self", "itself", "The instruction itself: it takes this time whoever else runs (a sleep, a fence, the "
        "opening of a barrier)."),
    Kind("result", "result", "The instruction that makes an operand, after its fixed latency."),
    Kind("slot", "own slots", "The instruction's own slot before this one: it is several to the machine."),
    Kind("unit", "unit's result", "The instruction that makes an operand, on a unit of variable latency: conversions, "
        "special functions, shuffles."),
    Kind("shared", "shared memory", "The access to shared memory, or to what stages of a draw give each "
        "other, that brings an operand."),
    Kind("constant", "constant", "The load of a constant that was in the constant cache."),
    Kind("constant_miss", "constant miss", "A constant that was not in the constant cache."),
    Kind("l1", "L1 hit", "The load that brings an operand, out of the L1."),
    Kind("pending", "line on its way", "The load that brings an operand; its line was on its way to the L1 already, "
        "for an earlier load."),
    Kind("l2", "L2 hit", "The load that brings an operand, out of the L2."),
    Kind("l2_far", "far L2 hit", "The load that brings an operand, out of the L2's other half."),
    Kind("dram", "DRAM", "The load that brings an operand, out of device memory."),
    Kind("atomic", "atomic", "The atomic operation in the L2 whose old value is an operand."),
    Kind("queued", "access before it", "The access that the load/store unit served first, while that which brings an "
        "operand waited for longer than it then took."),
    Kind("barrier", "last to arrive", "The warp that reached the barrier last: where it waited for longest since the "
        "barrier before."),
    Kind("arrival", "arrival", "The arrival at a memory barrier that ended its phase."),
    Kind("copy", "bulk copy", "The bulk copy that landed last."),
    Kind("product", "multiplication", "The multiplication of a warp group that ended last."),
    Kind("pipe", "in the pipe", "The instruction that took the pipe last."),
    Kind("queue", "in the queue", "The access that left the full queue of memory instructions at last."),
    Kind("scheduler", "issued instead", "The instruction that the scheduler issued last instead."),
    Kind("branch", "branch", "The jump that led here."),
    Kind("l0_miss", "L0 miss", "Code that was not in the partition's L0 instruction cache, but in the L1."),
    Kind("l1i_miss", "L1 instruction miss", "Code that neither instruction cache had."),
    Kind("store", "store", "The store that was acknowledged last."),
    Kind("grid", "grid before", "The grid before, which had to end."),
    Kind("signal", "last signal", "The atomic or store of another warp that ended a loop which waits for it: at a "
        "barrier of the grid that of the block which came last."),
)  # fmt: skip

NAMES = tuple(kind.name for kind in KINDS)
INDEX = {name: index for index, name in enumerate(NAMES)}

# Flags: of the instruction that is the cause.
# in another warp; of another launch; its lanes take more passes or sectors than need be
OTHER_WARP, OTHER_LAUNCH, CONFLICT = 1, 2, 4
