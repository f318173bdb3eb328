"""Slots for the running blocks of a launch, so that per-block state is as long as their number."""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.trace.event import WARP

GROWTH_SHIFT = 3


@cached_njit
def find_slots(numbers, blocks, slots):
    """Writes the slot of each block, int64 (n,), to `slots`; false if a block has none. `numbers`: as in
    NumberedBlocks.
    """
    for k in range(len(blocks)):
        number = numbers[blocks[k]]
        if number == 0:
            return False
        slots[k] = number - 1
    return True


class NumberedBlocks:
    """`n_slots`: the number of slots so far; `numbers`: int32, by block its slot plus one, or 0. A derived class has
    more state by slot.
    """

    def __init__(self, n_blocks: int):
        self.numbers = np.zeros(n_blocks, np.int32)  # the host allocates zeros only when they are used
        self.n_slots = 0
        self._free: list[int] = []
        self._last: tuple = (None, None)  # blocks, and their slots: those of one event are often those of the next

    def slots(self, blocks: np.ndarray) -> np.ndarray:
        """int64 (n,): the slot of each block, int64 (n,). The same arrays, unchanged, have the same slots until one of
        the blocks ends.
        """
        if self._last[0] is blocks:
            return self._last[1]
        slots = np.empty(len(blocks), np.int64)
        if not find_slots(self.numbers, blocks, slots):
            self.begin([self._assigned(block) for block in np.unique(blocks[self.numbers[blocks] == 0]).tolist()])
            find_slots(self.numbers, blocks, slots)
        slots.flags.writeable = False
        self._last = blocks, slots
        return slots

    def _assigned(self, block: int) -> int:
        """The slot of a block that begins."""
        slot = self._free.pop() if self._free else self.n_slots
        self.n_slots = max(self.n_slots, slot + 1)
        self.numbers[block] = slot + 1
        return slot

    def end(self, block: int) -> None:
        """The block has ended: its slot is free."""
        self._free.append(int(self.numbers[block]) - 1)
        self.numbers[block] = 0
        self._last = None, None

    def begin(self, slots: list[int]) -> None:
        """Blocks begin in these slots."""


class Slots(NumberedBlocks):
    """`live`: uint32 (slots, warps), lanes that have not exited."""

    def __init__(self, n_blocks: int, threads_per_block: int):
        super().__init__(n_blocks)
        self.n_warps = -(-threads_per_block // WARP)
        self._all_lanes = np.full(self.n_warps, 0xFFFFFFFF, np.uint32)
        if threads_per_block % WARP:
            self._all_lanes[-1] = (1 << threads_per_block % WARP) - 1
        self.live = np.zeros((0, self.n_warps), np.uint32)

    def running(self) -> list[tuple[int, int]]:
        """(block, slot) of the blocks that have not ended, ascending."""
        blocks = np.flatnonzero(self.numbers)
        return list(zip(blocks.tolist(), (self.numbers[blocks] - 1).tolist(), strict=True))

    def exit(self, blocks: np.ndarray, warps: np.ndarray, masks: np.ndarray) -> list[tuple[int, int]]:
        """Lanes have exited; gives the blocks that have ended, each with its slot."""
        slots = self.slots(blocks)
        self.live[slots, warps] &= ~masks
        numbers, first = np.unique(blocks, return_index=True)
        of_blocks = slots[first]
        is_over = ~self.live[of_blocks].any(axis=1)
        ended = list(zip(numbers[is_over].tolist(), of_blocks[is_over].tolist(), strict=True))
        for block, _ in ended:
            self.end(block)
        if ended:
            self.clear([slot for _, slot in ended])
        return ended

    def begin(self, slots: list[int]) -> None:
        if self.n_slots > len(self.live):
            self.live = with_room(self.live, self.n_slots)
            self.grow(len(self.live))
        self.live[slots] = self._all_lanes

    def grow(self, n_slots: int) -> None:
        """The number of slots has grown to `n_slots`."""

    def clear(self, slots: list[int]) -> None:
        """The blocks in these slots have ended."""


def with_room(array: np.ndarray, length: int) -> np.ndarray:
    """The array with at least `length` rows; if it grows, at least to twice its length, with zeros at its end."""
    return _grown(array, length, 2 * len(array))


def longer(array: np.ndarray, length: int) -> np.ndarray:
    """Like `with_room`, for large arrays: if it grows, at least by an eighth."""
    return _grown(array, length, len(array) + (len(array) >> GROWTH_SHIFT))


def _grown(array: np.ndarray, needed: int, likely: int) -> np.ndarray:
    if needed <= len(array):
        return array
    grown = np.zeros((max(needed, likely), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
