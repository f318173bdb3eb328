"""A sum for each thread of a launch, to which complete warps add at little cost."""

import numpy as np

from gpuprof.trace.event import WARP, TraceEvent, unpacked
from gpuprof.trace.kernel import Kernel

FULL = 0xFFFFFFFF


class ThreadSums:
    """Sums by thread, 0 at first."""

    def __init__(self, kernel: Kernel):
        self._warps_per_block, self._threads_per_block = kernel.warps_per_block, kernel.threads_per_block
        n_warps = kernel.n_blocks * self._warps_per_block
        # The part that all lanes of a warp have in common, and the rest, which is small in most kernels.
        self._common = np.zeros(n_warps, np.int64)
        self._own: np.ndarray | None = None

    def add(self, event: TraceEvent, amount: int) -> None:
        """Adds `amount` to each active thread of a run of a basic block."""
        self.add_lanes(event, event.active_masks, amount)

    def add_lanes(self, event: TraceEvent, masks: np.ndarray, amount: int) -> None:
        """Adds `amount` to each lane in `masks`, uint32 (n,), of the event's warps."""
        rows = event.block * self._warps_per_block + event.warp
        full = masks == FULL
        if full.all():
            self._common[rows] += amount
            return
        if self._own is None:
            self._own = np.zeros((len(self._common), WARP), np.int64)
        self._common[rows[full]] += amount
        self._own[rows[~full]] += unpacked(masks[~full]) * np.int64(amount)

    @property
    def by_thread(self) -> np.ndarray:
        """int64 (blocks, threads of a block)."""
        sums = np.repeat(self._common[:, None], WARP, axis=1)
        if self._own is not None:
            sums += self._own
        return sums.reshape(-1, self._warps_per_block * WARP)[:, : self._threads_per_block]
