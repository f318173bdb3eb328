"""The longest chain of tasks that need each other: no schedule is shorter, with each task as long as it is."""

from typing import NamedTuple

import numpy as np


class Path(NamedTuple):
    """Tasks from the first to the last, and the sum of their durations."""

    cycles: int
    tasks: tuple[int, ...]


class Needs:
    """Needs between tasks: pairs (before, after), each once. A task's number is greater than those before it."""

    def __init__(self, before: np.ndarray, after: np.ndarray):
        """int64 (m,), in any order; pairs may be there twice."""
        pairs = np.stack((before, after), axis=1)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        is_new = np.ones(len(pairs), bool)
        is_new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        self.before, self.after = np.ascontiguousarray(pairs[is_new].T)  # by the first, then by the second
        assert (self.before < self.after).all()

    def reaches(self, start: int, end: int) -> bool:
        """True if a chain of needs leads from one task to another."""
        seen, stack = {start}, [start]
        while stack:
            first, last = np.searchsorted(self.before, (stack[-1], stack.pop() + 1)).tolist()
            for target in self.after[first:last].tolist():
                if target == end:
                    return True
                if target < end and target not in seen:  # needs lead to greater numbers
                    seen.add(target)
                    stack.append(target)
        return False


def longest(tasks: np.ndarray, durations: np.ndarray, needs: Needs) -> Path:
    """The longest path. tasks, durations: int64 (n,), ascending numbers and cycles; needs of others do not count."""
    if not len(tasks):
        return Path(0, ())
    known = np.isin(needs.before, tasks) & np.isin(needs.after, tasks)
    order = np.lexsort((needs.before[known], needs.after[known]))
    source, target = (np.searchsorted(tasks, ends[known][order]) for ends in (needs.before, needs.after))
    starts, via = np.zeros(len(tasks), np.int64), np.full(len(tasks), -1, np.int64)
    start, last, cycles = map(memoryview, (starts, via, durations))  # Python's numbers, without a list of them
    for one, other in zip(memoryview(source), memoryview(target), strict=True):
        end = start[one] + cycles[one]
        if end > start[other]:
            start[other], last[other] = end, one
    ends = starts + durations
    chain = [int(ends.argmax())]
    while via[chain[-1]] >= 0:
        chain.append(int(via[chain[-1]]))
    return Path(int(ends.max()), tuple(tasks[list(reversed(chain))].tolist()))
