"""The trace of a launch, warp by warp: basic-block runs, memory accesses and the sectors they touch (see
docs/architecture.md).

A `TraceLog` takes events as they happen, each for many warps; `TraceLog.piece` sorts them by warp, in order.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE, join_sectors


class TracePiece(NamedTuple):
    """A segment of the trace of `n_blocks` blocks from `first_block` on. Warp w of block b is row (b - first_block) *
    warps_per_block + w.

    step_start, access_start, sector_start: int64 (n_warps + 1,), where each warp's rows begin in
    steps (STEP_DTYPE), accesses (ACCESS_DTYPE) and sectors (int64, address >> 5, ascending within one access; see
    formats.MISSING_SHIFT). `number` counts the segments of these blocks from 0; `final`, bool (n_warps,): the warp's
    trace ends here.
    """

    first_block: int
    n_blocks: int
    warps_per_block: int
    step_start: np.ndarray
    steps: np.ndarray
    access_start: np.ndarray
    accesses: np.ndarray
    sector_start: np.ndarray
    sectors: np.ndarray
    final: np.ndarray
    number: int = 0


REST = -2


class Order(NamedTuple):
    """An order for trace: the next piece of the chunk whose first block is `first_block`, or the first piece of a new
    chunk when that is -1. REST is the entire remainder: every chunk to its end, one after the other.

    warps: bool (n_warps,), the warps whose trace is requested, or None for all. `traced` False, with REST: the blocks
    run without a trace, so that no piece comes.
    """

    first_block: int = -1
    warps: np.ndarray | None = None
    traced: bool = True


class Column:
    """A growing array: `room(n)` gives the next n elements to write, `keep(n)` says that n of them were."""

    def __init__(self, dtype, capacity: int = 1 << 14):
        self.data = np.empty(capacity, dtype)
        self.length = 0

    def reserve(self, count: int) -> np.ndarray:
        need = self.length + count
        if need > len(self.data):
            grown = np.empty(max(need, 2 * len(self.data)), self.data.dtype)
            grown[: self.length] = self.data[: self.length]
            self.data = grown
        return self.data[self.length : need]

    def commit(self, count: int) -> None:
        self.length += count

    def append(self, values) -> None:
        count = len(values)
        self.reserve(count)[:] = values
        self.length += count

    def fill(self, value, count: int) -> None:
        self.reserve(count)[:] = value
        self.length += count

    @property
    def values(self) -> np.ndarray:
        return self.data[: self.length]


FIRST_CAPACITY = 1 << 14  # events
NO_SECTORS = np.empty(0, np.int64)


class TraceLog:
    """Events of one chunk of blocks since the last piece, in the order they happened. `warps` are numbers of the
    chunk's warps.

    No piece is asked of a log that is not wanted (`is_wanted`): events may be left out of it.
    """

    def __init__(self, n_warps: int, capacity: int = FIRST_CAPACITY, is_wanted: bool = True):
        self.n_warps = n_warps
        self.is_wanted = is_wanted
        self.step_warp = Column(np.uint32, capacity)
        self.step_block = Column(np.uint32, capacity)
        self.step_mask = Column(np.uint32, capacity)
        self.access_warp = Column(np.uint32, capacity)
        self.access = Column(np.uint64, capacity)
        self.sectors = Column(np.int64, capacity)

    @property
    def has_first_capacity(self) -> bool:
        """True if none of its arrays has grown."""
        columns = (self.step_warp, self.access, self.sectors)
        return max(len(column.data) for column in columns) <= FIRST_CAPACITY

    @property
    def nbytes(self) -> int:
        # A step is three 4-byte columns, an access 4 bytes of warp and 8 of record, a sector 8 bytes.
        return 12 * self.step_warp.length + 12 * self.access.length + 8 * self.sectors.length

    def begin(self, n_warps: int) -> None:
        """Empties the log, for `n_warps` warps. Allocated memory is reused."""
        self.n_warps = n_warps
        for column in (self.step_warp, self.step_block, self.step_mask, self.access_warp, self.access, self.sectors):
            column.length = 0

    def step(self, block: int, warps: np.ndarray, masks: np.ndarray) -> None:
        if self.is_wanted:
            self.step_warp.append(warps)
            self.step_mask.append(masks)
            self.step_block.fill(block, len(warps))

    def accesses(self, warps: np.ndarray, words, sectors: np.ndarray = NO_SECTORS) -> None:
        """An access of each of the warps: `words` of trace_entries.access_word, sectors int64, warp by warp."""
        self.access_warp.append(warps)
        self.access.append(words)
        self.sectors.append(sectors)

    def reserve(self, n_accesses: int, n_sectors: int) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for the words and sectors of accesses, to be written in place; `commit` says how much of them was
        used.
        """
        return self.access.reserve(n_accesses), self.sectors.reserve(n_sectors)

    def commit(self, warps: np.ndarray, n_accesses: int, n_sectors: int) -> None:
        """Adds the accesses of the warps, which are in the arrays that `reserve` gave."""
        self.access_warp.append(warps)
        self.access.commit(n_accesses)
        self.sectors.commit(n_sectors)

    def last(self, n_accesses: int) -> np.ndarray:
        """The records of the last accesses, ACCESS_DTYPE, to add to them."""
        values = self.access.values
        return values[len(values) - n_accesses :].view(ACCESS_DTYPE)

    @property
    def records(self) -> np.ndarray:
        """ACCESS_DTYPE: all records of the log."""
        return self.access.values.view(ACCESS_DTYPE)

    def extend(self, other: "TraceLog") -> None:
        """Adds the accesses of another log."""
        self.accesses(other.access_warp.values, other.access.values, other.sectors.values)

    def split(self, leaving: np.ndarray, staying: np.ndarray) -> "TraceLog":
        """Moves the accesses of the warps `leaving` to another log. A warp that is `staying`, too, keeps its accesses,
        and their copies in the other log have no lanes.
        """
        warps, records = self.access_warp.values.copy(), self.access.values.copy()
        goes, stays = np.isin(warps, leaving), np.isin(warps, staying)
        views = records.view(ACCESS_DTYPE)
        owner = np.repeat(np.arange(len(records)), join_sectors(views["n_sectors"], views["more_sectors"]))
        sectors = self.sectors.values.copy()
        other = TraceLog(self.n_warps, max(len(records), 1), self.is_wanted)
        words = np.where(stays, np.uint64(0), records)
        other.accesses(warps[goes], words[goes], sectors[(goes & ~stays)[owner]])
        self.access_warp.commit(-len(warps))
        self.access.commit(-len(records))
        self.sectors.commit(-len(sectors))
        self.accesses(warps[stays], records[stays], sectors[stays[owner]])
        return other

    def piece(
        self, first_block: int, n_blocks: int, warps_per_block: int, final: np.ndarray, number: int
    ) -> TracePiece:
        from gpuprof.emulate.trace_log import regroup  # brings Numba, which readers of traces start without

        step_start = regroup.starts(self.step_warp.values, self.n_warps)
        steps = np.empty(self.step_warp.length, STEP_DTYPE)
        regroup.place_steps(
            self.step_warp.values,
            self.step_block.values,
            self.step_mask.values,
            step_start[:-1].copy(),
            steps.view(np.uint32).reshape(-1, 2),
        )
        access_start = regroup.starts(self.access_warp.values, self.n_warps)
        records = self.access.values
        sector_start = regroup.sector_starts(self.access_warp.values, records, self.n_warps)
        accesses = np.empty(len(records), np.uint64)
        sectors = np.empty(self.sectors.length, np.int64)
        regroup.place_accesses(
            self.access_warp.values,
            records,
            self.sectors.values,
            access_start[:-1].copy(),
            sector_start[:-1].copy(),
            accesses,
            sectors,
        )
        return TracePiece(
            first_block,
            n_blocks,
            warps_per_block,
            step_start,
            steps,
            access_start,
            accesses.view(ACCESS_DTYPE),
            sector_start,
            sectors,
            final,
            number,
        )
