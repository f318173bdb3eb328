"""Many warps in one loop of a lock or a compare-and-swap: they take turns, a few at a time.

When all of N lanes try to change one word, each iteration of the loop lets one through and the others have tried in
vain: N * N / 2 tries if all of them run together. After a few iterations only TURN_WARPS warps continue; the others are
parked until no warp has advanced less, as if they had come later, or until those that continue make no progress.
"""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes

TURN_WARPS = 32
FREE_ROUNDS = 32  # that all go together first

Key = tuple[int, int]  # a place: (-call depth, rank of the block)


class Crowd:
    """`parked`: lanes by their position; their registers are in the chunk's rows."""

    def __init__(self):
        self.parked: dict[Key, list[Lanes]] = {}
        self.rounds: dict[Key, int] = {}
        self.last_active: dict[Key, int] = {}

    def admit(self, key: Key, lanes: Lanes) -> bool:
        """Parks all but the first warps of `lanes` when they have iterated often. Returns True when fewer lanes came
        than the last time.
        """
        if len(lanes.step_warps) > TURN_WARPS:
            self.rounds[key] = self.rounds.get(key, 0) + 1
            if self.rounds[key] > FREE_ROUNDS:
                _, rest = first_warps(lanes.masks)
                self.parked.setdefault(key, []).append(lanes.split_off(rest))
        fewer = lanes.n_active < self.last_active.get(key, 0)
        self.last_active[key] = lanes.n_active
        return fewer

    def release(self, ready: dict[Key, list[Lanes]], everyone: bool) -> None:
        """Moves parked lanes to `ready`: all of them, or some warps of the position that has advanced least."""
        if everyone:
            for key, groups in self.parked.items():
                ready.setdefault(key, []).extend(groups)
            self.parked.clear()
            self.rounds.clear()
            return
        key = min(self.parked)
        if ready and min(ready) <= key:
            return
        x = self.parked[key].pop()
        first, rest = first_warps(x.masks)
        if rest.any():
            self.parked[key].append(x.part(rest))
        elif not self.parked[key]:
            del self.parked[key]
        ready[key] = [x.part(first)]


def first_warps(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lane masks of the first TURN_WARPS warps that have any, and of the others."""
    end = int(np.flatnonzero(masks)[:TURN_WARPS][-1]) + 1
    first, rest = masks.copy(), masks.copy()
    first[end:] = 0
    rest[:end] = 0
    return first, rest
