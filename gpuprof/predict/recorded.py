"""A recording on its reference chip, as far as predictions need it: launches, and the command buffers they make."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof.chips import Chip
from gpuprof.errors import NotComparable
from gpuprof.predict.counters import AGAIN, LaunchCounters, is_whole, read_counters, reference_chip

HOST_ROWS = ("host", "default stream")  # of waits of the host; a stream waits for another one's event on its own row


@dataclass(frozen=True)
class Buffer:
    """The launches of a stream between two waits of the host, by their places among all launches."""

    name: str
    epoch: int  # waits of the host before it
    launches: tuple[int, ...]


@dataclass(frozen=True)
class Recorded:
    reference: Chip
    launches: tuple[LaunchCounters, ...]
    buffers: tuple[Buffer, ...]
    is_whole: bool  # not stopped early, after the last of these launches


def read_recorded(database: sqlite3.Connection) -> Recorded:
    """Raises NotComparable where nothing was launched, or where the cycles are a card's own."""
    reference = reference_chip(database)
    launches = tuple(read_counters(database))
    if not launches:
        raise NotComparable(f"the recording has no launches to predict; {AGAIN}")
    return Recorded(reference, launches, tuple(buffers_of(launches, epochs(database))), is_whole(database))


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


def _name(stream: int, epoch: int) -> str:
    return f"stream {stream} after {epoch} wait{'s' * (epoch > 1)}" if epoch else f"stream {stream}"


def buffers_of(launches: Sequence[LaunchCounters], epoch_of: dict[int, int]) -> list[Buffer]:
    found: dict[tuple[int, int], list[int]] = {}
    for place, each in enumerate(launches):
        found.setdefault((epoch_of.get(each.launch, 0), each.stream), []).append(place)
    return [Buffer(_name(stream, epoch), epoch, tuple(places)) for (epoch, stream), places in sorted(found.items())]
