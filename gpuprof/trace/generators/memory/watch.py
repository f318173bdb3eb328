"""Watched addresses, with a callback."""

from typing import NamedTuple

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.kernel import ADDRESSING, Instruction, Kernel


class Touch(NamedTuple):
    """An access of one thread to the watched bytes. `block`: linear index in the grid; `thread`: in the block."""

    instruction: Instruction
    operation: str
    block: int
    thread: int
    address: int
    nbytes: int


TOUCHES = Table(
    "touches",
    "accesses to the watched bytes, in the order they were executed",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("operation", "text", "", "load, store, atomic or reduction"),
        Column("block", "integer", "", "linear index of the thread's block in the grid"),
        Column("thread", "integer", "", "linear index of the thread in its block"),
        Column("address", "integer", "", "first byte that it accesses"),
        Column("nbytes", "integer", "bytes", "that it accesses"),
    ),
)


class Watch(TraceGenerator):
    """Lists the accesses to watched bytes of global memory: of an allocation, or from an address on.

    A derived class may process each one: `touched` is called before the access.
    """

    name = "watch"
    kinds = ADDRESSING
    spaces = ("global",)
    tables = (TOUCHES,)
    allocation = Option("", "name of the allocation whose bytes are watched")
    address = Option(0, "first watched byte; with an allocation, from its start on")
    nbytes = Option(0, "watched bytes; 0: to the end of the allocation")
    most = Option(100_000, "rows at most, in a launch")

    def initialize(self, kernel: Kernel) -> None:
        self.ranges = list(self._ranges(kernel))
        self.rows: list[tuple] = []

    def _ranges(self, kernel: Kernel):
        if not self.allocation:
            if not self.address:
                raise UsageError("nothing to watch: give allocation=NAME, or address=NUMBER")
            inside = kernel.allocation_at(self.address)
            end = inside.address + inside.nbytes if inside else self.address + 1
            yield self.address, self.address + self.nbytes if self.nbytes else end
            return
        matching = [
            allocation
            for allocation in kernel.allocations
            if self.allocation in (allocation.name, plain(allocation.name))
        ]
        if not matching:
            known = ", ".join(sorted({plain(allocation.name) for allocation in kernel.allocations})) or "none"
            raise UsageError(f"no allocation is called {self.allocation!r}; there are {known}")
        for allocation in matching:
            start = allocation.address + self.address
            yield start, start + self.nbytes if self.nbytes else allocation.address + allocation.nbytes

    def touched(self, touch: Touch) -> None:
        """A thread is about to access watched bytes."""

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "global":
                self._take(event, access)

    def _take(self, event: TraceEvent, access: Access) -> None:
        addresses, hit = access.addresses, np.zeros(access.addresses.shape, bool)
        for start, end in self.ranges:
            hit |= (addresses < end) & (addresses + access.nbytes > start)
        hit &= access.active
        if not hit.any():
            return
        blocks, warps = event.block, event.warp
        for row, lane in zip(*(each.tolist() for each in np.nonzero(hit)), strict=True):
            where = int(blocks[row]), 32 * int(warps[row]) + lane, int(addresses[row, lane])
            touch = Touch(event.instruction, access.operation, *where, access.nbytes)
            self.touched(touch)
            if len(self.rows) < self.most:
                self.rows.append((event.pc, *touch[1:]))

    def finish(self) -> None:
        self.add_rows("touches", self.rows)


def plain(name: str) -> str:
    """The name of an allocation without the type that follows it: x of "x, f32[64]"."""
    return name.partition(", ")[0]
