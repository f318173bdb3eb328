"""When tasks begin and end, in GPU cycles, and the time of their parts.

A launch has its own cycles, and so has a copy whose time is recorded. A wait takes no time, nor does another copy: it
happens when all that it waits for has ended. A task with parts runs from the first begin to the last end of these; a
command buffer from those that take time and are no copies, if any does: copies for its draws may happen long before the
GPU begins with it.

Tasks have numbers 0..n-1 in the order of their beginnings, so that a task's parent is before it: a forest, and one pass
from the last task to the first closes it. Virtual tasks contain further tasks by links. A task's cover is all that it
contains, however often: intervals of the forest's preorder, in which each task is followed by its parts. Work is
n log n, times the intervals that virtual tasks hand to those that contain them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

NEVER = -1  # instead of a cycle
NO_TASK = -1
LATEST = (1 << 63) - 1

Interval: TypeAlias = tuple[int, int]  # [first, end) of the preorder


class Leaves(NamedTuple):
    """When tasks ran by themselves. begin, end: int64 (n,), in GPU cycles; NEVER where a task has no time of its
    own.
    """

    begin: np.ndarray
    end: np.ndarray


class Spans(NamedTuple):
    """int64 (n,). begin, end: NEVER for a task without parts and cycles of its own. `own_cycles`: of the task itself;
    `parts_cycles`: of all that it is made of, each once, however they overlap.
    """

    begin: np.ndarray
    end: np.ndarray
    own_cycles: np.ndarray
    parts_cycles: np.ndarray


def happened(timed: Leaves, floors: np.ndarray, waits: Sequence[np.ndarray]) -> Leaves:
    """All leaves: those that are timed, and what takes no time, not before its floor: int64 (n,), NEVER for other
    tasks. waits: int64 (m,) each, the tasks waited for and those that wait, which come after them and ascend.
    """
    is_point = floors != NEVER
    ends = np.where(is_point, floors, timed.end)
    source, target = (tasks[is_point[waits[1]]] for tasks in waits)
    # A view of memory gives Python's numbers one by one: an array is slower, and a list five times as large.
    at = memoryview(ends)
    for one, other in zip(memoryview(source), memoryview(target), strict=True):
        if at[one] > at[other]:
            at[other] = at[one]
    return Leaves(np.where(is_point, ends, timed.begin), ends)


def spans(
    parents: np.ndarray, links: Sequence[np.ndarray], leaves: Leaves, is_buffer: np.ndarray, is_copy: np.ndarray
) -> Spans:
    """Every task's span. parents: int64 (n,), NO_TASK or a task before it. links: int64 (m,) each, tasks and those that
    they contain in addition to their parts. A task that contains a task that it is a part of is left out there.
    is_buffer, is_copy: bool (n,), command buffers, and copies, fills and host functions with a time.
    """
    forest = _Forest(parents, leaves)
    if len(links[0]):
        _Virtual(forest, parents, links, leaves).close_all()
    _take_up(forest, parents, is_buffer, is_copy)
    cycles = forest.sums - forest.own + forest.elsewhere
    return Spans(forest.begin, forest.end, forest.own, cycles)


class _Forest:
    """Spans of tasks and their parts. int64 (n,): begin, end; sums, of own cycles of a task and all its parts; sizes,
    their number; elsewhere, cycles of tasks that are contained by links.
    """

    def __init__(self, parents: np.ndarray, leaves: Leaves):
        self.own = leaves.end - leaves.begin
        self.begin, self.end = leaves.begin.copy(), leaves.end.copy()
        self.sums, self.sizes = self.own.copy(), np.ones_like(self.own)
        self.elsewhere = np.zeros_like(self.own)
        lows, highs = np.full_like(self.own, LATEST), np.full_like(self.own, NEVER)
        # most tasks have no parts: what they add to those above is added at once
        has_parts = np.zeros(len(self.own), bool)
        has_parts[parents[parents != NO_TASK]] = True
        parts = np.flatnonzero(~has_parts & (parents != NO_TASK))
        timed = parts[self.begin[parts] != NEVER]
        np.add.at(self.sums, parents[parts], self.own[parts])
        np.add.at(self.sizes, parents[parts], 1)
        np.minimum.at(lows, parents[timed], self.begin[timed])
        np.maximum.at(highs, parents[timed], self.end[timed])
        begin, end, sums, sizes, low, high, parent, own = map(
            memoryview, (self.begin, self.end, self.sums, self.sizes, lows, highs, parents, self.own)
        )
        for task in np.flatnonzero(has_parts)[::-1].tolist():
            if not own[task] and high[task] != NEVER:
                begin[task], end[task] = low[task], high[task]
            above = parent[task]
            if above != NO_TASK:
                sums[above] += sums[task]
                sizes[above] += sizes[task]
                if begin[task] != NEVER:
                    low[above] = min(low[above], begin[task])
                    high[above] = max(high[above], end[task])

    def preorder(self, parents: np.ndarray) -> np.ndarray:
        """int64 (n,): each task's position, with its parts after it."""
        order = np.argsort(parents, kind="stable")  # parts of one task follow each other
        before = np.cumsum(self.sizes[order]) - self.sizes[order]
        firsts = np.flatnonzero(np.diff(parents[order], prepend=NO_TASK - 1))
        counts = np.diff(np.append(firsts, len(order)))
        positions = np.empty_like(self.sizes)
        positions[order] = before - np.repeat(before[firsts], counts)  # among those of the task above
        positions[parents != NO_TASK] += 1
        # in each round twice as many of the tasks above each are added
        above, positions = np.append(parents, NO_TASK), np.append(positions, 0)
        while (above != NO_TASK).any():
            positions += positions[above]
            above = above[above]
        return positions[:-1]


def _take_up(forest: _Forest, parents: np.ndarray, is_buffer: np.ndarray, is_copy: np.ndarray) -> None:
    """Command buffers run from the first begin to the last end of the parts that take time and are no copies."""
    parts = np.flatnonzero((parents != NO_TASK) & (forest.end > forest.begin) & ~is_copy)
    parts = parts[is_buffer[parents[parts]]]
    buffers = parents[parts]
    forest.begin[buffers], forest.end[buffers] = LATEST, NEVER
    np.minimum.at(forest.begin, buffers, forest.begin[parts])
    np.maximum.at(forest.end, buffers, forest.end[parts])


class _Cover(NamedTuple):
    """Tasks that a task contains by links: ascending intervals with gaps between, and their cycles."""

    intervals: tuple[Interval, ...]
    cycles: int


NOTHING = _Cover((), 0)


class _Virtual:
    """Closes the tasks that contain others by links, and those that they are parts of: deepest first."""

    def __init__(self, forest: _Forest, parents: np.ndarray, links: Sequence[np.ndarray], leaves: Leaves):
        position = forest.preorder(parents)
        in_order = np.zeros_like(forest.own)
        in_order[position] = forest.own
        self.position, self.until, self.sizes, self.own, self.begin, self.end, self.elsewhere = map(
            memoryview,
            (
                position,
                np.concatenate(([0], np.cumsum(in_order))),  # cycles before each position
                *(forest.sizes, forest.own, forest.begin, forest.end, forest.elsewhere),
            ),
        )
        self.leaves = leaves
        self.covers: dict[int, _Cover | None] = {}  # of the tasks to be closed, None until they are
        for task in np.unique(links[0]).tolist():
            while task != NO_TASK and task not in self.covers:
                self.covers[task] = None
                task = int(parents[task])
        parts = np.flatnonzero(np.isin(parents, list(self.covers)))
        self.parts = _grouped(parents[parts], parts)
        self.linked = _grouped(*links)

    def close_all(self) -> None:
        seen: set[int] = set()
        for top in sorted(self.covers):
            stack = [(top, False)]
            while stack:
                task, is_done = stack.pop()
                if is_done:
                    self._close(task)
                elif task not in seen:
                    seen.add(task)
                    stack.append((task, True))
                    stack += [(part, False) for part in self._below(task) if part in self.covers and part not in seen]

    def _below(self, task: int) -> Iterable[int]:
        yield from self.parts.get(task, ())
        yield from self.linked.get(task, ())

    def _close(self, task: int) -> None:
        if not self.own[task]:
            times = [(self.begin[part], self.end[part]) for part in self._below(task) if self._has_time(part)]
            own = int(self.leaves.begin[task]), int(self.leaves.end[task])
            self.begin[task] = min((begin for begin, _ in times), default=own[0])
            self.end[task] = max((end for _, end in times), default=own[1])
        cover = self._cover(task)
        self.covers[task] = cover
        self.elsewhere[task] = cover.cycles

    def _has_time(self, task: int) -> bool:
        return self.begin[task] != NEVER and self.covers.get(task, NOTHING) is not None

    def _cover(self, task: int) -> _Cover:
        own = self._interval(task)
        handed = [cover for part in self._below(task) if (cover := self.covers.get(part)) and cover.intervals]
        linked = [self._interval(part) for part in self.linked.get(task, ())]
        if not linked and len(handed) == 1 and not any(_meet(interval, own) for interval in handed[0].intervals):
            return handed[0]
        covered = [interval for cover in handed for interval in cover.intervals]
        intervals = tuple(_without(own, _joined([*linked, *covered])))
        return _Cover(intervals, sum(self.until[end] - self.until[first] for first, end in intervals))

    def _interval(self, task: int) -> Interval:
        first = self.position[task]
        return first, first + self.sizes[task]


def _grouped(keys: np.ndarray, values: np.ndarray) -> dict[int, list[int]]:
    """The values of each key."""
    order = np.argsort(keys, kind="stable")
    unique, starts = np.unique(keys[order], return_index=True)
    ordered, bounds = values[order].tolist(), [*starts.tolist(), len(values)]
    return {key: ordered[first:end] for key, (first, end) in zip(unique.tolist(), pairwise(bounds), strict=True)}


def _joined(intervals: list[Interval]) -> Iterator[Interval]:
    """The union of the intervals: ascending, with gaps between."""
    intervals.sort()
    joined = intervals[:1]
    for first, end in intervals[1:]:
        if first > joined[-1][1]:
            joined.append((first, end))
        elif end > joined[-1][1]:
            joined[-1] = joined[-1][0], end
    yield from joined


def _without(cut: Interval, intervals: Iterable[Interval]) -> Iterator[Interval]:
    for first, end in intervals:
        for left, right in ((first, min(end, cut[0])), (max(first, cut[1]), end)):
            if left < right:
                yield left, right


def _meet(one: Interval, other: Interval) -> bool:
    return one[0] < other[1] and other[0] < one[1]
