"""Bytes by allocation and line."""

import numpy as np

from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Instruction, Kernel
from gpuprof.trace.tables import Column, Table

SECTOR_SHIFT = 5
NAME = Column("allocation", "text", "", "name of what holds the addresses; empty: nothing does")
LINES = Table(
    "lines",
    "accesses to global memory by allocation and source line",
    (
        NAME,
        Column("file", "text", "", "of the source; empty: unknown"),
        Column("line", "integer", "", "of the source; 0: unknown"),
        Column("operation", "text", "", "load, store, atomic or reduction"),
        Column("accesses", "integer", "accesses", "by threads"),
        Column("nbytes", "integer", "bytes", "that threads ask for"),
    ),
)
ALLOCATIONS = Table(
    "allocations",
    "allocations that the launch accesses",
    (
        NAME,
        Column("address", "integer", "", "of its first byte"),
        Column("nbytes", "integer", "bytes", "of the allocation"),
        Column("read", "integer", "bytes", "that threads ask for, atomic operations among them"),
        Column("written", "integer", "bytes", "that threads store, atomic operations among them"),
        Column("touched", "integer", "bytes", "of sectors of 32 bytes that are accessed at least once"),
    ),
)
READS, WRITES = ("load", "atomic", "reduction"), ("store", "atomic", "reduction")


class Traffic(TraceGenerator):
    """Counts bytes of global memory by allocation and source line, and how much of an allocation is touched at all."""

    name = "traffic"
    kinds = ("load", "store", "atomic", "reduction", "copy")
    spaces = ("global",)
    tables = (LINES, ALLOCATIONS)

    def initialize(self, kernel: Kernel) -> None:
        self.allocations = kernel.allocations
        self.starts = np.array([allocation.address for allocation in self.allocations], np.int64)
        self.ends = np.array([allocation.address + allocation.nbytes for allocation in self.allocations], np.int64)
        self.lines: dict[tuple[int, str, int, str], list[int]] = {}
        self.nbytes = np.zeros((len(self.allocations), 2), np.int64)  # read, written
        self.touched: dict[int, np.ndarray] = {}  # bool, by sector of the allocation

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "global":
                self._take(event.instruction, access, access.addresses[access.active])

    def _take(self, instruction: Instruction, access: Access, addresses: np.ndarray) -> None:
        if not len(addresses):
            return
        number = self._allocation_of(int(addresses.min()))
        if number == self._allocation_of(int(addresses.max())):  # mostly all are in one
            self._count(instruction, access, number, addresses)
            return
        numbers = np.searchsorted(self.starts, addresses, side="right") - 1
        numbers[(numbers >= 0) & (addresses >= self.ends[numbers])] = -1
        for number in np.unique(numbers).tolist():
            self._count(instruction, access, number, addresses[numbers == number])

    def _allocation_of(self, address: int) -> int:
        """Its number; -1 for none."""
        number = int(np.searchsorted(self.starts, address, side="right")) - 1
        return number if number >= 0 and address < self.ends[number] else -1

    def _count(self, instruction: Instruction, access: Access, number: int, addresses: np.ndarray) -> None:
        key = (number, instruction.file, instruction.line, access.operation)
        counts = self.lines.setdefault(key, [0, 0])
        nbytes = len(addresses) * access.nbytes
        counts[0] += len(addresses)
        counts[1] += nbytes
        if number < 0:
            return
        self.nbytes[number] += nbytes * (access.operation in READS), nbytes * (access.operation in WRITES)
        sectors = addresses - self.starts[number] >> SECTOR_SHIFT
        if number not in self.touched:
            size = int(self.ends[number] - self.starts[number])
            self.touched[number] = np.zeros((size - 1 >> SECTOR_SHIFT) + 1, bool)
        self.touched[number][sectors] = True

    def finish(self) -> None:
        def name(number: int) -> str:
            return self.allocations[number].name if number >= 0 else ""

        rows = [(name(number), *where, *counts) for (number, *where), counts in sorted(self.lines.items())]
        self.add_rows("lines", rows)
        for number, sectors in sorted(self.touched.items()):
            allocation = self.allocations[number]
            touched = min(int(np.count_nonzero(sectors)) << SECTOR_SHIFT, allocation.nbytes)
            self.add_row(
                "allocations", allocation.name, allocation.address, allocation.nbytes, *self.nbytes[number], touched
            )
