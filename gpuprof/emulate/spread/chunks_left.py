"""The chunks that no process has taken yet, in memory that forked processes share.

 63             32 31              0
+-----------------+-----------------+
| first one left  | end of those    |
+-----------------+-----------------+
"""

import mmap

import numpy as np

from gpuprof.jit.atomics import observe, take
from gpuprof.jit.cached import cached_njit

NONE = -1
FIRST_SHIFT, END = 32, (1 << 32) - 1


class ChunksLeft:
    """The chunks 0 to `n`. This process takes them from the front, the others take them from the back."""

    def __init__(self, n: int):
        self._word = np.frombuffer(mmap.mmap(-1, np.dtype(np.int64).itemsize), np.int64)
        self._word[0] = n

    def take_first(self) -> int:
        """NONE: all are taken."""
        return take_one(self._word.ctypes.data, False)

    def take_last(self) -> int:
        return take_one(self._word.ctypes.data, True)

    @property
    def first(self) -> int:
        """The first one that was not taken from the front."""
        return int(self._word[0]) >> FIRST_SHIFT

    @property
    def n(self) -> int:
        return (int(self._word[0]) & END) - self.first


@cached_njit
def take_one(address, is_last):
    """Takes a chunk of the word at `address`."""
    while True:
        word = observe(address)
        first, end = word >> FIRST_SHIFT, word & END
        if first >= end:
            return NONE
        if is_last and take(address, word, word - 1):
            return end - 1
        if not is_last and take(address, word, word + (1 << FIRST_SHIFT)):
            return first
