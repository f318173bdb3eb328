"""Slots for the blocks of a launch that run, and the state of what is ordered in them."""

import numpy as np

from gpuprof.trace.checkers.races.memory import with_room
from gpuprof.trace.checkers.races.order import EPOCHS, GROUPS, N_COLUMNS, N_MOMENTS, TICKS, Order
from gpuprof.trace.masks import WARP

PER_SLOT = (
    *("epoch", "clock", "moment", "known", "arrived", "tick", "acquired", "block_acquired", "pending", "due"),
    *("group", "groups", "n_groups"),
)


class Blocks:
    """`order`: the state; `live`: uint32 (slots, warps), lanes that have not exited."""

    def __init__(self, n_blocks: int, threads_per_block: int, syncs_warps: bool, publishes: bool):
        warps = -(-threads_per_block // WARP)
        self._live = np.full(warps, 0xFFFFFFFF, np.uint32)
        if threads_per_block % WARP:
            self._live[-1] = (1 << threads_per_block % WARP) - 1
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        n_known, n_published = (warps if syncs_warps else 1), (n_blocks if publishes else 1)
        self.order = Order(
            epoch=_zeros(0, warps * WARP),
            clock=_zeros(0, warps * WARP),
            moment=_zeros(0, warps * WARP),
            known=_zeros(0, n_known, WARP, WARP),
            arrived=_zeros(0, warps),
            tick=_zeros(0, warps),
            acquired=_zeros(0, warps, 2),
            block_acquired=_zeros(0, 2),
            pending=_zeros(0, warps),
            due=_zeros(0, warps),
            group=_zeros(0, warps),
            groups=_zeros(0, warps, GROUPS),
            n_groups=_zeros(0, warps),
            published=_zeros(n_published * warps, TICKS, 2),
            epoch_published=_zeros(n_published, EPOCHS),
            last_published=_zeros(n_published),
            moments=_zeros(1 << 12, N_COLUMNS),
            counts=np.array([1, 0, 0], np.int64),
        )
        self.live = np.zeros((0, warps), np.uint32)

    def slots(self, blocks: np.ndarray) -> np.ndarray:
        """int64 (n,): the slot of each block, int64 (n,)."""
        numbers, place = np.unique(blocks, return_inverse=True)
        return np.array([self._slot(number) for number in numbers.tolist()], np.int64)[place.reshape(-1)]

    def _slot(self, block: int) -> int:
        slot = self._slots.get(block)
        if slot is None:
            slot = self._slots[block] = self._free.pop() if self._free else len(self._slots)
            self._grow(slot + 1)
            self.live[slot] = self._live
        return slot

    def _grow(self, n_slots: int) -> None:
        if n_slots > len(self.live):
            self.live = with_room(self.live, n_slots)
            self.order = self.order._replace(
                **{name: with_room(getattr(self.order, name), len(self.live)) for name in PER_SLOT}
            )

    def exit(self, blocks: np.ndarray, warps: np.ndarray, masks: np.ndarray) -> list[int]:
        """Lanes have exited; gives the slots that are free now."""
        slots = self.slots(blocks)
        self.live[slots, warps] &= ~masks
        freed = []
        for block, slot in sorted(set(zip(blocks.tolist(), slots.tolist(), strict=True))):
            if not self.live[slot].any():
                del self._slots[block]
                self._free.append(slot)
                freed.append(slot)
                for name in PER_SLOT:
                    getattr(self.order, name)[slot] = 0
        return freed

    def room_for(self, n: int) -> None:
        """Room for so many more moments."""
        needed = int(self.order.counts[N_MOMENTS]) + n
        if needed > len(self.order.moments):
            self.order = self.order._replace(moments=with_room(self.order.moments, needed))


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)
