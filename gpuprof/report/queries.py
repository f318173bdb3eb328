"""The database's rows as a `Report`."""

import json
import re
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.correlate.advice.advice_rules import NOBODY, advise
from gpuprof.correlate.api_calls import launch_places
from gpuprof.correlate.counts import BankPattern, Counters
from gpuprof.correlate.findings import Found, read_findings, worst_first
from gpuprof.correlate.frames import IN_FUNCTIONS, Position, list_code, positions
from gpuprof.correlate.metrics import read_repetitions
from gpuprof.correlate.trace_tables import read_traces
from gpuprof.correlate.works import read_works
from gpuprof.errors import UsageError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.report.header_queries import chip_facts, read_header
from gpuprof.report.model import (
    AtomicLine,
    Blame,
    Cost,
    Ending,
    Instruction,
    Kernel,
    Launch,
    MeasuredAdvice,
    MeasuredChange,
    Report,
    Stalls,
)
from gpuprof.report.tasks.draw_tasks import Shaders


def read_report(
    database: sqlite3.Connection,
    kernel: str | None = None,
    launch: int | None = None,
    shaders: Shaders | None = None,
    *,
    traces: bool = False,
    launches: Collection[int] | None = None,
) -> Report:
    """Everything a page shows, for the kernels whose name or symbol the regular expression `kernel` finds, and the one
    launch, or those of shaders, or these `launches`. `traces`: with the tables of trace generators, which may be long.

    Raises UsageError for a pattern that is none, that finds nothing, or a launch there is not.
    """
    meta = dict(database.execute("SELECT key, value FROM meta"))
    list_wanted(database, launch, shaders, launches)
    chosen = choose_functions(database, kernel, launch, shaders)
    list_launches(database)
    list_code(database)
    sources = dict(database.execute("SELECT path, text FROM sources"))
    modules = {module: (name, ptx) for module, name, ptx in database.execute("SELECT module, name, ptx FROM modules")}
    codes = read_codes(database)
    works = read_works(database)
    kernels = [
        replace(read_kernel(database, function, meta, sources, modules, codes), works=works.get(function, ()))
        for function in chosen
    ]
    kernels.sort(key=lambda k: (-k.cycles, -sum(k.cost.reasons), k.name, k.symbol))
    not_issued = database.execute(
        "SELECT EXISTS (SELECT 1 FROM samples WHERE samples_not_issued IS NOT NULL)"
    ).fetchone()[0]
    shown = {member.launch for kernel in kernels for member in kernel.launches}
    all_findings = findings_of(database, shown, is_whole=launch is None and shaders is None and launches is None)
    kernels = [replace(kernel, advice=advice_of(kernel, all_findings)) for kernel in kernels]
    return Report(
        read_header(database, meta, tuple(kernels)),
        chip_facts(meta),
        tuple(kernels),
        bool(not_issued),
        findings=all_findings,
        watchers=watchers_of(database, shown),
        traces=read_traces(database, shown) if traces else (),
        n_draws=database.execute("SELECT COUNT(*) FROM draws").fetchone()[0],
    )


def findings_of(database: sqlite3.Connection, launches: set[int], is_whole: bool) -> tuple[Found, ...]:
    """Advice in the database is about all launches of a kernel: for a part of them it is computed again."""
    stored = read_findings(database, launches)
    if is_whole:
        return stored
    return worst_first((*(finding for finding in stored if finding.generator != NOBODY), *advise(database, launches)))


def watchers_of(database: sqlite3.Connection, launches: set[int]) -> tuple[str, ...]:
    rows = database.execute("SELECT launch, generator FROM trace_launches")
    return tuple(sorted({generator for launch, generator in rows if launch in launches}))


def advice_of(kernel: Kernel, all_findings: tuple[Found, ...]) -> tuple[Found, ...]:
    launches = {launch.launch for launch in kernel.launches}
    return tuple(finding for finding in all_findings if finding.generator == NOBODY and finding.launch in launches)


def list_wanted(
    database: sqlite3.Connection,
    launch: int | None,
    shaders: Shaders | None,
    launches: Collection[int] | None = None,
) -> None:
    """Lists the requested launches in a temporary table: the file is not written to."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("DROP TABLE IF EXISTS temp.launches_wanted")
    database.execute("CREATE TEMP TABLE launches_wanted (launch INTEGER PRIMARY KEY)")
    if launch is not None and launch > MAX_COUNT:  # SQLite has no such integer
        return
    if launches is not None:
        database.executemany("INSERT INTO temp.launches_wanted VALUES (?)", [(number,) for number in launches])
        return
    if shaders is None:
        database.execute(
            "INSERT INTO temp.launches_wanted SELECT launch FROM launches WHERE ?1 IS NULL OR launch = ?1", (launch,)
        )
        return
    wanted = [(number,) for number in shaders.among(database) if launch in (None, number)]
    database.executemany("INSERT INTO temp.launches_wanted VALUES (?)", wanted)


def choose_functions(
    database: sqlite3.Connection, pattern: str | None, launch: int | None, shaders: Shaders | None
) -> list[int]:
    """Function numbers of the requested kernels that were launched."""
    launched = launched_functions(database)
    if shaders is not None and not launched:
        first, last, n = database.execute("SELECT MIN(draw), MAX(draw), COUNT(*) FROM draw_launches").fetchone()
        available = f"it has draws {first} to {last}" if n else "it has no draws"
        raise UsageError(f"{shaders.text}: there is no such shader's launch in the file; {available}")
    if launch is not None and not launched:
        first, last, n = database.execute("SELECT MIN(launch), MAX(launch), COUNT(*) FROM launches").fetchone()
        available = f"it has launches {first} to {last}" if n else "it has none"
        raise UsageError(f"--launch {launch}: there is no such launch in the file; {available}")
    if pattern is None:
        return [function for function, _, _ in launched]
    try:
        finds = re.compile(pattern).search
    except re.error as error:
        raise UsageError(f"--kernel {pattern!r} is not a regular expression: {error}") from None
    chosen = [function for function, display, name in launched if finds(display) or finds(name)]
    if not chosen:
        names = sorted({display for _, display, _ in launched})
        near = f"{suggestion(pattern, names)} " if suggestion(pattern, names) else ""
        raise UsageError(f"--kernel {pattern!r} finds no kernel; {near}the file has: {', '.join(names) or 'none'}")
    return chosen


def launched_functions(database: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """Number, name in the source and symbol."""
    return database.execute(
        "SELECT DISTINCT f.function, f.display, f.name FROM temp.launches_wanted JOIN launches USING (launch) "
        "JOIN functions f USING (function) ORDER BY f.function"
    ).fetchall()


def list_launches(database: sqlite3.Connection) -> None:
    """Lists the requested launches by their kernels. Without the list each of thousands of kernels would look through
    the rows of all.
    """
    database.execute("DROP TABLE IF EXISTS temp.launches_of")
    database.execute(
        "CREATE TEMP TABLE launches_of (function INTEGER, launch INTEGER, PRIMARY KEY (function, launch)) WITHOUT ROWID"
    )
    database.execute(
        "INSERT INTO temp.launches_of SELECT function, launch FROM temp.launches_wanted JOIN launches USING (launch)"
    )


def of_kernel(table: str, join: str = "") -> str:
    """Rows of a table that belong to the launches of one kernel, and what they are joined with. CROSS JOIN: the list
    of launches is read first.
    """
    return f"FROM temp.launches_of w CROSS JOIN {table} USING (launch) {join} WHERE w.function = :function"


class Code(NamedTuple):
    """The addresses of a function's instructions."""

    first_pc: int
    end_pc: int
    function: int


def read_codes(database: sqlite3.Connection) -> list[Code]:
    """The address ranges of all functions, in ascending order."""
    query = "SELECT first_pc, first_pc + 16 * n_instructions, function FROM functions ORDER BY 1, 2, 3"
    return [Code(*row) for row in database.execute(query)]


def read_kernel(
    database: sqlite3.Connection,
    function: int,
    meta: dict[str, str],
    sources: dict[str, str | None],
    modules: dict[int, tuple[str, str]],
    codes: list[Code],
) -> Kernel:
    """Arguments that are the same for all kernels are read once: they can be long, and kernels many. `modules`: name
    and PTX.
    """
    key = {"function": function}
    display, symbol, number, registers, shared_nbytes, local_nbytes, spill_nbytes = database.execute(
        "SELECT display, name, module, registers, shared_nbytes, local_nbytes, spill_nbytes FROM functions "
        "WHERE function = ?",
        (function,),
    ).fetchone()
    module, ptx = modules[number]
    instructions, blames = tuple(read_instructions(database, key, codes)), tuple(read_blames(database, key))
    others = read_places(
        database, {blame.cause_pc for blame in blames} - {instruction.pc for instruction in instructions}
    )
    return Kernel(
        display,
        symbol,
        module,
        registers,
        shared_nbytes,
        local_nbytes,
        spill_nbytes,
        tuple(read_launches(database, key, meta)),
        instructions,
        ptx,
        sources,
        blames,
        others,
        atomic_lines=tuple(read_atomic_lines(database, key)),
        function=function,
        measured=tuple(read_measured_advice(database, key)),
        changes=tuple(read_measured_changes(database, key)),
    )


def read_measured_advice(database: sqlite3.Connection, key: dict) -> Iterator[MeasuredAdvice]:
    columns = ", ".join(MeasuredAdvice._fields)
    query = f"SELECT {columns} {of_kernel('advice')} ORDER BY launch, rank"
    return (MeasuredAdvice(*row) for row in database.execute(query, key))


def read_measured_changes(database: sqlite3.Connection, key: dict) -> Iterator[MeasuredChange]:
    columns = ", ".join(MeasuredChange._fields)
    for *row, moved_to in database.execute(f"SELECT {columns} {of_kernel('whatif')} ORDER BY launch, row", key):
        yield MeasuredChange(*row, tuple((reason, share) for reason, share in json.loads(moved_to)))


def read_atomic_lines(database: sqlite3.Connection, key: dict) -> Iterator[AtomicLine]:
    query = f"SELECT address, SUM(cycles) {of_kernel('atomic_lines')} GROUP BY address ORDER BY 2 DESC, 1"
    return (AtomicLine(*row) for row in database.execute(query, key))


def read_blames(database: sqlite3.Connection, key: dict) -> Iterator[Blame]:
    for pc, reason, cause_pc, kind, label, other_warp, other_launch, conflict, *counts in database.execute(
        "SELECT pc, reason, cause_pc, k.name, k.label, other_warp, other_launch, conflict, SUM(causes.cycles), "
        "SUM(stalls) "
        f"{of_kernel('causes', 'JOIN cause_kinds k USING (kind)')} "
        "GROUP BY pc, reason, cause_pc, kind, other_warp, other_launch, conflict ORDER BY 1, 2, 3, 4, 6, 7, 8",
        key,
    ):
        yield Blame(
            pc, reason, cause_pc, Ending(kind, label, bool(other_warp), bool(other_launch), bool(conflict)), *counts
        )


def read_places(database: sqlite3.Connection, pcs: set[int]) -> dict[int, Position]:
    """Innermost positions of instructions, by address; those outside every module are left out."""
    places = {}
    for pc in sorted(pcs):
        row = database.execute(
            "SELECT f.display, COALESCE(s.path, ''), i.line FROM instructions i JOIN functions f USING (function) "
            "LEFT JOIN sources s USING (source) WHERE i.pc = ?",
            (pc,),
        ).fetchone()
        if row:
            places[pc] = Position(*row)
    return places


def read_launches(database: sqlite3.Connection, key: dict, meta: dict[str, str]) -> Iterator[Launch]:
    registers: dict[int, dict] = {}
    for number, name, value in database.execute(
        f"SELECT launch, register, value {of_kernel('samplers')} ORDER BY launch, register", key
    ):
        if str(value) != meta.get(name, ""):
            registers.setdefault(number, {})[name] = value
    metrics: dict[int, dict] = {}
    for number, metric, value in database.execute(f"SELECT launch, metric, value {of_kernel('launch_metrics')}", key):
        metrics.setdefault(number, {})[metric] = value
    sizes = {
        number: size
        for number, *size in database.execute(
            "SELECT launch, SUM(s.weight), z.effective "
            f"{of_kernel('sample_sizes z', 'CROSS JOIN samples s USING (launch)')} GROUP BY launch",
            key,
        )
    }
    operations: dict[int, dict] = {}
    for number, precision, n in database.execute(
        f"SELECT launch, precision, SUM(operations) {of_kernel('operations')} GROUP BY launch, precision", key
    ):
        if n:
            operations.setdefault(number, {})[precision] = n
    places, repetitions = launch_places(database), read_repetitions(database)
    for row in database.execute(
        "SELECT launch, kernel, grid, block, dynamic_shared_nbytes, stream, task, start_cycle, end_cycle, cycles, "
        f"samples_due, samples_kept, samples_dropped, buffer_full, complete {of_kernel('launches l')} ORDER BY launch",
        key,
    ):
        number, name, grid, block, *numbers, buffer_full, complete = row
        weight, effective = sizes.get(number, (None, None))
        yield Launch(
            number, name, dimensions(grid), dimensions(block), *numbers,
            buffer_full=bool(buffer_full),
            complete=bool(complete),
            metrics=metrics.get(number, {}),
            sampling=registers.get(number, {}),
            repetitions=repetitions.get(number, ()),
            sample_weight=weight,
            effective_samples=effective,
            operations=operations.get(number, {}),
            place=places.get(number, ""),
        )  # fmt: skip


@lru_cache(1 << 10)  # launches have the same again and again
def dimensions(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def read_instructions(database: sqlite3.Connection, key: dict, codes: list[Code]) -> Iterator[Instruction]:
    """The kernel's instructions, and those of every function its launches spent a cycle, a sample or an issue in."""
    costs, stalls, patterns = read_costs(database, key), read_stalls(database, key), read_patterns(database, key)
    functions = {key["function"], *touched_functions(codes, sorted(costs))}
    places = positions(database, functions)
    for pc, text, opcode, ptx_line, space, operation, nbytes, display in database.execute(
        "SELECT i.pc, i.text, i.opcode, i.ptx_line, i.space, i.operation, i.access_nbytes, f.display "
        "FROM temp.code_of w CROSS JOIN instructions i USING (pc) JOIN functions f ON f.function = w.function "
        f"WHERE {IN_FUNCTIONS} ORDER BY i.pc",
        (json.dumps(sorted(functions)),),
    ):
        yield Instruction(
            pc,
            display,
            text,
            opcode,
            ptx_line,
            space,
            operation,
            nbytes,
            places[pc],
            costs.pop(pc, Cost()),
            stalls.get(pc, ()),
            patterns.get(pc, ()),
        )
    name = database.execute("SELECT display FROM functions WHERE function = ?", (key["function"],)).fetchone()[0]
    for pc, cost in costs.items():  # of no module: included, so that shares sum to 1
        yield Instruction(pc, name, OUTSIDE, "", 0, "", "", 0, (Position(name, "", 0),), cost, stalls.get(pc, ()))


OUTSIDE = "(an address outside every module)"


def touched_functions(codes: list[Code], pcs: list[int]) -> Iterator[int]:
    """The functions that hold an address of `pcs`, which ascends. One at most holds an address."""
    at = 0
    while at < len(pcs):
        after = bisect_right(codes, pcs[at], key=lambda code: code.first_pc)
        if after and pcs[at] < codes[after - 1].end_pc:
            yield codes[after - 1].function
            at = bisect_left(pcs, codes[after - 1].end_pc)
        else:
            at += 1


def read_stalls(database: sqlite3.Connection, key: dict) -> dict[int, tuple[Stalls, ...]]:
    lengths: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for pc, reason, least, n in database.execute(
        f"SELECT pc, reason, least_cycles, SUM(stalls) {of_kernel('stall_lengths')} GROUP BY pc, reason, least_cycles",
        key,
    ):
        lengths.setdefault((pc, reason), []).append((least, n))
    by_pc: dict[int, tuple[Stalls, ...]] = {}
    for pc, reason, n, longest in database.execute(
        f"SELECT pc, reason, SUM(stalls), MAX(longest_cycles) {of_kernel('stalls')} GROUP BY pc, reason", key
    ):
        by_pc[pc] = (*by_pc.get(pc, ()), Stalls(reason, n, longest, tuple(lengths.get((pc, reason), ()))))
    return by_pc


def read_patterns(database: sqlite3.Connection, key: dict) -> dict[int, tuple[BankPattern, ...]]:
    by_pc: dict[int, tuple[BankPattern, ...]] = {}
    for pc, mask, s0, s1, s2, n0, n1, n2, *rest in database.execute(
        "SELECT pc, mask, stride_0, stride_1, stride_2, lanes_0, lanes_1, lanes_2, MIN(first), MAX(end), SUM(warps) "
        f"{of_kernel('bank_patterns')} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8",
        key,
    ):
        by_pc[pc] = (*by_pc.get(pc, ()), BankPattern(mask, (s0, s1, s2), (n0, n1, n2), *rest))
    return by_pc


def read_costs(database: sqlite3.Connection, key: dict) -> dict[int, Cost]:
    samples, not_issued, weights, cycles, counters = {}, {}, {}, {}, {}
    for pc, reason, n, n_not_issued, weight in database.execute(
        f"SELECT pc, reason, SUM(samples), SUM(samples_not_issued), SUM(weight) {of_kernel('samples')} GROUP BY "
        "pc, reason",
        key,
    ):
        weights.setdefault(pc, [0] * N_REASONS)[reason] = weight or 0
        samples.setdefault(pc, [0] * N_REASONS)[reason] = n
        not_issued.setdefault(pc, [0] * N_REASONS)[reason] = n_not_issued or 0
    for pc, reason, n in database.execute(
        f"SELECT pc, reason, SUM(ledger.cycles) {of_kernel('ledger')} GROUP BY pc, reason", key
    ):
        cycles.setdefault(pc, [0] * N_REASONS)[reason] = n
    sums = ", ".join(f"SUM({name})" for name in Counters._fields)
    for pc, *counts in database.execute(f"SELECT pc, {sums} {of_kernel('counters')} GROUP BY pc", key):
        counters[pc] = Counters(*counts)
    zeros = Cost()
    return {
        pc: Cost(
            tuple(samples.get(pc, zeros.samples)),
            tuple(not_issued.get(pc, zeros.not_issued)),
            tuple(cycles.get(pc, zeros.cycles)),
            counters.get(pc, zeros.counters),
            tuple(weights.get(pc, zeros.weights)),
        )
        for pc in sorted(samples.keys() | cycles.keys() | counters.keys())
    }
