"""Conclusions from the bytes that tasks read and wrote: flows of data, and work without a use."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from gpuprof.correlate.tasks.task_rows import Accesses, Tasks
from gpuprof.relate import task_kinds
from gpuprof.relate.data_flow import Flows, Inputs, Observed, Pairs, Rows
from gpuprof.relate.flow_columns import Events, Ranges, cut, inputs_by_visit, observed
from gpuprof.relate.waste import WORK

AT_A_TIME = 1 << 14  # visits whose ranges are Python's at one time


class Visit(NamedTuple):
    """A task's accesses to a buffer. It reads the earlier content before it writes anything."""

    task: int
    buffer: int
    work: int  # a hash of what a launch was asked to do, 0 for what is none
    frees: bool
    reads: Pairs
    writes: Sequence[tuple[int, int]]
    unchanged: Pairs


def observe(tasks: Tasks, parameters: list[dict], accesses: Accesses) -> tuple[Observed, np.ndarray]:
    """Flows, and WORK (n,): the launches that wrote something, in the order of execution."""
    return at_once(tasks, parameters, accesses) or one_by_one(tasks, parameters, accesses)


def at_once(tasks: Tasks, parameters: list[dict], accesses: Accesses) -> tuple[Observed, np.ndarray] | None:
    """The same from columns; None where a visit has a byte twice, or where ranges cut each other too often."""
    ordered = _by_visit(accesses)
    sizes = np.array([fields.get("nbytes", 0) for fields in parameters], np.int64)
    ranges = _while_there(ordered, len(parameters))
    if ranges.overlap():
        return None
    pieces = cut(ranges, sizes)
    if pieces is None:
        return None
    events = Events(ranges, pieces)
    work = tasks.work[tasks.places(ranges.task)]
    works = _works(ranges, work, inputs_by_visit(ranges, pieces, events, work != 0))
    return observed(events, tasks.task[tasks.kind == task_kinds.COPY_OUT]), works


class _Ordered(NamedTuple):
    """Accesses by visit, reads before writes, by their first bytes. is_new: the first of a visit."""

    rows: Accesses
    is_write: np.ndarray
    is_new: np.ndarray


def _by_visit(accesses: Accesses) -> _Ordered:
    is_write = (accesses.flags & task_kinds.WRITES) != 0
    turn = np.cumsum(np.diff(accesses.task, prepend=accesses.task[:1]) != 0)
    order = np.lexsort((accesses.end, accesses.first, is_write, accesses.parameter, turn))
    rows, turn = Accesses(*(column[order] for column in accesses)), turn[order]
    is_new = np.ones(len(turn), bool)
    is_new[1:] = (turn[1:] != turn[:-1]) | (rows.parameter[1:] != rows.parameter[:-1])
    return _Ordered(rows, is_write[order], is_new)


def _while_there(ordered: _Ordered, n_buffers: int) -> Ranges:
    """The accesses of tasks to buffers that are not freed yet."""
    rows, is_write, is_new = ordered
    visit = np.cumsum(is_new) - 1
    freed = np.full(n_buffers, len(visit))  # by buffer, the visit that frees it
    frees = (rows.flags & task_kinds.FREES) != 0
    np.minimum.at(freed, rows.parameter[frees], visit[frees])
    is_same = is_write & ((rows.flags & task_kinds.UNCHANGED) != 0)
    ranges = Ranges(visit, rows.task, rows.parameter, is_write, is_same, rows.first, rows.end)
    is_there = visit < freed[rows.parameter]
    return Ranges(*(column[is_there] for column in ranges))


def _works(ranges: Ranges, work: np.ndarray, inputs: dict[int, Inputs]) -> np.ndarray:
    """work: that of the task of each range."""
    is_first = np.ones(len(work), bool)
    is_first[1:] = ranges.visit[1:] != ranges.visit[:-1]
    starts = np.flatnonzero(is_first)
    nbytes = np.where(ranges.is_write, ranges.end - ranges.first, 0)
    written = np.add.reduceat(nbytes, starts) if len(starts) else nbytes
    columns = (ranges.visit[starts], ranges.task[starts], work[starts], written)
    of_launch = work[starts] != 0
    works = Works()
    for visit, *what, n in zip(*(column[of_launch].tolist() for column in columns), strict=True):
        works.add(*what, n, inputs.get(visit, []))
    return works.all()


def one_by_one(tasks: Tasks, parameters: list[dict], accesses: Accesses) -> tuple[Observed, np.ndarray]:
    """Access after access."""
    flows = Flows(set(tasks.task[tasks.kind == task_kinds.COPY_OUT].tolist()))
    works = Works()
    closed: set[int] = set()
    for visit in visits(tasks, accesses):
        buffer = visit.buffer
        if buffer in closed:
            continue
        if not flows.has(buffer):
            flows.add(buffer, 0, parameters[buffer]["nbytes"])
        if visit.frees:
            flows.remove(buffer)
            closed.add(buffer)
            continue
        if visit.work:
            nbytes = sum(end - first for first, end in visit.writes)
            works.add(visit.task, visit.work, nbytes, flows.inputs(buffer, visit.reads))
        flows.access(visit.task, buffer, visit.reads, visit.writes, visit.unchanged)
    return flows.finish(), works.all()


def visits(tasks: Tasks, accesses: Accesses) -> Iterator[Visit]:
    """In the order of execution."""
    (task, buffer, flags, first, end), writes, is_new = _by_visit(accesses)
    starts = np.flatnonzero(is_new)
    if not len(starts):
        return
    works = tasks.work[tasks.places(task[starts])]
    n_reads = np.add.reduceat(~writes, starts, dtype=np.int64)
    seen = np.bitwise_or.reduceat(flags, starts)
    # another tool's file may have ranges that overlap, touch or are empty; ours have gaps between them
    tangled = np.zeros(len(task), bool)
    tangled[1:] = ~is_new[1:] & (writes[1:] == writes[:-1]) & (first[1:] <= end[:-1])
    is_tangled = np.logical_or.reduceat(tangled | (first == end), starts)
    for at in range(0, len(starts), AT_A_TIME):
        some = slice(at, at + AT_A_TIME)
        low = int(starts[at])
        high = int(starts[at + AT_A_TIME]) if at + AT_A_TIME < len(starts) else len(task)
        ranges = list(zip(first[low:high].tolist(), end[low:high].tolist(), strict=True))
        ends = np.append(starts[some][1:], high) - low
        begins = starts[some] - low
        columns = (task[starts[some]], buffer[starts[some]], works[some], seen[some], is_tangled[some])
        places = (begins, begins + n_reads[some], ends)
        each = zip(*(column.tolist() for column in (*columns, *places)), strict=True)
        for task_, buffer_, work, flags_, tangle, begin, middle, after in each:
            read, written = ranges[begin:middle], ranges[middle:after]
            same = written if flags_ & task_kinds.UNCHANGED else ()
            if same:
                kept = (flags[low + middle : low + after] & task_kinds.UNCHANGED) != 0
                same = [pair for pair, is_same in zip(written, kept.tolist(), strict=True) if is_same]
            if tangle:
                read, written, same = apart(read), apart(written), apart(same)
            yield Visit(task_, buffer_, work, bool(flags_ & task_kinds.FREES), read, written, same)


def apart(ranges: Pairs) -> list[tuple[int, int]]:
    """The same bytes as ranges that are ascending and apart. ranges: by their first bytes."""
    joined: list[tuple[int, int]] = []
    for first, end in ranges:
        if first == end:
            continue
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined


class Works:
    """The work of launches, one after the other."""

    def __init__(self):
        self._rows = Rows(WORK)
        self._task, self._work, self._nbytes = -1, 0, 0
        self._inputs: Inputs = []

    def add(self, task: int, work: int, nbytes: int, inputs: Inputs) -> None:
        """The next visit of a launch: the bytes that it wrote, and what it read."""
        if task != self._task:
            self._close()
            self._task, self._work = task, work
        self._inputs += inputs
        self._nbytes += nbytes

    def all(self) -> np.ndarray:
        self._close()
        return self._rows.all()

    def _close(self) -> None:
        if self._nbytes:
            digest = blake2b(repr(self._inputs).encode(), digest_size=8).digest()
            self._rows.add((self._task, self._work, int.from_bytes(digest, "little") >> 1, self._nbytes))
        self._inputs, self._nbytes = [], 0
