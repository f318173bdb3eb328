"""The known content of each 32-bit word of global memory. Compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit

NONE = -1
LOADS, REDUNDANT, STORES, SILENT, DEAD = range(5)  # columns of the counts


class Shadow:
    """State of `n_words` words: the value, once a load or store has revealed it, the instruction whose store has not
    been read yet, and the thread that holds the value in a register, if the word has not been stored since.
    """

    def __init__(self, n_words: int, n_instructions: int):
        self.value = np.zeros(n_words, np.uint32)
        self.is_known = np.zeros(n_words, np.bool_)
        self.unread = np.full(n_words, NONE, np.int32)
        self.holder = np.full(n_words, NONE, np.int64)
        self.counts = np.zeros((n_instructions, 5), np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.value, self.is_known, self.unread, self.holder, self.counts


@cached_njit
def load(places, masks, threads, words, number, value, is_known, unread, holder, counts):
    """Lanes load `len(words)` words each. places: int64 (n, 32), number of the first word, -1 for none; masks uint32
    (n,); threads int64 (n,), number of lane 0; words uint32 (w, n, 32).
    """
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1) or places[row, lane] < 0:
                continue
            own_thread = threads[row] + lane
            for k in range(len(words)):
                at = places[row, lane] + k
                counts[number, 0] += 1
                if holder[at] == own_thread:
                    counts[number, 1] += 1
                unread[at], holder[at] = -1, own_thread
                value[at], is_known[at] = words[k, row, lane], True


@cached_njit
def store(places, masks, threads, words, number, value, is_known, unread, holder, counts):
    """Lanes store `len(words)` words each, with the arguments of `load`."""
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1) or places[row, lane] < 0:
                continue
            for k in range(len(words)):
                at = places[row, lane] + k
                counts[number, 2] += 1
                if is_known[at] and value[at] == words[k, row, lane]:
                    counts[number, 3] += 1
                if unread[at] >= 0:
                    counts[unread[at], 4] += 1
                unread[at], holder[at] = number, threads[row] + lane
                value[at], is_known[at] = words[k, row, lane], True


@cached_njit
def forget(places, masks, n_words, is_read, is_written, value, is_known, unread, holder, counts):
    """Lanes read or write words with unknown values."""
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1) or places[row, lane] < 0:
                continue
            for k in range(n_words):
                at = places[row, lane] + k
                if is_read or is_written:
                    unread[at] = -1
                if is_written:
                    is_known[at], holder[at] = False, -1
