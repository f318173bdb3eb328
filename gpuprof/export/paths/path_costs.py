"""The cost of each instruction of each kernel, by stall reason, with the functions that it is in.

The cost is exact: warp-cycles of the ledger. A profile of a card has no ledger; its cost is samples.
"""

import sqlite3
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.correlate.frames import Position, list_code, positions
from gpuprof.errors import NotComparable

UNKNOWN = "[unknown]"  # as perf writes a frame without a name
WARP_CYCLES, SAMPLES = "warp_cycles", "samples"
QUERIES = {
    WARP_CYCLES: "SELECT kernel, pc, name, SUM(g.cycles) FROM ledger g JOIN launches USING (launch) "
    "JOIN stall_reasons USING (reason) GROUP BY kernel, pc, reason",
    SAMPLES: "SELECT kernel, pc, name, SUM(g.samples) FROM samples g JOIN launches USING (launch) "
    "JOIN stall_reasons USING (reason) GROUP BY kernel, pc, reason",
}


class Frame(NamedTuple):
    """A function on a call path. `line`: of the code in it that runs, or of the call; 0 unknown, and path "" too."""

    function: str
    path: str
    line: int

    @property
    def place(self) -> str:
        """ "saxpy.cu:4"; without a line as UNKNOWN."""
        return f"{base_name(self.path)}:{self.line}" if self.path and self.line else UNKNOWN


class Cost(NamedTuple):
    """The cost of an instruction over all launches of a kernel. `frames`: outermost first, the kernel's own first."""

    kernel: str
    pc: int
    frames: tuple[Frame, ...]
    by_reason: dict[str, int]  # none is 0

    @property
    def total(self) -> int:
        return sum(self.by_reason.values())


class Costs(NamedTuple):
    unit: str  # WARP_CYCLES or SAMPLES
    rows: list[Cost]  # by kernel and address


def unit_of(database: sqlite3.Connection) -> str:
    """SAMPLES for what was measured on a card."""
    return SAMPLES if database.execute("SELECT 1 FROM meta WHERE key = 'measured_by'").fetchone() else WARP_CYCLES


def read_costs(database: sqlite3.Connection) -> Costs:
    """Raises NotComparable where nothing has a cost."""
    unit = unit_of(database)
    functions = [function for (function,) in database.execute("SELECT function FROM functions")]
    list_code(database)
    places = positions(database, functions)
    found: dict[tuple[str, int], dict[str, int]] = {}
    for kernel, pc, reason, cost in database.execute(QUERIES[unit]):
        found.setdefault((kernel, pc), {})[reason] = cost
    if not found:
        what = "samples" if unit == SAMPLES else "a ledger of warp-cycles"
        raise NotComparable(f"nothing to export: no launch of the file has {what}; collect again")
    rows = [Cost(*key, frames_of(key[0], places.get(key[1], ())), by_reason) for key, by_reason in found.items()]
    return Costs(unit, sorted(rows, key=lambda row: (row.kernel, row.pc)))


def frames_of(kernel: str, places: tuple[Position, ...]) -> tuple[Frame, ...]:
    """`places`: an instruction's positions, innermost first. Code of a function that the kernel called has the kernel
    before it, at no line.
    """
    frames = tuple(Frame(*place) for place in reversed(places))
    return frames if frames and frames[0].function == kernel else (Frame(kernel, "", 0), *frames)
