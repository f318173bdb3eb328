"""Slots for the running blocks, so that the state of their memory and registers is as long as their number."""

import numpy as np


class RunningBlocks:
    """`n_slots`: the number of slots so far; `numbers`: int32, by block its slot plus one, or 0."""

    def __init__(self, n_blocks: int, threads_per_block: int):
        self._threads = threads_per_block
        # By block; the host allocates zeros only when they are used.
        self.numbers = np.zeros(n_blocks, np.int32)
        self._exited = np.zeros(n_blocks, np.int32)  # threads
        self._free: list[int] = []
        self.n_slots = 0

    def slots(self, blocks: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """int64 (n,): the slot of each block, int64 (n,); and the slots that were assigned by this call."""
        slots, fresh = self.numbers[blocks], []
        if not slots.all():
            for block in np.unique(blocks[slots == 0]).tolist():
                slot = self._free.pop() if self._free else self.n_slots
                self.n_slots = max(self.n_slots, slot + 1)
                self.numbers[block] = slot + 1
                fresh.append(slot)
            slots = self.numbers[blocks]
        return slots.astype(np.int64) - 1, fresh

    def exit(self, blocks: np.ndarray, masks: np.ndarray) -> list[int]:
        """Lanes have exited; gives the slots that are free now."""
        np.add.at(self._exited, blocks, np.bitwise_count(masks))
        ended = np.unique(blocks[(self._exited[blocks] >= self._threads) & (self.numbers[blocks] > 0)])
        slots = (self.numbers[ended] - 1).tolist()
        self.numbers[ended] = 0
        self._free += slots
        return slots
