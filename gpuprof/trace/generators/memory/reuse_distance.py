"""The distance between accesses to the same line or sector."""

from collections import Counter

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.memory.stack_distance import NEVER, StackDistances, tally
from gpuprof.trace.generators.memory.units import lines_of, of_access
from gpuprof.trace.kernel import ADDRESSING, Kernel

LINE, SECTOR = "line", "sector"
UNITS = {LINE: 7, SECTOR: 5}  # log2 of its bytes
UNIT = Column("unit", "text", "", "line of 128 bytes, or sector of 32")
DISTANCES = Table(
    "distances",
    "accesses by reuse distance",
    (
        UNIT,
        Column("distance", "integer", "units", "distinct ones that were accessed in between; -1: the first access"),
        Column("accesses", "integer", "accesses", "of warps to a unit, never 0"),
    ),
)
CURVE = Table(
    "curve",
    "hits of a fully associative LRU cache, by its size",
    (
        UNIT,
        Column("size", "integer", "bytes", "of the cache"),
        Column("accesses", "integer", "accesses", "of warps to a unit"),
        Column("hits", "integer", "accesses", "whose unit is still there"),
        Column("hit_rate", "real", "", "hits / accesses"),
    ),
)


FIRST_COUNTS = 1 << 10  # initial capacity, in distances


class Reuse(TraceGenerator):
    """Finds reuse distances of global memory in lines and sectors, and the hit rate that a cache of each size has.

    The order is that of the emulation; with `per=block` each block has a separate stream, as if it had its own cache.
    """

    name = "reuse"
    kinds = ADDRESSING
    tables = (DISTANCES, CURVE)
    space = Option("global", "state space: global, or local")
    per = Option("launch", "unit with a separate stream: launch or block")

    def initialize(self, kernel: Kernel) -> None:
        for name, value, known in (("space", self.space, ("global", "local")), ("per", self.per, ("launch", "block"))):
            if value not in known:
                raise UsageError(f"option {name} is {value!r}: expected {' or '.join(known)}")
        self.streams: dict[tuple[str, int], StackDistances] = {}
        self.counts = {name: np.zeros(FIRST_COUNTS, np.int64) for name in UNITS}  # in the form of `tally`

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == self.space:
                sectors = of_access(access, UNITS[SECTOR])
                self._take(LINE, *lines_of(*sectors, UNITS[LINE] - UNITS[SECTOR]), event.block)
                self._take(SECTOR, *sectors, event.block)

    def _take(self, name: str, units: np.ndarray, rows: np.ndarray, blocks: np.ndarray) -> None:
        if self.per == "launch":
            self._count(name, 0, units)
            return
        of_units = blocks[rows]
        for block in np.unique(of_units).tolist():
            self._count(name, block, units[of_units == block])

    def _count(self, name: str, stream: int, units: np.ndarray) -> None:
        if (name, stream) not in self.streams:
            self.streams[name, stream] = StackDistances()
        distances = self.streams[name, stream]
        measured, counts = distances.take(units), self.counts[name]
        if distances.n_units >= len(counts):  # a distance is below the number of units
            counts = self.counts[name] = np.concatenate((counts, np.zeros(2 * distances.n_units, np.int64)))
        tally(measured, counts)

    def finish(self) -> None:
        for name, shift in UNITS.items():
            counts = Counter(
                {int(index) - 1: int(self.counts[name][index]) for index in np.flatnonzero(self.counts[name])}
            )
            self.add_rows("distances", [(name, *row) for row in sorted(counts.items())])
            if counts:
                self.add_rows("curve", [(name, *row) for row in curve(counts, 1 << shift)])
        self.streams.clear()


def curve(counts: Counter[int], unit_nbytes: int) -> list[tuple[int, int, int, float]]:
    """(bytes of the cache, accesses, hits, rate) for one unit, two, four, ... up to a cache without evictions."""
    accesses, rows, units = counts.total(), [], 1
    distances = np.array(sorted(counts), np.int64)
    sums = np.cumsum([counts[distance] if distance != NEVER else 0 for distance in distances.tolist()])
    while True:
        below = int(np.searchsorted(distances, units))
        hits = int(sums[below - 1]) if below else 0
        rows.append((units * unit_nbytes, accesses, hits, hits / accesses))
        if units > distances[-1]:
            return rows
        units *= 2
