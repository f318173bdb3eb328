"""The running blocks of a launch, and the state of their ordering."""

import numpy as np

from gpuprof.trace.checkers.races.access_rows import LEAST_ROWS, N_ROW_COLUMNS, N_WAY_COLUMNS, index_of
from gpuprof.trace.checkers.races.lane_order import N_DIVERGED, N_PLAIN, N_STATES, give_all
from gpuprof.trace.checkers.races.vector_clocks import (
    EPOCHS,
    GROUPS,
    N_COLUMNS,
    N_COLUMNS_OF_BARRIERS,
    N_FAMILIES,
    N_MOMENTS,
    N_ROWS,
    N_WAYS,
    TICKS,
    Order,
)
from gpuprof.trace.checkers.slots import Slots, longer, with_room
from gpuprof.trace.event import WARP

LEAST_WAYS = 1 << 6
PER_SLOT = (
    *("state", "diverged", "arrived", "tick", "acquired", "block_acquired", "pending", "due"),
    *("group", "groups", "n_groups", "fence_epoch", "fence_acquired", "block_fences"),
)


class Blocks(Slots):
    """`order`: the state."""

    def __init__(
        self,
        n_blocks: int,
        threads_per_block: int,
        syncs_warps: bool,
        publishes: bool,
        is_asynchronous: bool = True,
        has_groups: bool = True,
    ):
        """The arguments describe the kernel: it waits within warps; it fences, releases or acquires; it has
        asynchronous operations or fences for them; it has groups of these.
        """
        super().__init__(n_blocks, threads_per_block)
        warps = self.n_warps
        n_known, n_published = (WARP if syncs_warps else 0), (n_blocks if publishes else 0)
        n_syncing, n_ordered = (warps if syncs_warps else 0), (warps if publishes or is_asynchronous else 0)
        n_columns = N_COLUMNS if syncs_warps or publishes or is_asynchronous else N_COLUMNS_OF_BARRIERS
        n_families, n_fencing = (N_FAMILIES if has_groups else 0), (warps if is_asynchronous else 0)
        n_states = N_STATES if syncs_warps or is_asynchronous else N_PLAIN
        self._forgets_exited = n_states == N_PLAIN
        self.order = Order(
            state=_zeros(0, warps, n_states),
            diverged=_zeros(0, warps),
            by_lane=_zeros(1, n_states, WARP),
            known=_zeros(1, n_known, n_known),
            arrived=_zeros(0, n_syncing),
            tick=_zeros(0, n_ordered),
            acquired=_zeros(0, n_ordered, 2),
            block_acquired=_zeros(0, 2),
            pending=_zeros(0, n_ordered),
            due=_zeros(0, n_ordered),
            group=_zeros(0, warps, n_families),
            groups=_zeros(0, warps, n_families, GROUPS),
            n_groups=_zeros(0, warps, n_families),
            fence_epoch=_zeros(0, n_fencing),
            fence_acquired=_zeros(0, n_fencing),
            block_fences=_zeros(0, 2),
            published=_zeros(n_published * warps, TICKS, 2),
            epoch_published=_zeros(n_published, EPOCHS),
            last_published=_zeros(n_published),
            moments=_zeros(LEAST_ROWS, n_columns),
            counts=np.array([1, 0, 0, 0, 0, 1, 1, 0, 1, 0], np.int64),
            rows=_zeros(LEAST_ROWS, N_ROW_COLUMNS),
            row_index=_zeros(2 * LEAST_ROWS),
            ways=_zeros(LEAST_WAYS, N_WAY_COLUMNS),
            way_index=_zeros(2 * LEAST_WAYS),
        )

    def grow(self, n_slots: int) -> None:
        self.order = self.order._replace(**{name: with_room(getattr(self.order, name), n_slots) for name in PER_SLOT})

    def clear(self, slots: list[int]) -> None:
        for slot in slots:
            if self.order.diverged[slot].any():
                give_all(self.order, slot)
        for name in PER_SLOT:
            getattr(self.order, name)[slots] = 0

    def absent(self, masks: np.ndarray, slots: np.ndarray, warps: np.ndarray) -> np.ndarray:
        """uint32 (n,): lanes of warps whose absence does not matter: if those of `masks`, uint32 (n,), arrive, all are
        alike. Makes room for the warps whose lanes will not be.
        """
        expected = self.live[slots, warps] if self._forgets_exited else self._all_lanes[warps]
        n_diverged = int(np.count_nonzero((expected & ~masks != 0) & (masks != 0)))
        needed = int(self.order.counts[N_DIVERGED]) + n_diverged
        if needed > len(self.order.by_lane):
            by_lane, known = (longer(table, needed) for table in (self.order.by_lane, self.order.known))
            self.order = self.order._replace(by_lane=by_lane, known=known)
        return ~expected

    def room_for(self, n: int) -> None:
        """Makes room for `n` more moments."""
        needed = int(self.order.counts[N_MOMENTS]) + n
        if needed > len(self.order.moments):
            self.order = self.order._replace(moments=longer(self.order.moments, needed))

    def room_for_rows(self, n: int) -> None:
        """Makes room for `n` more rows, and as many more ways."""
        for which, name, of_index in ((N_ROWS, "rows", "row_index"), (N_WAYS, "ways", "way_index")):
            table, n_used = getattr(self.order, name), int(self.order.counts[which])
            if n_used + n > len(table):
                table = longer(table, n_used + n)
                self.order = self.order._replace(**{name: table, of_index: index_of(table, n_used)})


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)
