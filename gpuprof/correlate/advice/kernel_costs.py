"""Input and output of the rules: lines and instructions of a kernel, counted and charged over some of its launches, and
advice.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.correlate.counts import NO_COUNTS, BankPattern, Counters
from gpuprof.isa.stalls import INDEX

LINES_PER_RULE = 2
LINE_LEAST_COST = 0.01  # a line below this share of the kernel is not worth a sentence
# reasons for which warps wait while global or local memory is busy
MEMORY_REASONS = tuple(INDEX[name] for name in ("long_scoreboard", "lg_throttle", "drain"))
MEMORY_LEAST_SHARE = 0.05  # ours: of the kernel's cycles
WARP_LANES = 32  # of a chip whose description was cut off


class Waited(NamedTuple):
    """Warp-cycles of the stalls that an instruction ended."""

    cycles: int = 0
    conflict_cycles: int = 0  # of these, where its lanes took more passes or sectors than need be


class Instruction(NamedTuple):
    """`path` "" or `line` 0: the line is not known."""

    pc: int
    path: str
    line: int
    operation: str
    access_nbytes: int  # of a lane
    counters: Counters = NO_COUNTS
    cycles: int = 0  # warp-cycles, from the ledger
    waited: Waited = Waited()
    patterns: tuple[BankPattern, ...] = ()  # of an access to shared memory


class Line(NamedTuple):
    """The instructions of a source line, with their sums."""

    path: str
    number: int
    instructions: tuple[Instruction, ...]
    counters: Counters
    cycles: int
    waited: Waited

    @property
    def place(self) -> str:
        return f"{base_name(self.path)}:{self.number}"


class Advised(NamedTuple):
    """A rule's advice. `pc`: of the worst instruction, None for the whole kernel; `count`: how often it happened, in
    the rule's unit; `cost_cycles`: warp-cycles that it cost, None if unknown.
    """

    text: str
    pc: int | None
    count: int
    cost_cycles: int | None


class Shape(NamedTuple):
    """The shape of a launch."""

    launch: int
    blocks: int
    threads: int  # of a block
    cycles: int
    x_blocks: int = 1
    x_threads: int = 1  # of a block

    @property
    def all_threads(self) -> int:
        return self.blocks * self.threads


class Facts(NamedTuple):
    """Facts of a kernel. `reasons`: warp-cycles by stall reason. `has_causes`: the recording says what ended the
    stalls.
    """

    spill_nbytes: int
    warp_lanes: int
    shapes: tuple[Shape, ...]
    instructions: tuple[Instruction, ...]  # by address, of called functions too
    reasons: dict[int, int]
    has_causes: bool


class Measured:
    """A kernel over some launches: the input of a rule."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.cycles = sum(facts.reasons.values())

    @cached_property
    def counters(self) -> Counters:
        return _sum(Counters, (each.counters for each in self.facts.instructions))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        by_line: dict[tuple[str, int], list[Instruction]] = {}
        for each in self.facts.instructions:
            if each.path and each.line:
                by_line.setdefault((each.path, each.line), []).append(each)
        return tuple(line_of(path, number, some) for (path, number), some in by_line.items())

    def most(self, weight: Callable[[Line], float]) -> list[Line]:
        """The lines with a positive weight, largest first."""
        lines = [line for line in self.lines if weight(line) > 0]
        return sorted(lines, key=lambda line: (-weight(line), line.path, line.number))

    def worst(self, weight: Callable[[Line], float]) -> list[Line]:
        """The same, cheap lines left out."""
        return [line for line in self.most(weight) if line.cycles >= LINE_LEAST_COST * self.cycles][:LINES_PER_RULE]

    def costs_conflicts(self, line: Line) -> bool:
        """Warps wait for accesses of the line that take more passes or sectors than they need. If the recording has no
        causes of stalls, the line's own cost decides.
        """
        waited = line.waited.conflict_cycles if self.facts.has_causes else line.cycles
        return waited >= LINE_LEAST_COST * self.cycles

    def waits_for_memory(self) -> bool:
        """Sectors that need not move can cost time: other accesses wait for them."""
        waited = sum(self.facts.reasons.get(reason, 0) for reason in MEMORY_REASONS)
        return waited >= MEMORY_LEAST_SHARE * self.cycles

    def cost(self, waited_cycles: int) -> int | None:
        """Warp-cycles of stalls; None where the recording does not say what ended them."""
        return waited_cycles if self.facts.has_causes else None


def line_of(path: str, number: int, instructions: Sequence[Instruction]) -> Line:
    counters, waited = (
        _sum(Counters, (i.counters for i in instructions)),
        _sum(Waited, (i.waited for i in instructions)),
    )
    return Line(path, number, tuple(instructions), counters, sum(i.cycles for i in instructions), waited)


def _sum(kind: type, values: Iterator[tuple]):
    return kind(*map(sum, zip(kind(), *values, strict=True)))


# From a database.


def read_measured(database: sqlite3.Connection, function: int, launches: Sequence[int]) -> Measured:
    """The launches are of this kernel."""
    (spill_nbytes,) = database.execute("SELECT spill_nbytes FROM functions WHERE function = ?", (function,)).fetchone()
    cycles, reasons = _charged(database, launches)
    facts = Facts(
        spill_nbytes,
        _warp_lanes(database),
        tuple(_shapes(database, launches)),
        tuple(_instructions(database, launches, cycles)),
        reasons,
        bool(_rows(database, "SELECT 1 FROM launches_of CROSS JOIN causes USING (launch) LIMIT 1", launches)),
    )
    return Measured(facts)


# CROSS JOIN: the launches are read first. Their list is JSON, since SQLite takes only so many parameters.
_LAUNCHES_OF = "WITH launches_of(launch) AS (SELECT value FROM json_each(?)) "


def _rows(database: sqlite3.Connection, query: str, launches: Sequence[int]) -> list[tuple]:
    return database.execute(_LAUNCHES_OF + query, (json.dumps(launches),)).fetchall()


def _warp_lanes(database: sqlite3.Connection) -> int:
    chip = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    return (json.loads(chip[0] if chip else "null") or {}).get("warp_lanes", WARP_LANES)


def _shapes(database: sqlite3.Connection, launches: Sequence[int]) -> Iterator[Shape]:
    query = "SELECT launch, grid, block, cycles FROM launches_of CROSS JOIN launches USING (launch) ORDER BY launch"
    for launch, grid, block, cycles in _rows(database, query, launches):
        yield Shape(launch, _product(grid), _product(block), cycles, _along_x(grid), _along_x(block))


def _along_x(extent: str) -> int:
    return int(extent.partition(",")[0])


def _product(extent: str) -> int:
    x, y, z = map(int, extent.split(","))
    return x * y * z


def _charged(database: sqlite3.Connection, launches: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Warp-cycles by address, and by reason."""
    by_pc, by_reason = {}, {}
    query = "SELECT pc, reason, SUM(cycles) FROM launches_of CROSS JOIN ledger USING (launch) GROUP BY pc, reason"
    for pc, reason, cycles in _rows(database, query, launches):
        by_pc[pc] = by_pc.get(pc, 0) + cycles
        by_reason[reason] = by_reason.get(reason, 0) + cycles
    return by_pc, by_reason


def _instructions(database: sqlite3.Connection, launches: Sequence[int], cycles: dict[int, int]) -> Iterator:
    """The instructions that were counted, by address, without code outside every module."""
    sums = ", ".join(f"SUM({name})" for name in Counters._fields)
    waited, patterns = read_waited(database, launches), _patterns(database, launches)
    for pc, path, line, operation, nbytes, *counts in _rows(
        database,
        f"SELECT pc, COALESCE(path, ''), line, operation, access_nbytes, {sums} "
        "FROM launches_of CROSS JOIN counters USING (launch) JOIN instructions USING (pc) "
        "LEFT JOIN sources USING (source) GROUP BY pc ORDER BY pc",
        launches,
    ):
        spent, endings = cycles.get(pc, 0), waited.get(pc, Waited())
        yield Instruction(pc, path, line, operation, nbytes, Counters(*counts), spent, endings, patterns.get(pc, ()))


def read_waited(database: sqlite3.Connection, launches: Sequence[int]) -> dict[int, Waited]:
    """By the address of the cause. What issuing takes is no stall."""
    query = (
        "SELECT cause_pc, SUM(cycles), SUM(CASE WHEN conflict THEN cycles ELSE 0 END) "
        f"FROM launches_of CROSS JOIN causes USING (launch) WHERE reason != {INDEX['selected']} GROUP BY cause_pc"
    )
    return {pc: Waited(*cycles) for pc, *cycles in _rows(database, query, launches)}


def _patterns(database: sqlite3.Connection, launches: Sequence[int]) -> dict[int, tuple[BankPattern, ...]]:
    by_pc: dict[int, tuple[BankPattern, ...]] = {}
    for pc, mask, s0, s1, s2, n0, n1, n2, *rest in _rows(
        database,
        "SELECT pc, mask, stride_0, stride_1, stride_2, lanes_0, lanes_1, lanes_2, MIN(first), MAX(end), SUM(warps) "
        "FROM launches_of CROSS JOIN bank_patterns USING (launch) "
        "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8",
        launches,
    ):
        by_pc[pc] = (*by_pc.get(pc, ()), BankPattern(mask, (s0, s1, s2), (n0, n1, n2), *rest))
    return by_pc
