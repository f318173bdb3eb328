"""Slots for the running blocks of a launch, so that per-block state is as long as their number."""

import numpy as np

from gpuprof.trace.event import WARP

GROWTH_SHIFT = 3


class Slots:
    """`live`: uint32 (slots, warps), lanes that have not exited. A derived class has more state by slot."""

    def __init__(self, threads_per_block: int):
        self.n_warps = -(-threads_per_block // WARP)
        self._all_lanes = np.full(self.n_warps, 0xFFFFFFFF, np.uint32)
        if threads_per_block % WARP:
            self._all_lanes[-1] = (1 << threads_per_block % WARP) - 1
        self._of_block: dict[int, int] = {}
        self._free: list[int] = []
        self.live = np.zeros((0, self.n_warps), np.uint32)

    def slots(self, blocks: np.ndarray) -> np.ndarray:
        """int64 (n,): the slot of each block, int64 (n,)."""
        numbers, index = np.unique(blocks, return_inverse=True)
        return np.array([self._slot(number) for number in numbers.tolist()], np.int64)[index.reshape(-1)]

    def running(self) -> list[tuple[int, int]]:
        """(block, slot) of the blocks that have not ended, ascending."""
        return sorted(self._of_block.items())

    def exit(self, blocks: np.ndarray, warps: np.ndarray, masks: np.ndarray) -> list[tuple[int, int]]:
        """Lanes have exited; gives the blocks that have ended, each with its slot."""
        slots = self.slots(blocks)
        self.live[slots, warps] &= ~masks
        ended = [
            (block, slot)
            for block, slot in sorted(set(zip(blocks.tolist(), slots.tolist(), strict=True)))
            if not self.live[slot].any()
        ]
        for block, slot in ended:
            del self._of_block[block]
            self._free.append(slot)
            self.clear(slot)
        return ended

    def _slot(self, block: int) -> int:
        slot = self._of_block.get(block)
        if slot is None:
            slot = self._of_block[block] = self._free.pop() if self._free else len(self._of_block)
            if slot >= len(self.live):
                self.live = with_room(self.live, slot + 1)
                self.grow(len(self.live))
            self.live[slot] = self._all_lanes
        return slot

    def grow(self, n_slots: int) -> None:
        """The number of slots has grown to `n_slots`."""

    def clear(self, slot: int) -> None:
        """The slot's block has ended."""


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
