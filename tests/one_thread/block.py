"""The threads of a block, one after the other, each until it exits or waits; then those go on that wait for nobody any
more.
"""

from collections import defaultdict

from tests.one_thread.lanes import TOGETHER
from tests.one_thread.thread import BARRIERS, RZ, Thread

WARP = 32


def run_block(threads: list[Thread]) -> None:
    """Runs them to their ends. Raises AssertionError when all that are left wait for each other."""
    arrived: dict[int, set[int]] = defaultdict(set)  # barrier -> threads that went on, or wait there
    while True:
        for thread in threads:
            thread.run()
        if all(thread.has_exited for thread in threads):
            return
        moved = go_together(threads, arrived)
        assert moved, f"deadlock: rows {sorted({thread.row for thread in threads if not thread.has_exited})}"


def go_together(threads: list[Thread], arrived: dict[int, set[int]]) -> bool:
    """Those go on who wait for nobody any more. False where all wait."""
    moved = [meet(threads[first : first + WARP]) for first in range(0, len(threads), WARP)]
    moved.append(pass_barriers(threads, arrived))
    return any(moved)


# Lanes of a warp


def meet(warp: list[Thread]) -> bool:
    """Those go on whose member mask has only lanes that wait for the same operation, or have exited."""
    groups: dict[tuple, dict[int, Thread]] = defaultdict(dict)
    for thread in warp:
        if thread.waiting is not None and thread.inst.op.kind not in BARRIERS:
            groups[operation_of(thread)][thread.lane] = thread
    moved = False
    for (*_, mask), group in groups.items():
        members = {thread.lane for thread in warp if mask >> thread.lane & 1 and not thread.has_exited}
        if members <= group.keys():
            go_on({lane: group[lane] for lane in sorted(members)})
            moved = True
    return moved


def operation_of(thread: Thread) -> tuple:
    """What lanes must have in common to do it together, wherever they stand (isa/__init__.py, Warps)."""
    inst = thread.inst
    return inst.op.number, inst.mods.get("shfl"), inst.mods.get("nan"), inst.mods.get("abs"), member_mask(thread)


def member_mask(thread: Thread) -> int:
    """The last operand, but a shuffle's is imm where e is register 255."""
    inst = thread.inst
    return inst.inst.imm if inst.op.kind == "shuffle" and inst.inst.e == RZ else thread.waiting[-1]


def go_on(group: dict[int, Thread]) -> None:
    brought = {lane: thread.waiting for lane, thread in group.items()}
    for lane, thread in group.items():
        thread.complete(TOGETHER[thread.inst.op.semantics](thread.inst, lane, brought))


# Barriers


def pass_barriers(threads: list[Thread], arrived: dict[int, set[int]]) -> bool:
    """Opens the barriers at which all have arrived. Threads that only arrive go on at once."""
    at: dict[int, list[int]] = defaultdict(list)
    expected: dict[int, int] = {}
    moved = False
    for number, thread in enumerate(threads):
        if thread.waiting is None or thread.inst.op.kind not in BARRIERS:
            continue
        barrier, expected_threads = barrier_of(thread)
        arrived[barrier].add(number)
        expected[barrier] = expected_threads
        if thread.inst.op.kind == "barrier_arrive":
            thread.complete(())
            moved = True
        else:
            at[barrier].append(number)
    for barrier, numbers in at.items():
        if is_complete(threads, arrived[barrier], expected[barrier]):
            arrived[barrier].clear()
            open_barrier([threads[number] for number in numbers])
            moved = True
    return moved


def barrier_of(thread: Thread) -> tuple[int, int]:
    """Its number and how many threads it waits for, 0 for all: in registers a and b, or in the halves of imm."""
    inst, (number, count, *_) = thread.inst.inst, thread.waiting
    return (inst.imm & 0xFFFF if inst.a == RZ else number), (inst.imm >> 16 if inst.b == RZ else count)


def is_complete(threads: list[Thread], came: set[int], expected: int) -> bool:
    """A number of threads stands for whole warps: lanes that are not there, or have exited, count as arrived."""
    if not expected:
        return all(number in came or thread.has_exited for number, thread in enumerate(threads))
    warps = {number // WARP for number in came}
    assert expected % WARP == 0
    all_there = all(
        number in came or thread.has_exited for number, thread in enumerate(threads) if number // WARP in warps
    )
    return all_there and WARP * len(warps) == expected


def open_barrier(waiting: list[Thread]) -> None:
    held = [bool(thread.waiting[2]) for thread in waiting if thread.inst.op.kind == "barrier_vote"]
    for thread in waiting:
        if thread.inst.op.kind == "barrier":
            thread.complete(())
        else:
            thread.complete((int({"popc": sum, "and": all, "or": any}[thread.inst.types[0]](held)),))
