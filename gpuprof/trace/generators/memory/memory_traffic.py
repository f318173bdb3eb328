"""Bytes by allocation and line. The counting is compiled by Numba, when it is first needed."""

import numpy as np

from gpuprof.jit.cached import cached_njit
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import ADDRESSING, Instruction, Kernel

NAME = Column("allocation", "text", "", "name of the allocation with the addresses; empty: none")
LINES = Table(
    "lines",
    "accesses to global memory by allocation and source line",
    (
        NAME,
        Column("file", "text", "", "of the source; empty: unknown"),
        Column("line", "integer", "", "of the source; 0: unknown"),
        Column("operation", "text", "", "load, store, atomic or reduction"),
        Column("accesses", "integer", "accesses", "by threads"),
        Column("nbytes", "integer", "bytes", "requested by threads"),
    ),
)
ALLOCATIONS = Table(
    "allocations",
    "allocations that the launch accesses",
    (
        NAME,
        Column("address", "integer", "", "of its first byte"),
        Column("nbytes", "integer", "bytes", "of the allocation"),
        Column("read", "integer", "bytes", "requested by threads, including atomic operations"),
        Column("written", "integer", "bytes", "stored by threads, including atomic operations"),
        Column("touched", "integer", "bytes", "of sectors of 32 bytes that are accessed at least once"),
    ),
)
READS, WRITES = ("load", "atomic", "reduction"), ("store", "atomic", "reduction")


class Traffic(TraceGenerator):
    """Counts bytes of global memory by allocation and source line, and how much of an allocation is touched at all."""

    name = "traffic"
    kinds = ADDRESSING
    spaces = ("global",)
    tables = (LINES, ALLOCATIONS)

    def initialize(self, kernel: Kernel) -> None:
        self.allocations = sorted(kernel.allocations, key=lambda each: each.address)
        sizes = np.array([allocation.nbytes for allocation in self.allocations], np.int64)
        self.starts = np.array([allocation.address for allocation in self.allocations], np.int64)
        self.ends = self.starts + sizes
        sectors = np.cumsum(sizes + (1 << SECTOR_SHIFT) - 1 >> SECTOR_SHIFT)
        self.sectors = np.concatenate(([0], sectors)).astype(np.int64)  # the first of each allocation in `touched`
        self.touched = np.zeros(int(self.sectors[-1]), np.bool_)
        # accesses by allocation, those outside of all last
        self.counts: dict[tuple[str, int, str, int], np.ndarray] = {}

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "global":
                counts = self._counts(event.instruction, access)
                touch(access.addresses, access.masks, self.starts, self.ends, self.sectors, self.touched, counts)

    def _counts(self, instruction: Instruction, access: Access) -> np.ndarray:
        key = (instruction.file, instruction.line, access.operation, access.nbytes)
        if key not in self.counts:
            self.counts[key] = np.zeros(len(self.starts) + 1, np.int64)
        return self.counts[key]

    def finish(self) -> None:
        self.add_rows("lines", self._lines())
        nbytes = np.zeros((len(self.allocations), 2), np.int64)  # read, written
        for (_, _, operation, width), counts in self.counts.items():
            nbytes += np.outer(counts[:-1] * width, (operation in READS, operation in WRITES))
        for number, allocation in enumerate(self.allocations):
            if any(counts[number] for counts in self.counts.values()):
                n_sectors = np.count_nonzero(self.touched[self.sectors[number] : self.sectors[number + 1]])
                touched = min(int(n_sectors) << SECTOR_SHIFT, allocation.nbytes)
                self.add_row(
                    "allocations", allocation.name, allocation.address, allocation.nbytes, *nbytes[number], touched
                )
        del self.touched

    def _lines(self) -> list[tuple]:
        """Rows of `lines`: accesses outside of all allocations first, then by address."""
        sums: dict[tuple[int, str, int, str], np.ndarray] = {}
        for (file, line, operation, width), counts in self.counts.items():
            for allocation_index in np.flatnonzero(counts).tolist():
                number = allocation_index if allocation_index < len(self.allocations) else -1
                key = (number, file, line, operation)
                sums[key] = sums.get(key, 0) + np.array([counts[allocation_index], counts[allocation_index] * width])
        return [
            (self.allocations[number].name if number >= 0 else "", *where, *both.tolist())
            for (number, *where), both in sorted(sums.items(), key=lambda item: item[0])
        ]


SECTOR_SHIFT = 5


@cached_njit
def touch(addresses, masks, starts, ends, first_sectors, touched, counts):
    """Counts accesses by allocation, those outside of all last, and notes the sectors where they begin. addresses:
    int64 (n, 32); masks: uint32 (n,); starts, ends: of the allocations, ascending; first_sectors: the index of each
    one's first sector in `touched`; counts: int64 (allocations + 1,).
    """
    at = 0  # an address is mostly in the allocation of the previous one
    for row in range(len(masks)):
        for lane in range(32):
            if not masks[row] >> np.uint32(lane) & np.uint32(1):
                continue
            address = addresses[row, lane]
            if not (at < len(starts) and starts[at] <= address < ends[at]):
                at = np.searchsorted(starts, address, side="right") - 1
                if at < 0 or address >= ends[at]:
                    at = len(starts)
            counts[at] += 1
            if at < len(starts):
                touched[first_sectors[at] + (address - starts[at] >> SECTOR_SHIFT)] = True
