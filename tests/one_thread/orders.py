"""Two accesses of a block that nothing orders, carried out in both orders: what each order leaves behind."""

from collections import defaultdict
from typing import NamedTuple

from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from tests.one_thread.block import go_together
from tests.one_thread.launch import Launched, block_of
from tests.one_thread.thread import Thread


class At(NamedTuple):
    """The first time that a thread comes to a row of the code."""

    thread: int
    row: int


class Left(NamedTuple):
    """Memory, and the registers of the two threads, behind the two accesses."""

    arena: bytes
    shared: bytes
    registers: tuple[dict, dict]


def both_orders(launch: Launch, memory: AddressSpace, one: At, other: At) -> tuple[Left, Left]:
    """`one` first, then `other` first, in the launch's first block. All others have gone as far as they can by then.

    Raises AssertionError when one of the two has to wait for the other.
    """
    return _left(launch, memory, (one, other), (0, 1)), _left(launch, memory, (one, other), (1, 0))


def _left(launch: Launch, memory: AddressSpace, accesses: tuple[At, At], order: tuple[int, int]) -> Left:
    launched = Launched(launch, memory)
    threads = block_of(launched, (0, 0, 0))
    for thread, row in accesses:
        threads[thread].held_at = row
    _run_until_stuck(threads)
    two = [threads[thread] for thread, _ in accesses]
    assert [thread.row for thread in two] == [row for _, row in accesses]
    for each in order:
        two[each].step()
    shared = bytes(two[0].own["shared"])
    return Left(bytes(launched.memory.spaces["global"]), shared, (two[0].registers, two[1].registers))


def _run_until_stuck(threads: list[Thread]) -> None:
    arrived: dict[int, set[int]] = defaultdict(set)
    while True:
        for thread in threads:
            thread.run()
        if not go_together(threads, arrived):
            return
