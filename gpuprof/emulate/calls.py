"""The call stack each lane keeps: where to return to, and how much of local memory the callers use."""

import numpy as np

from gpuprof.emulate.lanes import WARP, Lanes


class CallStack:
    """`base` int64 (warps, 32): where the present frame starts in local memory, and `grown`: bytes it has taken since,
    behind itself.

    One level of arrays per call depth.
    """

    def __init__(self, n_warps: int):
        self.n_warps = n_warps
        self.base = np.zeros((n_warps, WARP), np.int64)
        self.grown = np.zeros((n_warps, WARP), np.int64)
        self.levels: list[np.ndarray] = []  # (return block, frame bytes, what it had grown), int64 (3, warps, 32)

    def enter(self, x: Lanes, return_block: int, frame_nbytes: int) -> None:
        """All active lanes of x make a call; x.depth goes up."""
        if x.depth == len(self.levels):
            self.levels.append(np.zeros((3, self.n_warps, WARP), np.int64))
        blocks, frames, grown = self.levels[x.depth]
        warps, lanes = self._places(x)
        blocks[warps, lanes] = return_block
        frames[warps, lanes] = frame_nbytes
        grown[warps, lanes] = self.grown[warps, lanes]
        self.base[warps, lanes] += frame_nbytes + grown[warps, lanes]
        self.grown[warps, lanes] = 0
        x.depth += 1

    def leave(self, x: Lanes) -> np.ndarray:
        """All active lanes return; x.depth goes down. Gives each lane's block to go on with, int64 (n,)."""
        x.depth -= 1
        blocks, frames, grown = self.levels[x.depth]
        warps, lanes = self._places(x)
        self.base[warps, lanes] -= frames[warps, lanes] + grown[warps, lanes]
        self.grown[warps, lanes] = grown[warps, lanes]
        return blocks[x.warps].reshape(-1)

    def _places(self, x: Lanes) -> tuple[np.ndarray, np.ndarray]:
        at = np.arange(x.n) if x.active is None else np.flatnonzero(x.active)
        return x.warps[at // WARP], at % WARP
