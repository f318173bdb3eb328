"""The outcomes of chunks that helpers carried out, in memory and files that forked processes share. The files have no
name, and end with the last process that has them open.
"""

import mmap
import os
import pickle

import numpy as np

from gpuprof.emulate.spread.effects import Effects

# What became of a chunk: nothing that counts, effects, or it has to be carried out again for what it read.
MISSING, DONE, AGAIN = range(3)
STATE, HELPER, START, NBYTES = range(4)  # columns
MOST_NBYTES = 256 << 20  # of a helper's file, which takes the host's memory, and as much as one chunk needs


class Outcomes:
    """One for each of `n` chunks. `files`: one for each helper, to which only it writes."""

    def __init__(self, n: int, n_helpers: int):
        """OSError when there is no room for a file."""
        shape = (n, NBYTES + 1)
        self._rows = np.frombuffer(mmap.mmap(-1, 8 * shape[0] * shape[1]), np.int64).reshape(shape)
        self._files: list[int] = []
        try:
            for _ in range(n_helpers):
                self._files.append(os.memfd_create("gpuprof effects"))
        except OSError:
            self.close()
            raise

    @property
    def n_helpers(self) -> int:
        return len(self._files)

    def has_room(self, helper: int) -> bool:
        return os.lseek(self._files[helper], 0, os.SEEK_END) < MOST_NBYTES

    def close(self) -> None:
        while self._files:
            os.close(self._files.pop())

    def put(self, chunk: int, state: int, helper: int, content: bytes) -> None:
        """The outcome of a chunk, by a helper: its effects, pickled. The state comes last: with it, all is there."""
        file, rest = self._files[helper], memoryview(content)
        start = os.lseek(file, 0, os.SEEK_END)
        while rest:
            rest = rest[os.write(file, rest) :]
        self._rows[chunk, HELPER:] = helper, start, len(content)
        self._rows[chunk, STATE] = state

    def state(self, chunk: int) -> int:
        return int(self._rows[chunk, STATE])

    def effects(self, chunk: int) -> Effects:
        """Gives those of a chunk that is DONE."""
        _, helper, start, nbytes = self._rows[chunk].tolist()
        with mmap.mmap(self._files[helper], start + nbytes, prot=mmap.PROT_READ) as content:
            return pickle.loads(memoryview(content)[start:])
