"""Slots for the running blocks, so that the state of their memory and registers is as long as their number."""

from collections.abc import Callable

import numpy as np

from gpuprof.trace.checkers.slots import NumberedBlocks


class RunningBlocks(NumberedBlocks):
    def __init__(self, n_blocks: int, threads_per_block: int, begin: Callable[[list[int]], None]):
        """`begin`: called with the slots in which blocks begin."""
        super().__init__(n_blocks)
        self._threads = threads_per_block
        self._exited = np.zeros(n_blocks, np.int32)  # threads, by block
        self.begin = begin

    def exit(self, blocks: np.ndarray, masks: np.ndarray) -> list[int]:
        """Lanes have exited; gives the slots that are free now."""
        np.add.at(self._exited, blocks, np.bitwise_count(masks))
        ended = np.unique(blocks[(self._exited[blocks] >= self._threads) & (self.numbers[blocks] > 0)])
        slots = (self.numbers[ended] - 1).tolist()
        for block in ended.tolist():
            self.end(block)
        return slots
