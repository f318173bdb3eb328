"""A recording on its reference chip, as far as predictions need it: launches and draws, and the command buffers they
make.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.errors import NotComparable
from gpuprof.predict.draws.draw_records import read_draws, shaders_of
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.launch_counters import AGAIN, LaunchCounters, is_whole, read_counters, reference_chip

HOST_ROWS = ("host", "default stream")  # of waits of the host; a stream waits for another one's event on its own row


@dataclass(frozen=True)
class Buffer:
    """What a stream has between two waits of the host, or a command buffer that was named: its launches and draws, by
    their places among all launches and all draws.
    """

    name: str
    epoch: int  # waits of the host before it
    launches: tuple[int, ...]
    draws: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recorded:
    """`launches`: without those of draws' shaders, which `draws` have."""

    reference: Chip
    launches: tuple[LaunchCounters, ...]
    draws: tuple[RecordedDraw, ...]
    buffers: tuple[Buffer, ...]
    is_whole: bool  # not stopped early, after the last of these launches


def read_recorded(database: sqlite3.Connection) -> Recorded:
    """Raises NotComparable where nothing was launched, where the cycles are a card's own, or of draws that lack
    something.
    """
    reference = reference_chip(database)
    counted = {each.launch: each for each in read_counters(database)}
    shaders = shaders_of(database)
    epoch_of = epochs(database)
    if shaders and not reference.graphics:
        raise NotComparable(f"the recording has draws, and its chip, {reference.name}, draws nothing; {AGAIN}")
    draws = read_draws(database, shaders, counted, epoch_of)
    launches = tuple(each for each in counted.values() if each.launch not in shaders)
    if not launches and not draws:
        raise NotComparable(f"the recording has no launches to predict; {AGAIN}")
    buffers = tuple(buffers_of(launches, draws, epoch_of, command_buffers(database)))
    return Recorded(reference, launches, draws, buffers, is_whole(database))


def epochs(database: sqlite3.Connection) -> dict[int, int]:
    """Waits of the host before each launch, until all launches have ended."""
    found, waits = {}, 0
    for kind, row, launch in database.execute(
        "SELECT kind, r.name, launch FROM tasks JOIN task_rows r USING (row) WHERE is_virtual = 0 ORDER BY begin_order"
    ):
        waits += kind == "copy to host" or (kind == "wait" and row in HOST_ROWS)
        if launch is not None:
            found[launch] = waits
    return found


class CommandBuffer(NamedTuple):
    """One of a script's: its task, and its name."""

    task: int
    name: str


def command_buffers(database: sqlite3.Connection) -> dict[int, CommandBuffer]:
    """Of each launch in a command buffer of a script's, by number."""
    rows = database.execute(
        "WITH RECURSIVE parts(task, buffer, name) AS ("
        "SELECT task, task, name FROM tasks WHERE kind = 'command buffer' "
        "UNION ALL SELECT t.task, parts.buffer, parts.name FROM tasks t JOIN parts ON t.parent = parts.task) "
        "SELECT launch, parts.buffer, parts.name FROM parts JOIN tasks USING (task) WHERE launch IS NOT NULL"
    )
    return {launch: CommandBuffer(task, name) for launch, task, name in rows}


class Place(NamedTuple):
    """What makes a command buffer: the same for all its launches and draws."""

    epoch: int
    stream: int
    buffer: CommandBuffer | None  # None outside of any

    @property
    def shown(self) -> str:
        waits = f" after {self.epoch} wait{'s' * (self.epoch > 1)}" if self.epoch else ""
        return (self.buffer.name if self.buffer else f"stream {self.stream}") + waits


def buffers_of(
    launches: Sequence[LaunchCounters],
    draws: Sequence[RecordedDraw],
    epoch_of: dict[int, int],
    named: dict[int, CommandBuffer],
) -> list[Buffer]:
    """A draw is where its vertex shader is."""
    found: dict[Place, tuple[list[int], list[int]]] = {}
    for place, each in enumerate(launches):
        at = Place(epoch_of.get(each.launch, 0), each.stream, named.get(each.launch))
        found.setdefault(at, ([], []))[0].append(place)
    for place, draw in enumerate(draws):
        first = draw.launches["vertex"][0]
        found.setdefault(Place(draw.epoch, first.stream, named.get(first.launch)), ([], []))[1].append(place)
    of_epochs = sorted(found.items(), key=lambda item: item[0][:2])  # and in the order in which they begin
    return [Buffer(at.shown, at.epoch, tuple(there), tuple(drawn)) for at, (there, drawn) in of_epochs]
