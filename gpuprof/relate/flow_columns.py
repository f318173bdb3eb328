"""The flow of data (`gpuprof.relate.data_flow`) from all accesses at once, as columns.

Each buffer is cut wherever a range begins or ends. What happens to a piece is a row of events, a read or a write each,
in the order of execution: columns say for each event which write is the last before it, and which is the next.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.relate.data_flow import (
    AGAIN,
    FLOW,
    NO_TASK,
    OVERWRITTEN,
    PRODUCED,
    READ,
    UNREAD,
    Inputs,
    Observed,
    summed,
)

NO_EVENT = -1
LEAST_EVENTS, MOST_EVENTS_PER_RANGE = 1 << 20, 8  # more pieces of ranges than these take more time than they save
MOST_NBYTES = 1 << 62  # of all buffers together


class Ranges(NamedTuple):
    """Bytes [first, end) of buffers that tasks read or wrote, by visit, reads before writes, ascending; (n,). visit: a
    number of a task's accesses to one buffer, ascending. is_same: written, and the bytes were there already.
    """

    visit: np.ndarray
    task: np.ndarray
    buffer: np.ndarray
    is_write: np.ndarray
    is_same: np.ndarray
    first: np.ndarray
    end: np.ndarray

    def overlap(self) -> bool:
        """True where a visit reads or writes a byte twice."""
        is_next = (self.visit[1:] == self.visit[:-1]) & (self.is_write[1:] == self.is_write[:-1])
        return bool((is_next & (self.first[1:] < self.end[:-1])).any())


class Pieces(NamedTuple):
    """Row k is a piece of a range, by range, then ascending. place: of the range in Ranges; piece: a number, ascending
    by buffer and address; first: its first byte in the buffer; nbytes: its size.
    """

    place: np.ndarray
    piece: np.ndarray
    first: np.ndarray
    nbytes: np.ndarray


def cut(ranges: Ranges, sizes: np.ndarray) -> Pieces | None:
    """sizes: int64, bytes of each buffer. None where the pieces are too many for columns."""
    if float(sizes.astype(np.float64).sum()) + len(sizes) > MOST_NBYTES:
        return None
    bases = np.cumsum(sizes + 1) - (sizes + 1)  # buffers do not touch
    base = bases[ranges.buffer]
    cuts = np.unique(np.concatenate((ranges.first + base, ranges.end + base)))
    low, high = (np.searchsorted(cuts, edge + base) for edge in (ranges.first, ranges.end))
    counts = high - low
    n_events = int(counts.sum())
    if n_events > LEAST_EVENTS + MOST_EVENTS_PER_RANGE * len(counts):
        return None
    place = np.repeat(np.arange(len(counts)), counts)
    piece = np.arange(n_events) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return Pieces(place, piece, cuts[piece] - base[place], cuts[piece + 1] - cuts[piece])


class Events:
    """The pieces of ranges by piece, each in the order of execution. Columns are int64 (n,), or bool."""

    def __init__(self, ranges: Ranges, pieces: Pieces):
        self.order = np.argsort(pieces.piece, kind="stable")
        place, piece = pieces.place[self.order], pieces.piece[self.order]
        self.nbytes = pieces.nbytes[self.order]
        self.task, self.buffer = ranges.task[place], ranges.buffer[place]
        self.is_write, self.is_same = ranges.is_write[place], ranges.is_same[place]
        self.is_first = np.ones(len(piece), bool)
        self.is_first[1:] = piece[1:] != piece[:-1]
        self.number = np.arange(len(piece))
        self.start = np.maximum.accumulate(np.where(self.is_first, self.number, 0))
        self.write = self.last(self.is_write)
        self.writer = self.task_of(self.write)

    def last(self, chosen: np.ndarray) -> np.ndarray:
        """The last of the chosen events of the piece before each event; NO_EVENT for none."""
        found = np.full(len(chosen), NO_EVENT)
        np.maximum.accumulate(np.where(chosen, self.number, NO_EVENT)[:-1], out=found[1:])
        return np.where(found >= self.start, found, NO_EVENT)

    def task_of(self, events: np.ndarray) -> np.ndarray:
        return np.where(events == NO_EVENT, NO_TASK, self.task[events])

    @cached_property
    def next_write(self) -> np.ndarray:
        """The next write of the piece after each event; the number of events for none."""
        n = len(self.number)
        ends = np.append(np.flatnonzero(self.is_first)[1:], n)
        end = np.repeat(ends, np.diff(ends, prepend=0))
        after = np.minimum.accumulate(np.where(self.is_write, self.number, n)[::-1])[::-1]
        found = np.append(after[1:], n)
        return np.where(found < end, found, n)

    @cached_property
    def is_reader(self) -> np.ndarray:
        """Reads, without those that follow one of the same task."""
        again = np.zeros(len(self.number), bool)
        again[1:] = ~self.is_first[1:] & ~self.is_write[:-1] & (self.task[1:] == self.task[:-1])
        return ~self.is_write & ~again

    @cached_property
    def is_used(self) -> np.ndarray:
        """Writes whose bytes a task reads that did not write them."""
        used = np.zeros(len(self.number) + 1, bool)  # the last stands for no event
        used[self.write[~self.is_write & (self.task != self.writer)]] = True
        return used[:-1]


def observed(events: Events, copies_out: np.ndarray) -> Observed:
    """copies_out: the tasks that copy to the host."""
    return Observed(
        summed(_flows(events), ("source", "target", "kind", "buffer")),
        summed(_unread(events), ("task", "buffer", "replaced_by")),
        summed(_again(events, copies_out), ("task", "buffer", "writer", "copied_out_by")),
    )


def _flows(events: Events) -> np.ndarray:
    of_other = (events.writer != NO_TASK) & (events.writer != events.task)
    readers = np.flatnonzero(events.is_reader & (events.next_write < len(events.number)))
    overwriters = events.task[events.next_write[readers]]
    readers, overwriters = (column[overwriters != events.task[readers]] for column in (readers, overwriters))
    parts = []
    for kind, chosen in ((PRODUCED, of_other & ~events.is_write), (OVERWRITTEN, of_other & events.is_write)):
        columns = (events.writer[chosen], events.task[chosen], events.buffer[chosen], events.nbytes[chosen])
        parts.append(_rows(FLOW, (np.full(len(columns[0]), kind), *columns)))
    columns = (events.task[readers], overwriters, events.buffer[readers], events.nbytes[readers])
    return np.concatenate([*parts, _rows(FLOW, (np.full(len(readers), READ), *columns))])


def _unread(events: Events) -> np.ndarray:
    n = len(events.number)
    replaced_by = np.append(events.task, NO_TASK)[events.next_write]
    # a task that writes over its own bytes has lost none
    chosen = events.is_write & ~events.is_used & ((events.next_write == n) | (replaced_by != events.task))
    return _rows(UNREAD, [column[chosen] for column in (events.task, events.buffer, replaced_by, events.nbytes)])


def _again(events: Events, copies_out: np.ndarray) -> np.ndarray:
    chosen = events.is_same & (events.writer != NO_TASK)
    out = events.last(~events.is_write & np.isin(events.task, copies_out))
    copied_out_by = events.task_of(np.where(out > events.write, out, NO_EVENT))
    columns = (events.task, events.buffer, events.writer, copied_out_by, events.nbytes)
    return _rows(AGAIN, [column[chosen] for column in columns])


def _rows(dtype: np.dtype, columns: Sequence[np.ndarray]) -> np.ndarray:
    rows = np.empty(len(columns[0]), dtype)
    for name, column in zip(dtype.names, columns, strict=True):
        rows[name] = column
    return rows


def inputs_by_visit(ranges: Ranges, pieces: Pieces, events: Events, wanted: np.ndarray) -> dict[int, Inputs]:
    """The contents that visits found where they read, by their writers. wanted: bool, the ranges of these visits."""
    chosen = np.flatnonzero(wanted[pieces.place] & ~ranges.is_write[pieces.place])
    writer = np.empty(len(pieces.place), np.int64)
    writer[events.order] = events.writer
    place, writer, first = pieces.place[chosen], writer[chosen], pieces.first[chosen]
    end = first + pieces.nbytes[chosen]
    visit = ranges.visit[place]
    is_new = np.ones(len(chosen), bool)
    is_new[1:] = (visit[1:] != visit[:-1]) | (writer[1:] != writer[:-1]) | (first[1:] != end[:-1])
    starts = np.flatnonzero(is_new)
    lasts = np.append(starts[1:], len(chosen))[: len(starts)] - 1
    columns = (visit[starts], ranges.buffer[place[starts]], writer[starts], first[starts], end[lasts])
    found: dict[int, Inputs] = {}
    for number, *each in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault(number, []).append(tuple(each))
    return found
