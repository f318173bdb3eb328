"""The flow of data: relations between tasks through the bytes that they read and write.

A task reads the bytes that were there before it, then writes. Three kinds of flow follow, each with its bytes:

    produces for    the target reads what the source wrote last
    reads before    the source reads what the target overwrites, so the target may not come first
    writes before   the target writes again what the source wrote last

There may be millions of flows: they are gathered as rows of numbers.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from gpuprof.relate.task_kinds import NUMBERS, PRODUCES_FOR, READS_BEFORE, WRITES_BEFORE

NO_TASK = -1  # instead of a task's number
PRODUCED, READ, OVERWRITTEN = (NUMBERS[kind] for kind in (PRODUCES_FOR, READS_BEFORE, WRITES_BEFORE))


def _numbers(*names: str) -> np.dtype:
    return np.dtype([(name, np.int64) for name in names])


# `nbytes` bytes of a buffer tie two tasks. kind: a number of relate.task_kinds.RELATIONS, see above.
FLOW = _numbers("kind", "source", "target", "buffer", "nbytes")
# `nbytes` bytes that a task wrote to a buffer, and no task has read. replaced_by: the task that wrote over them;
# NO_TASK if they were still there at the end.
UNREAD = _numbers("task", "buffer", "replaced_by", "nbytes")
# A task wrote `nbytes` bytes to a buffer that were there already, of task `writer`. copied_out_by: the last copy to the
# host that has read them since; NO_TASK when none has.
AGAIN = _numbers("task", "buffer", "writer", "copied_out_by", "nbytes")

Pairs: TypeAlias = Iterable[tuple[int, int]]  # ranges [start, end), ascending; no two overlap or touch
Sums: TypeAlias = dict[tuple[int, ...], int]  # bytes

# The readers of some bytes since these were written: the last one, and those before it. Segments share their tails.
Readers: TypeAlias = "tuple[int, Readers] | None"
# The data that a task read: (buffer, writer, start, end), neighbours of one writer joined.
Inputs: TypeAlias = list[tuple[int, int, int, int]]


class Buffer:
    """The writer and the readers of each byte of a buffer of `nbytes` bytes from `address` on."""

    def __init__(self, number: int, address: int, nbytes: int):
        self.number = number
        self._starts = [address]  # of segments, ascending; each reaches to the next, the last to the buffer's end
        self._writers = [NO_TASK]
        self._readers: list[Readers] = [None]
        self._end = address + nbytes

    def read(self, task: int, ranges: Pairs, flows: Sums) -> None:
        """Adds to the flows, by kind and source."""
        for start, end in ranges:
            for k in range(self._cut(start), self._cut(end)):
                writer, readers = self._writers[k], self._readers[k]
                if writer not in (NO_TASK, task):
                    _add(flows, (PRODUCED, writer), self._after(k) - self._starts[k])
                if readers is None or readers[0] != task:
                    self._readers[k] = task, readers

    def write(self, task: int, ranges: Pairs, flows: Sums, lost: Sums) -> None:
        """Adds to the flows, by kind and source, and to the bytes that were not read, by their writer."""
        for start, end in ranges:
            first, after = self._cut(start), self._cut(end)
            for k in range(first, after):
                writer, readers = self._writers[k], self._readers[k]
                nbytes = self._after(k) - self._starts[k]
                if writer not in (NO_TASK, task):
                    _add(flows, (OVERWRITTEN, writer), nbytes)
                    if is_unread(writer, readers):
                        _add(lost, (writer,), nbytes)
                while readers is not None:
                    reader, readers = readers
                    if reader != task:
                        _add(flows, (READ, reader), nbytes)
            self._starts[first:after] = [start]
            self._writers[first:after] = [task]
            self._readers[first:after] = [None]

    def unread(self) -> Iterator[tuple[int, int]]:
        """(task, nbytes) for each segment that was written and not read."""
        for writer, readers, start, end in self.segments(((self._starts[0], self._end),)):
            if writer != NO_TASK and is_unread(writer, readers):
                yield writer, end - start

    def segments(self, ranges: Pairs) -> Iterator[tuple[int, Readers, int, int]]:
        """(writer, readers, start, end) for each segment, cut to the ranges."""
        for start, end in ranges:
            first = max(bisect_left(self._starts, start + 1) - 1, 0)
            for k in range(first, len(self._starts)):
                if self._starts[k] >= end:
                    break
                yield self._writers[k], self._readers[k], max(start, self._starts[k]), min(end, self._after(k))

    def _after(self, k: int) -> int:
        return self._starts[k + 1] if k + 1 < len(self._starts) else self._end

    def _cut(self, address: int) -> int:
        """The number of the segment that starts at `address`; len(segments) for the buffer's end."""
        k = bisect_left(self._starts, address)
        if address < self._end and (k == len(self._starts) or self._starts[k] != address):
            self._starts.insert(k, address)
            self._writers.insert(k, self._writers[k - 1])
            self._readers.insert(k, self._readers[k - 1])
        return k


def is_unread(writer: int, readers: Readers) -> bool:
    """A task that reads its own bytes has not used them for others."""
    return all(reader == writer for reader in all_readers(readers))


def all_readers(readers: Readers) -> Iterator[int]:
    while readers is not None:
        reader, readers = readers
        yield reader


class Observed(NamedTuple):
    """All flows, by source, target, kind and buffer; all bytes that no task read, and all that were written again
    unchanged, by task and buffer. FLOW, UNREAD, AGAIN (n,).
    """

    flows: np.ndarray
    unread: np.ndarray
    again: np.ndarray


class Flows:
    """Takes what tasks read and write, one task after the other in the order of execution, and gives the flows between
    them.
    """

    def __init__(self, copies_out: Container[int] = ()):
        """copies_out: the tasks that copy to the host."""
        self._copies_out = copies_out
        self._buffers: dict[int, Buffer] = {}
        self._flows, self._unread, self._again = Rows(FLOW), Rows(UNREAD), Rows(AGAIN)

    def add(self, number: int, address: int, nbytes: int) -> None:
        """A buffer is there from now on."""
        self._buffers[number] = Buffer(number, address, nbytes)

    def has(self, number: int) -> bool:
        return number in self._buffers

    def remove(self, number: int) -> None:
        """A buffer is freed."""
        for task, nbytes in self._buffers.pop(number).unread():
            self._unread.add((task, number, NO_TASK, nbytes))

    def inputs(self, number: int, reads: Pairs) -> Inputs:
        """The present contents of a buffer, by their writers."""
        inputs: Inputs = []
        for writer, _, start, end in self._buffers[number].segments(reads):
            if inputs and inputs[-1][1] == writer and inputs[-1][3] == start:
                start = inputs.pop()[2]
            inputs.append((number, writer, start, end))
        return inputs

    def access(self, task: int, number: int, reads: Pairs, writes: Pairs, unchanged: Pairs = ()) -> None:
        """A task reads bytes of a buffer that it has not written itself before, and writes some, of which the
        `unchanged` ones were there already.
        """
        buffer = self._buffers[number]
        flows: Sums = {}
        lost: Sums = {}
        buffer.read(task, reads, flows)
        for writer, readers, start, end in buffer.segments(unchanged):
            if writer != NO_TASK:
                out = next((reader for reader in all_readers(readers) if reader in self._copies_out), NO_TASK)
                self._again.add((task, number, writer, out, end - start))
        buffer.write(task, writes, flows, lost)
        for (kind, source), nbytes in flows.items():
            self._flows.add((kind, source, task, number, nbytes))
        for (writer,), nbytes in lost.items():
            self._unread.add((writer, number, task, nbytes))

    def finish(self) -> Observed:
        for number in sorted(self._buffers):
            self.remove(number)
        return Observed(
            summed(self._flows.all(), ("source", "target", "kind", "buffer")),
            summed(self._unread.all(), ("task", "buffer", "replaced_by")),
            summed(self._again.all(), ("task", "buffer", "writer", "copied_out_by")),
        )


class Rows:
    """Rows of numbers that come one by one: a tuple for each of a million would be many times as large."""

    MOST = 1 << 16  # that wait to be packed

    def __init__(self, dtype: np.dtype):
        self._dtype = dtype
        self._packed: list[np.ndarray] = []
        self._new: list[tuple] = []

    def add(self, row: tuple) -> None:
        self._new.append(row)
        if len(self._new) == self.MOST:
            self._pack()

    def all(self) -> np.ndarray:
        """Nothing follows."""
        self._pack()
        packed, self._packed = self._packed, []
        return np.concatenate(packed)

    def _pack(self) -> None:
        self._packed.append(np.array(self._new, self._dtype))
        self._new = []


def summed(rows: np.ndarray, keys: tuple[str, ...]) -> np.ndarray:
    """A row for each key, with the sum of `nbytes`; in the order of the keys."""
    if not len(rows):
        return rows
    rows = rows[np.lexsort([rows[name] for name in reversed(keys)])]
    differs = np.zeros(len(rows) - 1, bool)
    for name in keys:
        differs |= rows[name][1:] != rows[name][:-1]
    starts = np.flatnonzero(np.concatenate(([True], differs)))
    sums = rows[starts]
    sums["nbytes"] = np.add.reduceat(rows["nbytes"], starts)
    return sums


def _add(sums: Sums, key: tuple[int, ...], nbytes: int) -> None:
    sums[key] = sums.get(key, 0) + nbytes
