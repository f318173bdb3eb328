"""A set of lanes at the same position, and their registers as rows of typed arrays.

Rows always hold complete warps: element 32 * k + l is lane l of warp `warps[k]`. The rows of lanes that are not active
may hold anything. A `Lanes` object either works on the chunk's own rows (`direct`, when all lanes that still live are
in the set) or on copies of the registers it needs, fetched on first use and written back by `flush`.
"""

from contextlib import contextmanager
from functools import cached_property

import numpy as np

from gpuprof.emulate.core.operands import DTYPES, KINDS_OF_FILE, N_KINDS, POOL, TRASH, TRASH_P2

WARP = 32
FULL = np.uint32(0xFFFFFFFF)
SCRATCH = (TRASH, 256 + TRASH, 512 + TRASH, 512 + TRASH_P2)  # register codes


def pack_masks(active: np.ndarray) -> np.ndarray:
    """Bool (32 * warps,) to one uint32 mask per warp, lane 0 in bit 0."""
    return np.packbits(active, bitorder="little").view(np.uint32)


def unpack_masks(masks: np.ndarray) -> np.ndarray:
    """Unpacks masks, uint32 (n,), to bool (32 * n,): the reverse of pack_masks."""
    return np.unpackbits(np.ascontiguousarray(masks).view(np.uint8), bitorder="little").view(np.bool_)


class RegisterFile:
    """All registers of a chunk's lanes: `rows[file][index]` is a row of n elements (files R, D, P)."""

    def __init__(self, n_lanes: int, counts: tuple[int, int, int], constants: tuple[list, ...]):
        from gpuprof.emulate.core.row_kernels import gather, scatter  # brings Numba

        self.gather, self.scatter = gather, scatter
        self.n_lanes, self.counts = n_lanes, counts
        self.rows = [np.zeros((counts[file], n_lanes), DTYPES[KINDS_OF_FILE[file][0]]) for file in range(3)]
        self.constants = constants
        self.template = tuple([None] * POOL + list(constants[kind]) for kind in range(N_KINDS))

    def lists(self) -> tuple[list, ...]:
        """Fresh row lists with the constants in place and no registers."""
        return tuple(list(kind) for kind in self.template)

    def is_for(self, n_lanes: int, counts: tuple[int, int, int], constants: tuple[list, ...]) -> bool:
        return self.n_lanes == n_lanes and self.counts == counts and self.constants is constants

    def clear(self) -> None:
        for rows in self.rows:
            rows.fill(0)

    @cached_property
    def direct_lists(self) -> tuple[list, ...]:
        """The lists of sets that work on the chunk's own rows."""
        lists = self.lists()
        for file, rows in enumerate(self.rows):
            for index, row in enumerate(rows):
                set_row(lists, file, index, row)
        for code in SCRATCH:
            file, index = divmod(code, 256)
            set_row(lists, file, index, np.empty(self.n_lanes, DTYPES[KINDS_OF_FILE[file][0]]))
        return lists


def set_row(lists: tuple[list, ...], file: int, index: int, row: np.ndarray) -> None:
    for kind in KINDS_OF_FILE[file]:
        lists[kind][index] = row.view(DTYPES[kind])


class Lanes:
    """A set of lanes, as the module's text describes. `v[kind][index]` is a row; `active` is bool (n,) or None for all;
    `masks` is uint32 per warp.
    """

    __slots__ = (
        "active",
        "chunk",
        "depth",
        "direct",
        "dirty",
        "held",
        "masks",
        "n",
        "n_active",
        "step_masks",
        "step_warps",
        "v",
        "warps",
    )

    def __init__(self, chunk, warps: np.ndarray, masks: np.ndarray, depth: int, direct: bool = False):
        self.chunk = chunk
        self.warps = warps
        self.depth = depth
        self.direct = direct
        self.n = WARP * len(warps)
        self.held: set[int] = set()
        self.dirty: set[int] = set()
        self._set_masks(masks)
        self.v = chunk.direct_lists if direct else None  # made by `prepare`: most sets meet others before they run

    def _set_masks(self, masks: np.ndarray) -> None:
        self.masks = masks
        if (masks == FULL).all():
            self.active, self.step_warps, self.step_masks, self.n_active = None, self.warps, masks, self.n
            return
        self.active = unpack_masks(masks)
        active_rows = masks.nonzero()[0]
        is_complete = len(active_rows) == len(masks)
        self.step_warps = self.warps if is_complete else self.warps[active_rows]
        self.step_masks = masks if is_complete else masks[active_rows]
        self.n_active = int(np.count_nonzero(self.active))

    def prepare(self, needs: tuple[int, ...], fresh: tuple[int, ...], writes: frozenset[int]) -> None:
        """Makes rows for a block: `needs` are fetched, `fresh` only allocated, `writes` will have to be written back.

        A register is numbered file * 256 + index.
        """
        if self.direct:
            return
        if self.v is None:
            self.v = self.chunk.file.lists()
        registers = self.chunk.file
        for file, indexes in self._missing(needs):
            registers.gather(registers.rows[file], np.array(indexes), self.warps, self._new_rows(file, indexes))
        for file, indexes in self._missing(fresh):
            self._new_rows(file, indexes)
        self.dirty |= writes

    def _missing(self, codes: tuple[int, ...]) -> list[tuple[int, list[int]]]:
        """(file, registers) of the codes that are not held. They are, from now on."""
        by_kind: dict[int, list[int]] = {}
        for code in codes:
            if code not in self.held:
                by_kind.setdefault(code >> 8, []).append(code & 255)
        self.held.update(codes)
        return list(by_kind.items())

    def _new_rows(self, file: int, indexes: list[int]) -> np.ndarray:
        """Rows for these registers, (registers, n), that hold anything."""
        rows = np.empty((len(indexes), self.n), DTYPES[KINDS_OF_FILE[file][0]])
        for kind in KINDS_OF_FILE[file]:
            known = self.v[kind]
            for index, row in zip(indexes, rows.view(DTYPES[kind]), strict=True):
                known[index] = row
        return rows

    def flush(self) -> None:
        """Writes changed registers of the active lanes back to the chunk's rows and forgets all copies."""
        if self.direct:
            return
        self._write_back(self.masks)
        self.dirty.clear()
        self.held.clear()

    def _write_back(self, masks: np.ndarray) -> None:
        """Writes changed registers of the lanes of `masks` to the chunk's rows."""
        registers = self.chunk.file
        for code in self.dirty:
            file, index = code >> 8, code & 255
            registers.scatter(registers.rows[file], index, self.warps, masks, self.v[KINDS_OF_FILE[file][0]][index])

    def lane_ids(self) -> np.ndarray:
        """Lane number in the chunk of each element, int64 (n,)."""
        return (self.warps[:, None] * WARP + np.arange(WARP)).reshape(-1)

    def part(self, masks: np.ndarray) -> "Lanes":
        """A new set of some of the active lanes, without copies; flush this one first or use `split_off`."""
        rows = np.flatnonzero(masks)
        return Lanes(self.chunk, self.warps[rows], masks[rows], self.depth)

    def of_warp(self, row: int) -> "Lanes":
        """The lanes of one of the warps, for code that looks at a single lane: work on all of them would be wasted."""
        return Lanes(self.chunk, self.warps[row : row + 1], self.masks[row : row + 1], self.depth)

    def split_off(self, masks: np.ndarray) -> "Lanes":
        """The lanes of `masks` (a proper part of the active ones) leave into a set of their own; the others stay in
        this one.
        """
        if not self.direct:
            self._write_back(masks)
        other = self.part(masks)
        self._stay(self.masks & ~masks)
        return other

    def _stay(self, masks: np.ndarray) -> None:
        if self.direct:  # the others' state is in the chunk's rows: work on copies from now on
            rows = np.flatnonzero(masks)
            self.__init__(self.chunk, self.warps[rows], masks[rows], self.depth)
            return
        remaining = np.count_nonzero(masks)
        if remaining > len(masks) * 3 // 4:
            self._set_masks(masks)
            return
        # What the next block does not need would be copied in vain.
        self._write_back(masks)
        self.dirty.clear()
        self.held.clear()
        rows = np.flatnonzero(masks)
        self.warps = self.warps[rows]
        self.n = WARP * len(rows)
        self._set_masks(masks[rows])

    def drop(self, masks: np.ndarray) -> None:
        """The lanes of `masks` have exited: their registers are of no more use."""
        rest = self.masks & ~masks
        if self.direct and 2 * np.count_nonzero(rest) > len(rest):
            self._set_masks(rest)
        else:
            self._stay(rest)

    @contextmanager
    def only(self, active: np.ndarray):
        """For one operation, the lanes of `active` are the only active ones."""
        before = self.active, self.masks
        self.active, self.masks = active, pack_masks(active)
        yield
        self.active, self.masks = before

    def row(self, ref) -> np.ndarray:
        return self.v[ref.kind][ref.index]

    def of_active(self, rows: np.ndarray) -> np.ndarray:
        """Rows (..., n) that read as zeros where lanes are not active. What those hold is undefined in PTX, and here
        depends on the blocks that run together: no lane may see it."""
        return rows if self.active is None else np.where(self.active, rows, rows.dtype.type(0))

    def wide(self, ref) -> np.ndarray:
        """An operand as a row, also if it is a constant: Numba's ufuncs are several times faster on rows than on
        scalars.
        """
        row = self.v[ref.kind][ref.index]
        return row if row.ndim else self.chunk.wide_constant(ref, row)[: self.n]
