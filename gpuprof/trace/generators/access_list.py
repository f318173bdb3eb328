"""The accesses of each memory instruction, warp by warp."""

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.kernel import ADDRESSING, Kernel

SECTOR_SHIFT = 5  # sectors of 32 bytes

ACCESSES = Table(
    "accesses",
    "accesses to memory, in the order they were executed",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("space", "text", "", "state space"),
        Column("operation", "text", "", "load, store, atomic or reduction"),
        Column("block", "integer", "", "linear index of the block in the grid"),
        Column("warp", "integer", "", "number of the warp in the block"),
        Column("lanes", "integer", "lanes", "lanes that take part"),
        Column("first_byte", "integer", "bytes", "lowest address"),
        Column("end_byte", "integer", "bytes", "highest address plus the bytes of an access"),
        Column("sectors", "integer", "sectors", "distinct aligned 32 bytes among the first bytes of the lanes"),
    ),
)


class Addresses(TraceGenerator):
    """Lists the accesses to memory by warp: lanes, extent and sectors of each. The list ends after `most` rows."""

    name = "addresses"
    kinds = ADDRESSING
    tables = (ACCESSES,)
    space = Option("global", "state space whose accesses are listed; all for every one")
    most = Option(100_000, "rows at most, in a launch")

    def initialize(self, kernel: Kernel) -> None:
        self.rows: list[tuple] = []

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if self.space in ("all", access.space):
                self._list(event, access)

    def _list(self, event: TraceEvent, access) -> None:
        blocks, warps = event.block.tolist(), event.warp.tolist()
        for row, active in enumerate(access.active):
            if len(self.rows) == self.most:
                return
            touched = access.addresses[row][active]
            if len(touched):
                extent = (int(touched.min()), int(touched.max()) + access.nbytes)
                sectors = len(set((touched >> SECTOR_SHIFT).tolist()))
                what = (event.pc, access.space, access.operation, blocks[row], warps[row])
                self.rows.append((*what, len(touched), *extent, sectors))

    def finish(self) -> None:
        self.add_rows("accesses", self.rows)
