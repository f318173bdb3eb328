"""Who wrote what last: the relations that tasks have through the bytes they read and write.

A task reads what was there before it, then writes. Three kinds of flow follow, each with its bytes:

    produces for    the target reads what the source wrote last
    reads before    the source reads what the target overwrites, so the target may not come before
    writes before   the target writes again what the source wrote last
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from gpuprof.relate.kinds import PRODUCES_FOR, READS_BEFORE, WRITES_BEFORE


class Flow(NamedTuple):
    """`nbytes` bytes of a buffer tie two tasks; see the kinds above."""

    kind: str
    source: int
    target: int
    buffer: int
    nbytes: int


class Unread(NamedTuple):
    """`nbytes` bytes that a task wrote to a buffer, and nobody has read. `replaced_by`: the task that wrote over them;
    None when they were still there at the end.
    """

    task: int
    buffer: int
    nbytes: int
    replaced_by: int | None


class Again(NamedTuple):
    """A task wrote `nbytes` bytes to a buffer that were there already, of task `writer`. copied_out_by: the last copy
    to the host that has read them since; None when none has.
    """

    task: int
    buffer: int
    writer: int
    copied_out_by: int | None
    nbytes: int


Pairs: TypeAlias = Iterable[tuple[int, int]]  # ranges [start, end), ascending; no two overlap or touch

# The readers of some bytes since these were written: the last one, and those before it. Segments share their tails.
Readers: TypeAlias = "tuple[int, Readers] | None"
# Who wrote them last, None for nobody; who has read them.
State: TypeAlias = tuple[int | None, Readers]
UNTOUCHED: State = (None, None)


class Buffer:
    """Who wrote and who has read each byte of a buffer of `nbytes` bytes from `address` on."""

    def __init__(self, number: int, address: int, nbytes: int):
        self.number = number
        self._starts = [address]  # of segments, ascending; each reaches to the next, the last to the buffer's end
        self._states: list[State] = [UNTOUCHED]
        self._end = address + nbytes

    def read(self, task: int, ranges: Pairs) -> Iterator[tuple[str, int, int]]:
        """(kind, source, nbytes) for each segment read."""
        for start, end in ranges:
            first, after = self._cut(start), self._cut(end)
            for k in range(first, after):
                writer, readers = self._states[k]
                if writer is not None and writer != task:
                    yield PRODUCES_FOR, writer, self._after(k) - self._starts[k]
                if readers is None or readers[0] != task:
                    self._states[k] = writer, (task, readers)

    def write(self, task: int, ranges: Pairs) -> Iterator[tuple[str, int, int]]:
        """(kind, source, nbytes) for each segment written."""
        for start, end in ranges:
            first, after = self._cut(start), self._cut(end)
            for k in range(first, after):
                writer, readers = self._states[k]
                nbytes = self._after(k) - self._starts[k]
                if writer is not None and writer != task:
                    yield WRITES_BEFORE, writer, nbytes
                yield from ((READS_BEFORE, reader, nbytes) for reader in each(readers) if reader != task)
            self._starts[first:after] = [start]
            self._states[first:after] = [(task, None)]

    def unread(self, ranges: Pairs | None = None) -> Iterator[tuple[int, int]]:
        """(task, nbytes) for each segment that was written and not read; in `ranges`, or anywhere."""
        for writer, readers, nbytes in self.written(((self._starts[0], self._end),) if ranges is None else ranges):
            # A task that reads its own bytes has not used them for anybody.
            if not any(reader != writer for reader in each(readers)):
                yield writer, nbytes

    def written(self, ranges: Pairs) -> Iterator[tuple[int, Readers, int]]:
        """(who wrote it, who has read it, nbytes) for each segment in the ranges that somebody wrote."""
        for writer, readers, start, end in self.segments(ranges):
            if writer is not None:
                yield writer, readers, end - start

    def segments(self, ranges: Pairs) -> Iterator[tuple[int | None, Readers, int, int]]:
        """(who wrote it, who has read it, start, end) for each segment, cut to the ranges."""
        for start, end in ranges:
            first = max(bisect_left(self._starts, start + 1) - 1, 0)
            for k in range(first, len(self._starts)):
                if self._starts[k] >= end:
                    break
                writer, readers = self._states[k]
                yield writer, readers, max(start, self._starts[k]), min(end, self._after(k))

    def _after(self, k: int) -> int:
        return self._starts[k + 1] if k + 1 < len(self._starts) else self._end

    def _cut(self, address: int) -> int:
        """The number of the segment that starts at `address`; len(segments) for the buffer's end."""
        k = bisect_left(self._starts, address)
        if address < self._end and (k == len(self._starts) or self._starts[k] != address):
            self._starts.insert(k, address)
            self._states.insert(k, self._states[k - 1])
        return k


def each(readers: Readers) -> Iterator[int]:
    while readers is not None:
        reader, readers = readers
        yield reader


class Flows:
    """Takes what tasks read and write, one task after the other in the order of execution, and gives the flows between
    them.
    """

    def __init__(self, copies_out: Container[int] = ()):
        """copies_out: the tasks that copy to the host."""
        self._copies_out = copies_out
        self._buffers: dict[int, Buffer] = {}
        self._bytes: dict[tuple[str, int, int, int], int] = {}
        self._unread: dict[tuple[int, int, int | None], int] = {}
        self._again: dict[tuple[int, int, int, int | None], int] = {}
        # What each task found where it read: (buffer, who wrote it, start, end), neighbours of one writer joined.
        self.inputs: dict[int, list[tuple[int, int | None, int, int]]] = {}

    def add(self, number: int, address: int, nbytes: int) -> None:
        """A buffer is there from now on."""
        self._buffers[number] = Buffer(number, address, nbytes)

    def has(self, number: int) -> bool:
        return number in self._buffers

    def remove(self, number: int) -> None:
        """A buffer is freed."""
        for task, nbytes in self._buffers.pop(number).unread():
            _add(self._unread, (task, number, None), nbytes)

    def access(self, task: int, number: int, reads: Pairs, writes: Pairs, unchanged: Pairs = ()) -> None:
        """A task reads bytes of a buffer that it has not written itself before, and writes some, of which the
        `unchanged` ones were there already.
        """
        buffer = self._buffers[number]
        self._note_inputs(task, buffer, reads)
        for kind, source, nbytes in buffer.read(task, reads):
            _add(self._bytes, (kind, source, task, number), nbytes)
        for writer, readers, nbytes in buffer.written(unchanged):
            out = next((reader for reader in each(readers) if reader in self._copies_out), None)
            _add(self._again, (task, number, writer, out), nbytes)
        for lost, nbytes in buffer.unread(writes):
            if lost != task:
                _add(self._unread, (lost, number, task), nbytes)
        for kind, source, nbytes in buffer.write(task, writes):
            _add(self._bytes, (kind, source, task, number), nbytes)

    def _note_inputs(self, task: int, buffer: Buffer, reads: Pairs) -> None:
        found = self.inputs.setdefault(task, [])
        for writer, _, start, end in buffer.segments(reads):
            if found and found[-1][:2] == (buffer.number, writer) and found[-1][3] == start:
                start = found.pop()[2]
            found.append((buffer.number, writer, start, end))

    def finish(self) -> tuple[list[Flow], list[Unread], list[Again]]:
        """All flows, all bytes that nobody read, and all that were written again unchanged; ordered by target and
        task.
        """
        for number in sorted(self._buffers):
            self.remove(number)
        flows = [Flow(*key, nbytes) for key, nbytes in self._bytes.items()]
        unread = [Unread(task, number, nbytes, by) for (task, number, by), nbytes in self._unread.items()]
        again = [Again(*key, nbytes) for key, nbytes in self._again.items()]
        return (
            sorted(flows, key=lambda flow: (flow.target, flow.source, flow.kind, flow.buffer)),
            sorted(unread, key=lambda row: (row.task, row.buffer, _number(row.replaced_by))),
            sorted(again, key=lambda row: (row.task, row.buffer, row.writer, _number(row.copied_out_by))),
        )


def _number(task: int | None) -> int:
    return -1 if task is None else task


def _add(sums: dict, key: tuple, nbytes: int) -> None:
    sums[key] = sums.get(key, 0) + nbytes
