"""Folded stacks, the input of flame graphs: a line for each stack, frames between semicolons, then a count.

    kernel;function;...;file:line;stall reason COUNT

The frames are the kernel, the function that it called (if the code is in one), the functions inlined there from the
outermost to the innermost, the line, and the stall reason. The count is exact: the warp-cycles that the ledger charges
to that line for that reason, over all launches of the kernel. The format has no page of its own; what readers take is
in flamegraph.pl of github.com/brendangregg/FlameGraph.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gpuprof.base.wording import base_name
from gpuprof.correlate.frames import Position, list_code, positions
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable

UNKNOWN = "[unknown]"  # as perf writes a frame without a name


def write(database: sqlite3.Connection, path: Path) -> None:
    """Lines in the order of their stacks, each stack once."""
    counts = stacks(database)
    if not counts:
        raise NotComparable("nothing to export: no launch of the file has a ledger of warp-cycles; collect again")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{stack} {cycles}\n" for stack, cycles in sorted(counts.items()))


def stacks(database: sqlite3.Connection) -> Counter[str]:
    """Warp-cycles by stack."""
    functions = [function for (function,) in database.execute("SELECT function FROM functions")]
    list_code(database)
    places = positions(database, functions)
    counts: Counter[str] = Counter()
    for kernel, pc, reason, cycles in database.execute(
        "SELECT kernel, pc, name, SUM(g.cycles) FROM ledger g JOIN launches USING (launch) "
        "JOIN stall_reasons USING (reason) GROUP BY kernel, pc, reason"
    ):
        counts[";".join(map(frame, [kernel, *code_frames(kernel, places.get(pc, ())), reason]))] += cycles
    return counts


def code_frames(kernel: str, places: tuple[Position, ...]) -> Iterator[str]:
    """The frames between the kernel's and the reason's. `places`: an instruction's positions, innermost first."""
    functions = [place.function for place in reversed(places)]
    yield from functions[1:] if functions[:1] == [kernel] else functions
    line = places[0] if places else Position("", "", 0)
    yield f"{base_name(line.path)}:{line.line}" if line.path and line.line else UNKNOWN


def frame(name: str) -> str:
    """A name as a frame: a semicolon would part it (a colon stands for it, as in stackcollapse-perf.pl), a line feed
    would end the stack.
    """
    return printable(name).replace(";", ":").strip() or UNKNOWN
