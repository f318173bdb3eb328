"""What the program is doing, for whoever shows it: the stages that are open, the outermost first.

Work opens a stage and counts in it. Nothing here prints or waits, and nobody's results depend on it. Any thread may
look.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class Stage:
    """Work under way. `what`: "compiling saxpy.cu". `done` of `of` `unit` are over; `of` is None where nobody knows how
    many there will be, `unit` is "" where nothing is counted.

    `each`: the unit in the singular, where the stages inside are the work of one of them ("launch 2 of 3").
    `look`: brings the numbers up to date; whoever shows them calls it.
    `cycles`, `warp_instructions`: done so far; 0 where they mean nothing. `place`: what runs now, "spin.cu:7".
    `since`: time.monotonic() of its beginning.
    """

    what: str
    unit: str = ""
    of: int | None = None
    each: str = ""
    look: "Callable[[Stage], None] | None" = None
    done: int = 0
    failed: int = 0
    cycles: int = 0
    warp_instructions: int = 0
    place: str = ""
    since: float = field(default_factory=time.monotonic)


_open: list[Stage] = []
_told: list[Callable[[], None]] = []


@contextmanager
def stage(
    what: str,
    unit: str = "",
    of: int | None = None,
    *,
    each: str = "",
    look: Callable[[Stage], None] | None = None,
) -> Iterator[Stage]:
    """A stage that is open inside the `with`."""
    made = Stage(what, unit, of, each, look)
    _open.append(made)
    try:
        yield made
    finally:
        _open.remove(made)
        if not _open:
            for tell in _told:
                tell()


def counted(items: Sequence[T], what: str, unit: str) -> Iterator[T]:
    """The items, in a stage that counts those that are done with."""
    with stage(what, unit, len(items)) as under_way:
        for item in items:
            yield item
            under_way.done += 1


def open_stages() -> tuple[Stage, ...]:
    """The stages that are open, their numbers up to date."""
    stages = tuple(_open)
    for each in stages:
        if each.look:
            each.look(each)
    return stages


@contextmanager
def told_when_idle(tell: Callable[[], None]) -> Iterator[None]:
    """Calls `tell` whenever the last open stage ends: then the screen belongs to somebody else."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)
