"""The longest chain of tasks that need each other: no schedule is shorter, with each task as long as it is."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Path(NamedTuple):
    """Tasks from the first to the last, and the sum of their durations."""

    cycles: int
    tasks: tuple[int, ...]


def longest(durations: Mapping[int, int], edges: Iterable[tuple[int, int]]) -> Path:
    """The longest path. edges: (before, after), of tasks with a duration; each task's number is greater than those of
    the tasks before it.
    """
    before: dict[int, list[int]] = {}
    for source, target in edges:
        assert source < target, (source, target)
        before.setdefault(target, []).append(source)
    ends: dict[int, int] = {}
    via: dict[int, int] = {}
    for task in sorted(durations):
        start = 0
        for source in sorted(before.get(task, ())):
            if ends[source] > start:
                start, via[task] = ends[source], source
        ends[task] = start + durations[task]
    if not ends:
        return Path(0, ())
    last = min(ends, key=lambda task: (-ends[task], task))
    chain = [last]
    while chain[-1] in via:
        chain.append(via[chain[-1]])
    return Path(ends[last], tuple(reversed(chain)))


def reaches(start: int, end: int, after: Mapping[int, Iterable[int]]) -> bool:
    """Whether a chain of edges leads from one task to another. `after`: the targets of each task's edges; those beyond
    `end` are not followed, as edges lead to greater numbers.
    """
    seen, stack = {start}, [start]
    while stack:
        for target in after.get(stack.pop(), ()):
            if target == end:
                return True
            if target < end and target not in seen:
                seen.add(target)
                stack.append(target)
    return False
