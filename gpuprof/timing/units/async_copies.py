"""Asynchronous copies: a warp's groups of them, and waiting until all but the newest have landed.

Each of the newest N_GROUPS groups has a scoreboard entry, the open one at `groups` modulo N_GROUPS; one more entry is
for all older ones. Of each, `board` keeps the latest cycle that is known, `maker` its cause, and `second` a token while
copies of this quantum are not served.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import CLASS_LONG, ENTRY_SHIFT, N_GROUPS, TOKEN
from gpuprof.timing.state.table_rows import board_at, cause_at, maker_at, second_at, until_at, warp_at


@inline_njit
def open_group(machine, warp):
    """The scoreboard entry of the group that the warp's copies join."""
    return machine.first_group + warp_at(machine, warp).groups % N_GROUPS


@inline_njit
def raise_to(word, value):
    word.value = max(word.value, value)


@inline_njit
def raise_both(word, maker, value, cause):
    """Keeps the later of two entries; of two at one cycle, the one with the greater cause."""
    if value > word.value or (value == word.value and cause > maker.value):
        word.value = value
        maker.value = cause


@call_njit
def add_to_group(machine, warp, group, cycle, cause):
    """A copy of the group lands at `cycle`, which may be a token."""
    entry = cycle << ENTRY_SHIFT | CLASS_LONG
    if cycle >= TOKEN:
        raise_to(second_at(machine, warp, group), entry)
    else:
        raise_both(board_at(machine, warp, group), maker_at(machine, warp, group), entry, cause)


@call_njit
def settle_copy(machine, warp, group, done, cause):
    """The quantum is served: its copies are known."""
    second_at(machine, warp, group).value = 0
    raise_both(board_at(machine, warp, group), maker_at(machine, warp, group), done << ENTRY_SHIFT | CLASS_LONG, cause)


@call_njit
def commit(machine, warp):
    """The next group takes the entry of the oldest, which joins the older ones: unless some of its copies are not
    served yet (eight commits within a quantum), then it stays and the new group lands no sooner."""
    warp_at(machine, warp).groups += 1
    if machine.first_group < 0:
        return
    group = open_group(machine, warp)
    if second_at(machine, warp, group).value == 0:
        older = machine.first_group + N_GROUPS
        raise_both(
            board_at(machine, warp, older),
            maker_at(machine, warp, older),
            board_at(machine, warp, group).value,
            maker_at(machine, warp, group).value,
        )
        board_at(machine, warp, group).value = 0
        maker_at(machine, warp, group).value = 0


@call_njit
def group_waits(machine, warp, newest):
    """Raises the end of the long-scoreboard class to where all groups but the open one and the `newest` before it have
    landed.
    """
    if machine.first_group < 0:
        return
    until, cause = until_at(machine, warp, CLASS_LONG), cause_at(machine, warp, CLASS_LONG)
    w = warp_at(machine, warp)
    if w.held >> CLASS_LONG & 1 == 0:
        w.held |= 1 << CLASS_LONG
        until.value = 0
    for back in range(newest + 1, N_GROUPS + 1):
        group = machine.first_group + ((w.groups + N_GROUPS - back) % N_GROUPS if back < N_GROUPS else N_GROUPS)
        raise_both(
            until, cause, board_at(machine, warp, group).value >> ENTRY_SHIFT, maker_at(machine, warp, group).value
        )
        raise_to(until, second_at(machine, warp, group).value >> ENTRY_SHIFT)
