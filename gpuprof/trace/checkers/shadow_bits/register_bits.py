"""Undefined bits of registers, by running block, warp and register. There are nearly always none: a flag for each
register of a warp is stored with the bits, so that warps without undefined bits are skipped.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import Instruction, Operand, reads, writes
from gpuprof.trace.checkers.shadow_bits.event_pass import find_hot, find_undefined, lanes_to_store, load, store
from gpuprof.trace.checkers.shadow_bits.lane_rules import ByValue, follow_values
from gpuprof.trace.checkers.shadow_bits.memory_bits import MemoryShadow, Pages
from gpuprof.trace.checkers.shadow_bits.propagate import ALL_LANES, NO_ORIGIN, Simple, Words, follow, put, take
from gpuprof.trace.checkers.slots import with_room

WORDS = {"R": 1, "D": 2}


class Layout(NamedTuple):
    """Rows of a warp: its 32-bit words, then its predicates, each in the lowest bit of a word."""

    n_words: int
    n_predicates: int

    def is_predicate(self, row: int) -> bool:
        return row >= self.n_words

    def rows_of(self, operand: Operand) -> list[int]:
        if operand.file == "P":
            return [self.n_words + operand.index]
        size = WORDS[operand.file]
        return list(range(size * operand.index, size * (operand.index + operand.count)))


def layout_of(instructions: Collection[Instruction]) -> Layout:
    """The layout of all registers that the instructions of a module read and write."""
    operands = [operand for each in instructions for operand in (*reads(each), *writes(each))]
    words, predicates = (
        max((_end(each) for each in operands if (each.file == "P") == is_predicate), default=0)
        for is_predicate in (False, True)
    )
    return Layout(words, predicates)


class Registers:
    def __init__(
        self, layout: Layout, warps_per_block: int, undefined: Collection[int], notify: Callable[[int, int], None]
    ):
        """`undefined`: words without a value when a block begins, which may be read then. `notify(row, 1)`: a row may
        have an undefined bit from now on, `notify(row, -1)`: it has none.
        """
        self._at_start = [word for word in undefined if word < layout.n_words]
        shape = (0, warps_per_block, layout.n_words + layout.n_predicates)
        # `origin`: number of the instruction that has loaded the value.
        self._words = Words(
            np.zeros((*shape, 32), np.uint32),
            np.zeros(shape, np.bool_),
            np.zeros(shape, np.int32),
            np.zeros(shape, np.uint32),
        )
        self._notify = notify
        self._n_hot = [0] * shape[-1]  # by row: warps in which it has an undefined bit
        for row in self._at_start:  # of blocks that will begin
            self._heat(row, 1)

    def _heat(self, row: int, n_warps: int) -> None:
        """Add `n_warps` to the number of warps with an undefined bit in a row."""
        before = self._n_hot[row]
        self._n_hot[row] = after = before + n_warps
        if (before == 0) != (after == 0):
            self._notify(row, 1 if after else -1)

    def begin(self, slots: Collection[int], n_slots: int) -> None:
        """Blocks begin in these slots, of `n_slots`."""
        self._words = words = Words(*(with_room(each, n_slots) for each in self._words))
        for slot in slots if self._at_start else ():
            words.bits[slot][:, self._at_start] = 0xFFFFFFFF
            words.is_hot[slot][:, self._at_start] = True
            words.origin[slot][:, self._at_start] = NO_ORIGIN
            words.padding[slot][:, self._at_start] = 0
            for row in self._at_start:
                self._heat(row, words.is_hot.shape[1])

    def end(self, slots: Collection[int]) -> None:
        is_hot, bits = self._words.is_hot, self._words.bits
        for slot in slots:
            if slot < len(is_hot) and is_hot[slot].any():
                for row in np.flatnonzero(is_hot[slot].any(axis=0)).tolist():
                    self._heat(row, -int(np.count_nonzero(is_hot[slot, :, row])))
                is_hot[slot], bits[slot] = False, 0

    def hot(self, slots: np.ndarray, warps: np.ndarray, rows: list[int]) -> np.ndarray:
        """int64 (k,): the indices of warps with an undefined bit in one of the rows."""
        rows = [row for row in rows if self._n_hot[row]]
        found = np.empty(len(slots) if rows else 0, np.int64)
        return found[: find_hot(self._words, slots, warps, np.array(rows, np.int64), found) if rows else 0]

    def undefined_lanes(
        self, slots: np.ndarray, warps: np.ndarray, rows: Sequence[int], masks: np.ndarray
    ) -> np.ndarray | None:
        """uint32 (n,): the lanes of `masks`, uint32 (n,), with an undefined bit in one of the rows; None for none."""
        rows = [row for row in rows if self._n_hot[row]]
        if not rows:
            return None
        lanes = np.empty(len(slots), np.uint32)
        return lanes if find_undefined(self._words, slots, warps, np.array(rows, np.int64), masks, lanes) else None

    def bits(self, slots: np.ndarray, warps: np.ndarray, row: int) -> np.ndarray:
        """uint32 (n, 32): the undefined bits of a row."""
        return self._words.bits[slots, warps, row]

    def padding(self, slots: np.ndarray, warps: np.ndarray, row: int) -> np.ndarray:
        """uint32 (n,): lanes without undefined bits, or only with padding that was copied unchanged."""
        words = self._words
        return np.where(words.is_hot[slots, warps, row], words.padding[slots, warps, row], ALL_LANES)

    def origin(self, slots: np.ndarray, warps: np.ndarray, rows: list[int]) -> np.ndarray:
        """int32 (n,): the origin of the undefined bits of the rows, from the first row that has some."""
        origins = np.full(len(slots), NO_ORIGIN, np.int32)
        for row in reversed(rows):
            origins = np.where(self._words.is_hot[slots, warps, row], self._words.origin[slots, warps, row], origins)
        return origins

    def follow(
        self, simple: Simple, slots: np.ndarray, warps: np.ndarray, active: np.ndarray, held: np.ndarray
    ) -> None:
        """Executes an instruction whose undefined bits do not depend on values. active, held: uint32 (n,), lanes."""
        changes = np.zeros(2, np.int64)
        follow(self._words, slots, warps, active, held, *simple, changes)
        self._heat_all(simple.result, changes)

    def follow_values(
        self, rule: ByValue, slots: np.ndarray, warps: np.ndarray, active: np.ndarray, held: np.ndarray,
        values: np.ndarray,
    ) -> None:  # fmt: skip
        """Like `follow`, for a rule that depends on values: uint64 (4, n, 32), of each slot."""
        changes = np.zeros((2, 2), np.int64)
        follow_values(self._words, slots, warps, active, held, values, *rule, changes)
        self._heat_all(rule.results.reshape(-1), changes.reshape(-1))

    def load_lanes(self, pages: Pages, slots: np.ndarray, warps: np.ndarray, masks: np.ndarray, addresses: np.ndarray,
             stride: int, nbytes: int, rows: np.ndarray, is_signed: bool, origin: int) -> int:  # fmt: skip
        """`event_pass.load`"""
        changes = np.zeros(len(rows), np.int64)
        first = load(
            self._words, pages, slots, warps, masks, addresses, stride, nbytes, rows, is_signed, origin, changes
        )
        self._heat_all(rows, changes)
        return first

    def lanes_to_store(self, slots: np.ndarray, warps: np.ndarray, masks: np.ndarray, rows: np.ndarray,
                       nbytes: int) -> np.ndarray | None:  # fmt: skip
        """uint32 (n,): lanes that store an undefined bit (`event_pass.lanes_to_store`); None if some may be padding."""
        lanes = np.empty(len(slots), np.uint32)
        return lanes if lanes_to_store(self._words, slots, warps, masks, rows, nbytes, lanes) else None

    def store_lanes(self, shadow: MemoryShadow, slots: np.ndarray, warps: np.ndarray, masks: np.ndarray,
              addresses: np.ndarray, nbytes: int, rows: np.ndarray) -> None:  # fmt: skip
        """`event_pass.store`"""
        shadow.take_pages(addresses, masks, nbytes)
        store(self._words, shadow.pages, slots, warps, masks, addresses, nbytes, rows)

    def put(self, slots: np.ndarray, warps: np.ndarray, row: int, bits: np.ndarray, masks: np.ndarray,
            padding: np.ndarray, origin: np.ndarray) -> None:  # fmt: skip
        """Sets the undefined bits of lanes in `masks`, uint32 (n,), in a row to `bits`, uint32 (n, 32); in lanes of
        `padding`, uint32 (n,), these are only padding.
        """
        change = put(self._words, slots, warps, row, bits, masks, padding, origin)
        if change:
            self._heat(row, change)

    def take(self, slots: np.ndarray, warps: np.ndarray, rows: np.ndarray, loaded: np.ndarray,
             padding: np.ndarray | None, masks: np.ndarray, is_signed: bool, origin: int) -> None:  # fmt: skip
        """Lanes in `masks`, uint32 (n,), load bytes with undefined bits `loaded`, uint8 (n, 32, k), to words `rows`,
        int64 (m,). Narrow ones are extended. `padding`: like `loaded`, padding bits, None for none.
        """
        padding = loaded[:0] if padding is None else padding
        changes = np.zeros(len(rows), np.int64)
        take(self._words, slots, warps, masks, loaded, padding, rows, is_signed, origin, changes)
        self._heat_all(rows, changes)

    def _heat_all(self, rows: np.ndarray, changes: np.ndarray) -> None:
        for row, change in zip(rows.tolist(), changes.tolist(), strict=True):
            if change:
                self._heat(row, change)


def _end(operand: Operand) -> int:
    return WORDS.get(operand.file, 1) * (operand.index + operand.count)
