"""Shares of a program's time: kernels, copies, fills, functions of the host, and what the GPU waits for.

    tables of tasks, calls and operations ─ works ─> what ran when ─ stretches, in which nothing changes ─> shares, gaps

Only for a database whose host and GPU have one clock (`correlate.tasks.host_clock`). Times are GPU cycles.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuprof.correlate.tasks.host_clock import clock_in, cycles_of, ns_of
from gpuprof.correlate.tasks.task_queries import Tasks, read_tasks
from gpuprof.relate.task_kinds import (
    CALL,
    COPY_HOST,
    COPY_IN,
    COPY_OUT,
    COPY_WITHIN,
    FILL as FILL_TASK,
    HOST_FUNCTION,
    MAPPED_MEMORY,
    PAGE_FAULTS,
    PREFETCH,
    TASKS,
)
from gpuprof.tables.engines import ENGINES

KERNELS, COPIES, FILLS, FAULTS, MAPPED, HOST_FUNCTIONS = WORKS = (
    *("kernels", "copies", "fills", "page faults", "mapped memory", "host functions"),
)
WORK_OF = dict.fromkeys((COPY_IN, COPY_OUT, COPY_WITHIN, COPY_HOST, PREFETCH), COPIES) | {
    FILL_TASK: FILLS,
    PAGE_FAULTS: FAULTS,
    MAPPED_MEMORY: MAPPED,
    HOST_FUNCTION: HOST_FUNCTIONS,
}
UNKNOWN = -1
# What the GPU waits for while no kernel runs; of two that hold the first counts.
COPY, FILL, FAULT, MAPPING, FUNCTION = "a copy", "a fill", "page faults", "mapped memory", "a function of the host"
HOST, OTHER_STREAM, START = "the host", "another stream", "the start of a request"
NOTHING, NOT_KNOWN = "nothing asked", "not known"
GAPS = {
    COPY: "A copy is under way, and no kernel.",
    FILL: "A fill is under way, and no kernel and no copy.",
    FAULT: "Pages of managed memory move to the side that touches them.",
    MAPPING: "Page-locked memory that the next kernel touches crosses the link.",
    FUNCTION: "A function of the host runs, for which a stream waits.",
    HOST: "The request that comes next had not arrived.",
    OTHER_STREAM: "The request had arrived, and waits for an event of another stream or for the default stream.",
    START: "The request had arrived, and nothing is before it: the GPU takes so long to start it.",
    NOTHING: "No request comes any more.",
    NOT_KNOWN: "The recording does not say when the next request arrived: it has no calls.",
}
# The cause of a gap by the work that there is, the first that holds.
CAUSES = {COPIES: COPY, FILLS: FILL, FAULTS: FAULT, MAPPED: MAPPING, HOST_FUNCTIONS: FUNCTION}
IDLE = (FUNCTION, HOST, OTHER_STREAM, START, NOTHING, NOT_KNOWN)  # of these, those in which the GPU does nothing
ORDERS = ("event", "default stream")  # constraints between streams


class Operation(NamedTuple):
    """A copy, fill, host function, or memory that moves when it is touched. `call`: the task of the call that requested
    it; UNKNOWN for none.
    """

    task: int
    name: str
    kind: str
    engine: str
    is_pinned: bool
    is_node: bool
    stream: int
    start: int
    end: int
    nbytes: int
    call: int = UNKNOWN

    @property
    def cycles(self) -> int:
        return self.end - self.start

    @property
    def memory(self) -> str:
        """The kind of the host's memory that it reads or writes: pinned or pageable; "" where there is none."""
        is_of_host = self.kind in (TASKS[COPY_IN], TASKS[COPY_OUT]) or self.is_pinned
        return ("pinned" if self.is_pinned else "pageable") if is_of_host else ""

    def gbytes_per_s(self, clock_mhz: float) -> float | None:
        """None for what took no time or moved nothing."""
        return self.nbytes / ns_of(self.cycles, clock_mhz) if self.cycles and self.nbytes else None


class Engine(NamedTuple):
    """The operations of an engine. `busy`: cycles; `pinned_nbytes`: of its bytes, those of page-locked memory of the
    host.
    """

    name: str
    operations: tuple[Operation, ...]  # by their starts

    @property
    def busy(self) -> int:
        return sum(operation.cycles for operation in self.operations)

    @property
    def nbytes(self) -> int:
        return sum(operation.nbytes for operation in self.operations)

    @property
    def pinned_nbytes(self) -> int:
        return sum(operation.nbytes for operation in self.operations if operation.is_pinned)

    def gbytes_per_s(self, clock_mhz: float) -> float | None:
        return self.nbytes / ns_of(self.busy, clock_mhz) if self.busy and self.nbytes else None


class Gap(NamedTuple):
    """A time without a kernel. `cause`: a key of GAPS; `next`: the name of what starts then, "" for nothing."""

    start: int
    end: int
    cause: str
    next: str

    @property
    def cycles(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class ProgramTime:
    """`works`: cycles by WORKS in which there is such a work, however many; `overlap`: of those of copies, cycles in
    which a kernel runs, too.
    """

    clock_mhz: float
    host: str  # name of its table, "" unknown
    begin: int
    end: int
    works: dict[str, int]
    overlap: int
    engines: tuple[Engine, ...]  # without those that did nothing
    gaps: tuple[Gap, ...]  # in the order of time

    @property
    def cycles(self) -> int:
        return self.end - self.begin

    @property
    def idle(self) -> int:
        """Cycles in which the GPU does nothing."""
        return sum(gap.cycles for gap in self.gaps if gap.cause in IDLE)

    def waited(self, cause: str) -> int:
        """Cycles of the gaps of a cause."""
        return sum(gap.cycles for gap in self.gaps if gap.cause == cause)


class Works(NamedTuple):
    """All work of the GPU, by start, int64 (n,): kind, a place in WORKS; cycles; `request`, the cycle in which the
    request had arrived, UNKNOWN without a call; `is_ordered`: it waits for another stream.
    """

    kind: np.ndarray
    start: np.ndarray
    end: np.ndarray
    request: np.ndarray
    is_ordered: np.ndarray
    names: tuple[str, ...]


def read_program_time(database: sqlite3.Connection) -> ProgramTime | None:
    """None where host and GPU do not have one clock, or the GPU did nothing."""
    clock_mhz = clock_in(database)
    if clock_mhz is None:
        return None
    tasks = read_tasks(database)
    calls = calls_of(tasks)
    operations = tuple(read_operations(database, tasks, calls))
    works = _works(database, tasks, calls, operations, clock_mhz)
    if not len(works.start):
        return None
    called = database.execute("SELECT MIN(begin_ns), MAX(end_ns) FROM api_calls").fetchone()
    bounds = [int(works.start.min()), int(works.end.max())]
    if called[0] is not None:
        first, last = cycles_of(np.array(called, np.int64), clock_mhz).tolist()
        bounds = [min(bounds[0], first), max(bounds[1], last)]
    edges, kinds = stretches(works, *bounds)
    lengths = np.diff(edges)
    host = database.execute("SELECT value FROM meta WHERE key = 'host'").fetchone()
    return ProgramTime(
        clock_mhz,
        host[0] if host else "",
        *bounds,
        {name: int(lengths[kinds[place]].sum()) for place, name in enumerate(WORKS)},
        int(lengths[kinds[WORKS.index(KERNELS)] & kinds[WORKS.index(COPIES)]].sum()),
        engines_of(operations),
        tuple(joined(gaps(works, edges, kinds))),
    )


def calls_of(tasks: Tasks) -> np.ndarray:
    """The row of the innermost call that each task is a part of, int64 (n,); UNKNOWN for none, and for calls."""
    words = [number for number, word in enumerate(tasks.words) if word == TASKS[CALL]]
    is_call = np.isin(tasks.columns["kind"], words)
    parents = tasks.columns["parent"]
    above = np.where(parents < 0, UNKNOWN, np.searchsorted(tasks.columns["task"], parents))
    found, here = np.full(len(above), UNKNOWN), above.copy()
    while (is_open := (here != UNKNOWN) & (found == UNKNOWN)).any():
        at = here[is_open]
        found[is_open] = np.where(is_call[at], at, UNKNOWN)
        here[is_open] = np.where(is_call[at], UNKNOWN, above[at])
    return found


def read_operations(database: sqlite3.Connection, tasks: Tasks, calls: np.ndarray) -> Iterator[Operation]:
    """By their starts."""
    numbers = tasks.columns["task"]
    for task, *rest in database.execute(
        "SELECT o.task, t.name, t.kind, o.engine, o.is_pinned, o.is_node, o.stream, o.start_cycle, o.end_cycle, "
        "o.nbytes FROM device_operations o JOIN tasks t USING (task) ORDER BY o.start_cycle, o.end_cycle, o.task"
    ):
        call = int(calls[tasks.place(task)])
        name, kind, engine, is_pinned, is_node, *times = rest
        of_call = int(numbers[call]) if call != UNKNOWN else UNKNOWN
        yield Operation(task, name, kind, engine, bool(is_pinned), bool(is_node), *times, of_call)


def engines_of(operations: Sequence[Operation]) -> tuple[Engine, ...]:
    by_name = {name: tuple(each for each in operations if each.engine == name) for name in ENGINES}
    return tuple(Engine(name, each) for name, each in by_name.items() if each)


def work_of(operation: Operation) -> str:
    """One of WORKS."""
    return WORK_OF.get(TASKS.index(operation.kind), COPIES)


def _works(
    database: sqlite3.Connection, tasks: Tasks, calls: np.ndarray, operations: Sequence[Operation], clock_mhz: float
) -> Works:
    launches = np.flatnonzero((tasks.columns["launch"] >= 0) & (tasks.columns["begin_cycle"] >= 0))
    places = np.concatenate([launches, np.array([tasks.place(each.task) for each in operations], np.int64)])
    of_operations = np.array([WORKS.index(work_of(each)) for each in operations], np.int64)
    kinds = np.concatenate([np.full(len(launches), WORKS.index(KERNELS)), of_operations])
    start, end = (tasks.columns[name][places] for name in ("begin_cycle", "end_cycle"))
    request = _requests(database, tasks, calls, clock_mhz)[places]
    # what had ended before, as a wait of the host for everything, holds up nothing
    is_ordered = _held_until(database, tasks)[places] > request
    order = np.lexsort((places, start))
    order = order[(end > start)[order]]  # what took no time is no work
    columns = (column[order] for column in (kinds, start, end, np.minimum(request, start), is_ordered))
    return Works(*columns, tuple(tasks.name(place) for place in places[order].tolist()))


def _held_until(database: sqlite3.Connection, tasks: Tasks) -> np.ndarray:
    """The last end of what each task waits for in other streams, int64 (n,), UNKNOWN for nothing."""
    marks = ", ".join("?" * len(ORDERS))
    query = (
        "SELECT c.target, MAX(s.end_cycle) FROM task_constraints c JOIN tasks s ON s.task = c.source "
        f"WHERE c.kind IN ({marks}) AND s.end_cycle IS NOT NULL GROUP BY c.target"
    )
    held = np.full(len(tasks), UNKNOWN)
    for task, end in database.execute(query, ORDERS):
        held[tasks.place(task)] = end
    return held


def _requests(database: sqlite3.Connection, tasks: Tasks, calls: np.ndarray, clock_mhz: float) -> np.ndarray:
    """When the request of each task had arrived: when its call ended, or began to wait. int64 (n,), UNKNOWN without a
    call.
    """
    rows = database.execute("SELECT task, end_ns - waited_ns FROM api_calls").fetchall()
    arrived = np.full(len(tasks), UNKNOWN)
    if rows:
        numbers, times = np.array(rows, np.int64).T
        arrived[np.searchsorted(tasks.columns["task"], numbers)] = cycles_of(np.maximum(times, 0), clock_mhz)
    return np.where(calls == UNKNOWN, UNKNOWN, arrived[calls])


def stretches(works: Works, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """The time from `begin` to `end` in pieces in which nothing begins, ends or arrives: their edges, int64 (n + 1,),
    and which works there are, bool (len(WORKS), n).
    """
    known = works.request[works.request >= begin]
    edges = np.unique(np.concatenate([[begin, end], works.start, works.end, known]))
    kinds = np.zeros((len(WORKS), len(edges) - 1), bool)
    for kind in range(len(WORKS)):
        changes = np.zeros(len(edges), np.int64)
        for cycles, step in ((works.start, 1), (works.end, -1)):
            np.add.at(changes, np.searchsorted(edges, cycles[works.kind == kind]), step)
        kinds[kind] = np.cumsum(changes)[:-1] > 0
    return edges, kinds


def gaps(works: Works, edges: np.ndarray, kinds: np.ndarray) -> Iterator[Gap]:
    """A gap for each stretch without a kernel; nothing starts within one."""
    following = np.searchsorted(works.start, edges[1:], side="left")
    for place in np.flatnonzero(~kinds[WORKS.index(KERNELS)]).tolist():
        start, end, after = int(edges[place]), int(edges[place + 1]), int(following[place])
        name = works.names[after] if after < len(works.names) else ""
        cause = next((cause for work, cause in CAUSES.items() if kinds[WORKS.index(work), place]), "")
        yield Gap(start, end, cause or _cause(works, after, start), name)


def _cause(works: Works, after: int, cycle: int) -> str:
    """Why the next work has not started at a cycle in which the GPU does nothing."""
    if after == len(works.names):
        return NOTHING
    request = int(works.request[after])
    if request == UNKNOWN:
        return OTHER_STREAM if works.is_ordered[after] else NOT_KNOWN
    if cycle < request:
        return HOST
    return OTHER_STREAM if works.is_ordered[after] else START


def joined(found: Iterator[Gap]) -> Iterator[Gap]:
    """Gaps of one cause that follow each other are one, which has the last one's `next`."""
    open_: Gap | None = None
    for gap in found:
        if open_ and (open_.end, open_.cause) == (gap.start, gap.cause):
            open_ = gap._replace(start=open_.start)
            continue
        if open_:
            yield open_
        open_ = gap
    if open_:
        yield open_
