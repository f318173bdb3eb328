"""Folded stacks, the input of flame graphs: a line for each stack, frames between semicolons, then a count.

    kernel;function;...;file:line;stall reason COUNT

The frames are the kernel, the function that it called (if the code is in one), the functions inlined there from the
outermost to the innermost, the line, and the stall reason. The count is the cost of `costs`, over all launches of the
kernel. The format has no page of its own; what readers take is in flamegraph.pl of github.com/brendangregg/FlameGraph.
"""

import sqlite3
from collections import Counter
from pathlib import Path

from gpuprof.export.paths.path_costs import UNKNOWN, Cost, read_costs
from gpuprof.isa.printing.printable import printable


def write(database: sqlite3.Connection, path: Path) -> None:
    """Lines in the order of their stacks, each stack once."""
    counts = Counter()
    for stack, cost in stacks(read_costs(database).rows).items():
        counts[";".join(map(frame, stack))] += cost
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{stack} {cost}\n" for stack, cost in sorted(counts.items()))


def stacks(rows: list[Cost]) -> Counter[tuple[str, ...]]:
    """Costs by the names of frames, outermost first: functions, line, stall reason."""
    found: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        names = (*(each.function for each in row.frames), row.frames[-1].place)
        for reason, cost in row.by_reason.items():
            found[*names, reason] += cost
    return found


def frame(name: str) -> str:
    """A name as a frame: a semicolon would part it (a colon stands for it, as in stackcollapse-perf.pl), a line feed
    would end the stack.
    """
    return printable(name).replace(";", ":").strip() or UNKNOWN
