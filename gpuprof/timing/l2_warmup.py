"""An L2 as it is after long use, made at once from one that is filling."""

import numpy as np

from gpuprof.timing.state.machine import State

FAR_SHIFT = 42  # a line so far from another is none of the memory's


def fill(state: State) -> None:
    """Puts a line that nobody will ask for into every empty place: a copy of a line of the same set, as dirty as that,
    used as long before it as the whole cache has been in use. So the places are freed, and what was written goes to the
    DRAM, in the order and in the mixture in which lines came. The same bits of its number choose its channel, bank and
    row, so that copies of neighbours are neighbours.
    """
    machine, tables = state.machine[0], state.memory
    ways = int(machine["l2_ways"])
    tag = tables.l2_tag.reshape(-1, ways)
    there = tag != 0
    n_there = there.sum(axis=1, keepdims=True)
    number = np.cumsum(~there, axis=1) - 1  # of an empty place among those of its set
    turn, which = np.divmod(number, np.maximum(n_there, 1))
    source = np.take_along_axis(np.argsort(~there, axis=1, kind="stable"), which % ways, axis=1)
    empty = ~there & (n_there > 0)
    use, line = tables.l2_use.reshape(-1, ways), tables.l2_line.reshape(-1, ways)
    turn = turn + 1
    tag[empty] = (np.take_along_axis(tag, source, axis=1) + (turn << FAR_SHIFT))[empty]
    use[empty] = (np.take_along_axis(use, source, axis=1) - turn * int(machine["l2_uses"]))[empty]
    copies = np.take_along_axis(line, source, axis=1)
    copies["pending_until"] = 0
    line[empty] = copies[empty]
