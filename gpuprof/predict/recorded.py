"""A recording on its reference chip, as far as predictions need it: launches and draws, and the command buffers that
they form.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.errors import NotComparable
from gpuprof.predict.draws.draw_records import read_draws, shaders_of
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.launch_counters import AGAIN, LaunchCounters, is_complete, read_counters, reference_chip

# Task rows with waits of the host. A stream waits for an event of another stream on its own row, and the host does not
# wait for copies to its page-locked memory, which are on their stream's.
HOST_ROWS = ("host", "default stream")


@dataclass(frozen=True)
class Buffer:
    """The launches and draws of a stream between two waits of the host, or of a named command buffer, by their indices
    among all launches and all draws.
    """

    name: str
    epoch: int  # number of waits of the host before it
    launches: tuple[int, ...]
    draws: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recorded:
    """`launches` excludes those of shaders, which are part of `draws`."""

    reference: Chip
    launches: tuple[LaunchCounters, ...]
    draws: tuple[RecordedDraw, ...]
    buffers: tuple[Buffer, ...]
    is_complete: bool  # not stopped early, after the last of these launches


def read_recorded(database: sqlite3.Connection) -> Recorded:
    """The launches and draws of a database. Raises NotComparable if nothing was launched, if the cycles are those of a
    real card, or if draws lack some of their numbers.
    """
    reference = reference_chip(database)
    counted = {counters.launch: counters for counters in read_counters(database)}
    shaders = shaders_of(database)
    epoch_of = epochs(database)
    if shaders and not reference.graphics:
        raise NotComparable(f"the recording has draws, and its chip, {reference.name}, draws nothing; {AGAIN}")
    draws = read_draws(database, shaders, counted, epoch_of)
    launches = tuple(counters for counters in counted.values() if counters.launch not in shaders)
    if not launches and not draws:
        raise NotComparable(f"the recording has no launches to predict; {AGAIN}")
    buffers = tuple(buffers_of(launches, draws, epoch_of, command_buffers(database)))
    return Recorded(reference, launches, draws, buffers, is_complete(database))


def epochs(database: sqlite3.Connection) -> dict[int, int]:
    """The number of waits of the host before each launch, counted up to the last launch."""
    epoch_of, waits = {}, 0
    for kind, row, launch in database.execute(
        "SELECT kind, r.name, launch FROM tasks JOIN task_rows r USING (row) WHERE is_virtual = 0 ORDER BY begin_order"
    ):
        waits += kind in ("copy to host", "wait") and row in HOST_ROWS
        if launch is not None:
            epoch_of[launch] = waits
    return epoch_of


class CommandBuffer(NamedTuple):
    """A command buffer of a script: its task and its name."""

    task: int
    name: str


def command_buffers(database: sqlite3.Connection) -> dict[int, CommandBuffer]:
    """The command buffer of each launch that is in one, by the launch's number."""
    rows = database.execute(
        "WITH RECURSIVE parts(task, buffer, name) AS ("
        "SELECT task, task, name FROM tasks WHERE kind = 'command buffer' "
        "UNION ALL SELECT t.task, parts.buffer, parts.name FROM tasks t JOIN parts ON t.parent = parts.task) "
        "SELECT launch, parts.buffer, parts.name FROM parts JOIN tasks USING (task) WHERE launch IS NOT NULL"
    )
    return {launch: CommandBuffer(task, name) for launch, task, name in rows}


class BufferKey(NamedTuple):
    """The identity of a command buffer: the same for all its launches and draws."""

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
    """The buffers of a recording. A draw is in the buffer of its vertex shader."""
    members: dict[BufferKey, tuple[list[int], list[int]]] = {}
    for index, counters in enumerate(launches):
        key = BufferKey(epoch_of.get(counters.launch, 0), counters.stream, named.get(counters.launch))
        members.setdefault(key, ([], []))[0].append(index)
    for index, draw in enumerate(draws):
        first = draw.launches["vertex"][0]
        members.setdefault(BufferKey(draw.epoch, first.stream, named.get(first.launch)), ([], []))[1].append(index)
    of_epochs = sorted(members.items(), key=lambda item: item[0][:2])  # and in the order in which they begin
    return [Buffer(key.shown, key.epoch, tuple(launched), tuple(drawn)) for key, (launched, drawn) in of_epochs]
