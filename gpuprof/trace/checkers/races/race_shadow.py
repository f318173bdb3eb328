"""The state of racecheck for a launch: the ordering, the accesses of bytes, and the races."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.trace.checkers.races import conflict_rules, pairs, stamps, vector_clocks
from gpuprof.trace.checkers.races.access_rows import LEAST_ROWS, compact
from gpuprof.trace.checkers.races.block_races import Blocks
from gpuprof.trace.checkers.races.image_races import Left
from gpuprof.trace.checkers.races.memory_lines import GlobalLines, SharedLines
from gpuprof.trace.checkers.races.stamp_lines import CELL_LENGTH, N_USED, Pool, each_entry, new_pool
from gpuprof.trace.checkers.races.touched_lines import touched_runs
from gpuprof.trace.event import WARP, Access, TraceEvent
from gpuprof.trace.kernel import Instruction, Kernel

SPACES = ("global", "shared")
NUMBERS_OF_ROW = 64  # numbers of the pool for each row before the tables are compacted
# A compaction that has removed less than a tenth will hardly remove more soon: the next one waits for twice as many.
SPARSE, QUARTERS_AFTER_SOME, QUARTERS_AFTER_NONE = 10, 5, 8
NUMBERS_OF_LINE = CELL_LENGTH  # for a line that a warp touches completely
GROWTH_SHIFT = 4  # a pool grows by a sixteenth
DOES = {"load": conflict_rules.READ, "store": conflict_rules.WRITE}
OF_SURFACES = "c"
SLOTS = {"store": "b", "surface_store": OF_SURFACES}  # of the stored values
NO_WORDS = np.zeros((0, 1, 1), np.uint64)


class Site(NamedTuple):
    """The facts of an instruction's accesses that are known before they happen. `slot`: of the stored values, "" if
    they are not compared; the others are arguments of `stamps.touch`.
    """

    slot: str
    number: int
    how: int
    does: int
    n_rows: int
    n_numbers: int


class Shadow:
    """`n_accesses`: instructions of the kernel that access memory. `found`: by space, int64 (MOST_FOUND, N_FIELDS), of
    which `n_found` rows are used. `renumber`: renumbers moments that other objects hold (`Asynchronous.renumber`).
    """

    def __init__(self, kernel: Kernel, blocks: Blocks, n_accesses: int):
        self._kernel, self._blocks = kernel, blocks
        self._pool: Pool = new_pool(kernel.n_blocks * kernel.warps_per_block * n_accesses)
        self._global = GlobalLines(kernel.allocations[0].address if kernel.allocations else 0)
        self._shared = SharedLines(kernel, blocks)
        self._addresses, self._moments = np.zeros(WARP, np.int64), np.zeros(WARP, np.int64)  # of a warp's lanes
        self.found = {space: np.zeros((pairs.MOST_FOUND, pairs.N_FIELDS), np.int64) for space in SPACES}
        self.n_found = dict.fromkeys(SPACES, 0)
        self.renumber: Callable[[Callable[[np.ndarray], np.ndarray]], None] = lambda compacted: None
        # Rows, ways and moments after the last compaction; quarters of them that there may be before the next one.
        self._n_needed, self._quarters = 0, QUARTERS_AFTER_SOME
        self._memory, self._memory_base = np.zeros(0, np.uint8), 0
        writes_surfaces = any(instruction.kind == "surface_store" for instruction in kernel.instructions)
        self._left, self._to_surface = Left() if writes_surfaces else None, NO_WORDS
        self._sites: dict[tuple[int, str, int], Site] = {}  # by instruction, operation and bytes

    @property
    def nbytes(self) -> dict[str, int]:
        """Its memory, by purpose: stamps by line, tables of accesses, and the state of threads and blocks."""
        tables = self._blocks.order
        of_accesses = (tables.moments, tables.rows, tables.row_index, tables.ways, tables.way_index)
        return {
            "stamps": self._pool.numbers.nbytes + self._global.nbytes + self._shared.lines.nbytes,
            "accesses": sum(each.nbytes for each in of_accesses),
            "order": sum(each.nbytes for each in tables) - sum(each.nbytes for each in of_accesses),
        }

    def touch(self, event: TraceEvent, access: Access, slots: np.ndarray, how: int, compares: bool) -> None:
        """Lanes of an event access global or shared memory. `slots` int64 (n,), of their blocks. `compares`: a store of
        an unchanged value is not a race. `how`, `compares`: always the same for an instruction.
        """
        site = self._site(event.instruction, access, how, compares)
        values, held = self._stored(event, access, site.slot) if site.slot else (NO_WORDS, NO_WORDS)
        addresses, is_far = access.addresses, False
        if access.space == "global":
            stride, offset = 0, -self._global.base
            if site.does & conflict_rules.WRITE:
                self._memory_base, self._memory = event.global_memory
        else:
            stride, offset = self._shared.stride, 0
            is_far = self._shared.is_far(access)
            if is_far:
                addresses, stride = self._shared.far_lanes(access, event.block, slots), 0
            else:
                self._shared.cover(self._blocks.n_slots)
        given = conflict_rules.Stored(
            values, held, access.nbytes, event.block, event.warp, access.masks, addresses, slots, stride, offset
        )
        self._touch_lanes(access, site, given, is_far)

    def _site(self, instruction: Instruction, access: Access, how: int, compares: bool) -> Site:
        key = instruction.number, access.operation, access.nbytes
        site = self._sites.get(key)
        if site is None:
            slot = SLOTS.get(instruction.kind, "")
            # A formatted store to a surface converts values, which are then unknown.
            has_values = slot != "" and access.nbytes == instruction.nbytes
            how |= conflict_rules.HAS_VALUE if has_values else 0
            how |= conflict_rules.ASYNC if instruction.kind == "copy" and access.operation == "store" else 0
            site = self._sites[key] = Site(
                slot if has_values and compares else "",
                instruction.number,
                how,
                DOES.get(access.operation, conflict_rules.READ | conflict_rules.WRITE),
                stamps.rows_of_warp(access.nbytes),
                stamps.numbers_of_warp(access.nbytes),
            )
        return site

    def _stored(self, event: TraceEvent, access: Access, slot: str) -> tuple[np.ndarray, np.ndarray]:
        """uint64 (m, n, 32) each: the stored values, and the content of memory before."""
        if slot == OF_SURFACES:
            values, held = self._to_surface, self._left.words(event, access)
        else:
            values, held = _words(event, slot), event.memory_words(access)
        if len(values) and access.space == "global" and self._left:
            self._left.put(event, access, values)
        return values, held

    def _touch_lanes(self, access: Access, site: Site, given: conflict_rules.Stored, is_far: bool) -> None:
        """Makes room whenever there is none left for one more warp."""
        found, start, n, is_covered = self.found[access.space], 0, len(access.masks), False
        self._blocks.order.counts[vector_clocks.N_FOUND] = self.n_found[access.space]
        while True:
            start = stamps.touch(
                self._blocks.order,
                self._pool,
                self._place(access.space, is_far),
                found,
                given,
                access.addresses,
                self._addresses,
                self._moments,
                *site[1:],
                start,
            )
            if start == n:
                break
            if access.space == "global" and not is_covered:
                self._global.cover(access.addresses[start:][access.active[start:]])
                is_covered = True
            self._room_for(site.n_rows, site.n_numbers, (n - start) * access.nbytes * NUMBERS_OF_LINE)
        self.n_found[access.space] = int(self._blocks.order.counts[vector_clocks.N_FOUND])

    def note_stored(self, event: TraceEvent) -> None:
        """Lanes are about to store to a surface. The addresses are known only after the store, when the previous
        content is lost.
        """
        self._to_surface = _words(event, OF_SURFACES)

    def _place(self, space: str, is_far: bool) -> stamps.LineTable:
        if space == "global":
            return self._global.place()
        return self._shared.place_of_all() if is_far else self._shared.place()

    def touch_ranges(self, space: str, operation: str, addresses, nbytes, who, moment: int, at: int, how: int) -> None:
        """Ranges of an asynchronous operation, int64 (k,); `who`, int64 (k, 4): block, slot, warp, lane."""
        does, given = DOES.get(operation, conflict_rules.READ | conflict_rules.WRITE), _NOTHING_STORED
        if space == "global":
            of_range, addresses, nbytes = pages_of(addresses, nbytes)
            who, lines = who[of_range], addresses - self._global.base
            self._global.cover(addresses)
        else:
            all_ranges = np.ones(len(addresses), np.bool_)
            lines = self._shared.far(addresses, nbytes, all_ranges, who[:, 0], who[:, 1])
        self._blocks.order.counts[vector_clocks.N_FOUND] = self.n_found[space]
        for line, address, length, of in zip(
            lines.tolist(), addresses.tolist(), nbytes.tolist(), who.tolist(), strict=True
        ):
            if line < 0:
                continue
            # Not compacted: `moment` is a number.
            self._blocks.room_for_rows(stamps.rows_of_range(length))
            self._room_for_numbers(stamps.numbers_of_range(length))
            stamps.touch_range(
                self._blocks.order,
                self._pool,
                self._place(space, True),
                self.found[space],
                given,
                line,
                address,
                max(length, 1),
                *of,
                moment,
                at,
                how,
                does,
            )
        self.n_found[space] = int(self._blocks.order.counts[vector_clocks.N_FOUND])

    def forget(self, block: int, slot: int) -> None:
        """Drops the shared memory of a block that has ended."""
        self._shared.clear(self._pool, block, slot)

    def compact(self, moments: np.ndarray) -> np.ndarray:
        """Removes unused moments and rows; gives the new numbers of `moments`, int64 (k,)."""
        return compact(self._blocks.order, self._each_entry, moments)

    def touched(self) -> np.ndarray:
        """The memory that the launch has touched, as runs of `races.touched_lines`."""
        starts, first_lines = self._global.pages()
        return touched_runs(
            self._blocks.order, self._pool, self._global.lines, starts, first_lines, self._kernel.threads_per_block,
            self._memory, self._memory_base,
        )  # fmt: skip

    def _each_entry(self, has_row: np.ndarray, new_rows: np.ndarray) -> None:
        for memory in (self._global, self._shared):
            each_entry(self._pool, memory.lines, has_row, new_rows)

    def _room_for(self, n_rows: int, n_numbers: int, n_likely: int) -> None:
        """Makes room for the access of one more warp, and for `n_likely` numbers after it. Unused entries are removed
        first, if there are many.
        """
        self._room_for_numbers(n_numbers, n_likely)
        counts, tables, n_moments = self._blocks.order.counts, self._blocks.order, stamps.MOMENTS_OF_WARP
        lacks_moments = counts[vector_clocks.N_MOMENTS] + n_moments > len(tables.moments)
        lacks_rows = counts[vector_clocks.N_ROWS] + n_rows > len(tables.rows)
        lacks_ways = counts[vector_clocks.N_WAYS] + n_rows > len(tables.ways)
        least = len(self._pool.numbers) // NUMBERS_OF_ROW
        lacks_some = lacks_moments or lacks_rows or lacks_ways
        if lacks_some and 4 * self._n_used > self._quarters * self._n_needed + max(LEAST_ROWS, least):
            n_before = self._n_used
            self.renumber(self.compact)
            self._n_needed = self._n_used
            has_removed = SPARSE * (n_before - self._n_needed) > n_before
            self._quarters = QUARTERS_AFTER_SOME if has_removed else QUARTERS_AFTER_NONE
        self._blocks.room_for(n_moments)
        self._blocks.room_for_rows(n_rows)

    @property
    def _n_used(self) -> int:
        """Used rows, ways and moments."""
        counts = self._blocks.order.counts
        return int(counts[vector_clocks.N_ROWS] + counts[vector_clocks.N_WAYS] + counts[vector_clocks.N_MOMENTS])

    def _room_for_numbers(self, n: int, n_likely: int = 0) -> None:
        needed, numbers = int(self._pool.counts[N_USED]) + n, self._pool.numbers
        if needed > len(numbers):
            numbers.resize(max(needed + n_likely, len(numbers) + (len(numbers) >> GROWTH_SHIFT)), refcheck=False)


def pages_of(addresses: np.ndarray, nbytes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranges, int64 (k,) each, split at page boundaries, as only the lines of a page are adjacent: the index of the
    range that each part belongs to, its address, its bytes.
    """
    first, last = addresses >> stamps.PAGE_SHIFT, (addresses + np.maximum(nbytes, 1) - 1) >> stamps.PAGE_SHIFT
    of_range = np.repeat(np.arange(len(addresses)), last - first + 1)
    page = np.arange(len(of_range)) - np.searchsorted(of_range, of_range) + first[of_range]
    start = np.maximum(addresses[of_range], page << stamps.PAGE_SHIFT)
    end = np.minimum((addresses + nbytes)[of_range], (page + 1) << stamps.PAGE_SHIFT)
    return of_range, start, end - start


def _words(event: TraceEvent, slot: str) -> np.ndarray:
    """uint64 (m, n, 32): the values that each lane stores from the registers of a slot, in m words."""
    words = [value.bits.astype(np.uint64) for value in event.operands if value.slot == slot]
    return words[0][None] if len(words) == 1 else np.stack(words) if words else NO_WORDS


_NO_ROWS = np.zeros(0, np.int64)
_NOTHING_STORED = conflict_rules.Stored(
    NO_WORDS, NO_WORDS, 1, _NO_ROWS, _NO_ROWS, np.zeros(0, np.uint32), np.zeros((0, 32), np.int64), _NO_ROWS, 0, 0
)
