"""The call stack each lane keeps: where to return to, and how much of local memory the callers use."""

from functools import cached_property

import numpy as np

from gpuprof.emulate.core.lanes import WARP, Lanes


class CallStack:
    """`base` int64 (warps, 32): where the present frame starts in local memory, and `grown`: bytes that alloca has
    added after it since.

    One level of arrays per call depth. Most kernels use none of them, so they are made on first use.
    """

    def __init__(self, n_warps: int):
        self.n_warps = n_warps
        self.levels: list[np.ndarray] = []  # (return block, frame bytes, what it had grown), int64 (3, warps, 32)

    @cached_property
    def base(self) -> np.ndarray:
        return np.zeros((self.n_warps, WARP), np.int64)

    @cached_property
    def grown(self) -> np.ndarray:
        return np.zeros((self.n_warps, WARP), np.int64)

    def enter(self, group: Lanes, return_block: int, frame_nbytes: int) -> None:
        """All active lanes of `group` make a call; group.depth goes up."""
        if group.depth == len(self.levels):
            self.levels.append(np.zeros((3, self.n_warps, WARP), np.int64))
        blocks, frames, grown = self.levels[group.depth]
        warps, lanes = self._places(group)
        blocks[warps, lanes] = return_block
        frames[warps, lanes] = frame_nbytes
        grown[warps, lanes] = self.grown[warps, lanes]
        self.base[warps, lanes] += frame_nbytes + grown[warps, lanes]
        self.grown[warps, lanes] = 0
        group.depth += 1

    def leave(self, group: Lanes) -> np.ndarray:
        """Returns from a call in all active lanes; group.depth decreases. Gives each lane's next block, int64 (n,)."""
        group.depth -= 1
        blocks, frames, grown = self.levels[group.depth]
        warps, lanes = self._places(group)
        self.base[warps, lanes] -= frames[warps, lanes] + grown[warps, lanes]
        self.grown[warps, lanes] = grown[warps, lanes]
        return blocks[group.warps].reshape(-1)

    def _places(self, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
        at = np.arange(lanes.n) if lanes.active is None else np.flatnonzero(lanes.active)
        return lanes.warps[at // WARP], at % WARP
