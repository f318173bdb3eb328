"""Callgrind's format (valgrind.org/docs/manual/cl-format.html): costs by line, and inclusive ones of calls.

    callgrind_annotate FILE, KCachegrind, QCachegrind

Inlined functions are calls here, once each; of a function that the kernel calls, the line of the call is not known: 0.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.export.paths.path_costs import UNKNOWN, Cost, Costs, read_costs
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES


class Function(NamedTuple):
    path: str
    name: str


class Call(NamedTuple):
    line: int
    callee: Function
    callee_line: int


def write(database: sqlite3.Connection, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines(read_costs(database)))


def lines(costs: Costs) -> Iterator[str]:
    reasons = [name for name in NAMES if any(name in row.by_reason for row in costs.rows)]
    totals = values(sum_of(costs.rows), reasons)
    yield from ("# callgrind format", "version: 1", "creator: gpuprof", "positions: line")
    yield f"events: {' '.join((costs.unit, *(f'{costs.unit}_{reason}' for reason in reasons)))}"
    yield f"summary: {totals}"
    file, name = Names(), Names()
    own: dict[Function, dict[int, Counter[str]]] = {}
    calls: dict[Function, dict[Call, Counter[str]]] = {}
    for row in costs.rows:
        functions = [Function(each.path or UNKNOWN, each.function) for each in row.frames]
        of_leaf = own.setdefault(functions[-1], {})
        of_leaf.setdefault(row.frames[-1].line, Counter()).update(row.by_reason)
        for place, caller in enumerate(functions[:-1]):
            call = Call(row.frames[place].line, functions[place + 1], row.frames[place + 1].line)
            calls.setdefault(caller, {}).setdefault(call, Counter()).update(row.by_reason)
    for function in sorted(own.keys() | calls.keys()):
        yield from ("", f"fl={file(function.path)}", f"fn={name(function.name)}")
        for line, cost in sorted(own.get(function, {}).items()):
            yield f"{line} {values(cost, reasons)}"
        for call, cost in sorted(calls.get(function, {}).items()):
            yield from (f"cfi={file(call.callee.path)}", f"cfn={name(call.callee.name)}")
            yield from (f"calls=1 {call.callee_line}", f"{call.line} {values(cost, reasons)}")
    yield from ("", f"totals: {totals}")


def sum_of(rows: list[Cost]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found.update(row.by_reason)
    return found


def values(cost: Counter[str], reasons: list[str]) -> str:
    return " ".join(map(str, (sum(cost.values()), *(cost[reason] for reason in reasons))))


class Names:
    """Names with a number before them; a repeated name is written as its number, so no name looks like a number."""

    def __init__(self):
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        if text in self._numbers:
            return f"({self._numbers[text]})"
        self._numbers[text] = len(self._numbers) + 1
        return f"({self._numbers[text]}) {printable(text).strip() or UNKNOWN}"
