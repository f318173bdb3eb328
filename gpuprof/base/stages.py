"""The stages of work that are open, the outermost first, for displays of progress.

Work opens a stage and counts in it. Nothing here prints or waits, and no result depends on it. Any thread may read the
stages.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class Stage:
    """Work under way. `what`: "compiling saxpy.cu". `done` of `of` `unit` are complete; `of` is None where the number
    is not known in advance, `unit` is "" where nothing is counted.

    `each`: the unit in the singular, where the stages inside are the work of one of them ("launch 2 of 3").
    `look`: brings the numbers up to date; the display calls it.
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
_listeners: list[Callable[[], None]] = []


class stage:
    """A stage that is open inside the `with`."""

    def __init__(
        self,
        what: str,
        unit: str = "",
        of: int | None = None,
        *,
        each: str = "",
        look: Callable[[Stage], None] | None = None,
    ):
        self._made = Stage(what, unit, of, each, look)

    def __enter__(self) -> Stage:
        _open.append(self._made)
        return self._made

    def __exit__(self, *_) -> None:
        _open.remove(self._made)
        if not _open:
            for notify in _listeners:
                notify()


def counted(items: Sequence[T], what: str, unit: str) -> Iterator[T]:
    """The items, in a stage that counts those that are done with."""
    with stage(what, unit, len(items)) as under_way:
        for item in items:
            yield item
            under_way.done += 1


def open_stages() -> tuple[Stage, ...]:
    """The stages that are open, their numbers up to date."""
    stages = tuple(_open)
    for open_stage in stages:
        if open_stage.look:
            open_stage.look(open_stage)
    return stages


@contextmanager
def notified_when_idle(notify: Callable[[], None]) -> Iterator[None]:
    """Calls `notify` whenever the last open stage ends: from then on other output uses the screen."""
    _listeners.append(notify)
    try:
        yield
    finally:
        _listeners.remove(notify)
