"""When tasks begin and end, in GPU cycles, and the time of their parts.

A launch has its own cycles. A copy or a wait takes no time: it happens when all that it waits for has ended. A task
with parts runs from the first begin to the last end of these.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """`own_cycles`: of the task itself; `parts_cycles`: of all that it is made of, each once, however they overlap."""

    begin: int
    end: int
    own_cycles: int
    parts_cycles: int


class Leaf(NamedTuple):
    begin: int
    end: int


def happened(
    floors: Mapping[int, int], launches: Mapping[int, Leaf], waits: Iterable[tuple[int, int]]
) -> dict[int, Leaf]:
    """All leaves: launches, and what takes no time, not before its floor. waits: (waited for, waiting)."""
    sources: dict[int, list[int]] = {}
    for source, target in waits:
        if target in floors:
            sources.setdefault(target, []).append(source)
    found = dict(launches)
    for task in sorted(floors):  # what is waited for was asked for before
        ends = [found[source].end for source in sources.get(task, ()) if source in found]
        cycle = max([floors[task], *ends])
        found[task] = Leaf(cycle, cycle)
    return found


def spans(tasks: Sequence[int], parts: Mapping[int, Sequence[int]], leaves: Mapping[int, Leaf]) -> dict[int, Span]:
    """Every task's span. A task without parts or cycles of its own is left out."""
    found: dict[int, Span] = {}
    for task in tasks:
        if task not in parts and task in leaves:  # most of them
            leaf = leaves[task]
            found[task] = Span(leaf.begin, leaf.end, leaf.end - leaf.begin, 0)
    # A part may be reached in several ways; trees, whose sums are quick, are the usual case.
    owners: dict[int, int] = {}
    for those in parts.values():
        for part in those:
            owners[part] = owners.get(part, 0) + 1
    shared = any(count > 1 for count in owners.values())
    for task in parts:
        _close(task, parts, leaves, found)
    if shared:
        for task in parts:
            if task in found:
                below = _below(task, parts)
                found[task] = found[task]._replace(
                    parts_cycles=sum(found[each].own_cycles for each in below & found.keys())
                )
    return found


def _close(top: int, parts: Mapping[int, Sequence[int]], leaves: Mapping[int, Leaf], found: dict[int, Span]) -> None:
    """Fills the spans of a task and all its parts, deepest first. A part that contains what it is a part of is left
    out there.
    """
    stack, open_ = [(top, False)], set()
    while stack:
        task, is_done = stack.pop()
        if is_done:
            open_.discard(task)
            _put(task, parts, leaves, found)
        elif task not in found and task not in open_:
            open_.add(task)
            stack.append((task, True))
            stack += [(part, False) for part in parts.get(task, ())]


def _put(task: int, parts: Mapping[int, Sequence[int]], leaves: Mapping[int, Leaf], found: dict[int, Span]) -> None:
    below = [found[part] for part in parts.get(task, ()) if part in found]
    own = leaves.get(task)
    each = [(span.begin, span.end) for span in below] if own is None or (below and own.begin == own.end) else [own]
    if not each:
        return
    own_cycles = own.end - own.begin if own else 0
    total = sum(span.own_cycles + span.parts_cycles for span in below)
    found[task] = Span(min(begin for begin, _ in each), max(end for _, end in each), own_cycles, total)


def _below(task: int, parts: Mapping[int, Sequence[int]]) -> set[int]:
    """All parts of a task and of its parts, without the task."""
    found: set[int] = set()
    stack = [*parts[task]]
    while stack:
        part = stack.pop()
        if part not in found and part != task:
            found.add(part)
            stack += parts.get(part, ())
    return found
