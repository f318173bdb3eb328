"""A trace for ui.perfetto.dev: a track for each row, a slice for each task, an arrow for each flow of data.

The messages and their fields are those of protos/perfetto/trace in github.com/google/perfetto. A row whose tasks
overlap has several tracks. Times are nanoseconds at the chip's clock.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.correlate.task_queries import Tasks, needs, read_tasks
from gpuprof.errors import NotComparable
from gpuprof.export.protobuf import fixed64, message, number, text

# Fields.
PACKET = 1  # of Trace
TIMESTAMP, SEQUENCE, TRACK_EVENT, TRACK_DESCRIPTOR = 8, 10, 11, 60  # of TracePacket
UUID, TRACK_NAME = 1, 2  # of TrackDescriptor
ANNOTATION, TYPE, TRACK_UUID, CATEGORY, NAME, FLOW, FLOW_END = 4, 9, 11, 22, 23, 47, 48  # of TrackEvent
ANNOTATION_UINT, ANNOTATION_NAME = 3, 10  # of DebugAnnotation
BEGIN, END, INSTANT = 1, 2, 3  # of TrackEvent.Type

NO_TASKS = "nothing to export: no task of the file has cycles; collect again"


class Event(NamedTuple):
    """`order` keeps events of one time apart as they have to be read."""

    nanoseconds: int
    order: tuple
    fields: bytes


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where no task has cycles."""
    tasks = read_tasks(database)
    if not (tasks.columns["begin_cycle"] >= 0).any():
        raise NotComparable(NO_TASKS)
    (chip,) = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    clock_mhz = float(json.loads(chip).get("clock_mhz", 1000))
    with open(path, "wb") as file:
        for packet in packets(tasks, needs(database), clock_mhz):
            file.write(packet)


def packets(tasks: Tasks, edges: list[tuple[int, int]], clock_mhz: float) -> Iterator[bytes]:
    lanes = list(tracks(tasks))
    for uuid, (name, _) in enumerate(lanes, 1):
        yield packet([message(TRACK_DESCRIPTOR, [number(UUID, uuid), text(TRACK_NAME, name)])])
    flows: dict[int, list[bytes]] = {}
    for flow, (source, target) in enumerate(edges, 1):
        flows.setdefault(source, []).append(fixed64(FLOW, flow))
        flows.setdefault(target, []).append(fixed64(FLOW_END, flow))
    events = [
        event for uuid, (_, places) in enumerate(lanes, 1) for event in events_of(tasks, places, uuid, flows, clock_mhz)
    ]
    for event in sorted(events, key=lambda event: event[:2]):
        yield packet([number(TIMESTAMP, event.nanoseconds), message(TRACK_EVENT, [event.fields])])


def packet(parts: list[bytes]) -> bytes:
    return message(PACKET, [*parts, number(SEQUENCE, 1)])


def tracks(tasks: Tasks) -> Iterator[tuple[str, list[int]]]:
    """(name, rows of Tasks) of each track: of a row of tasks the first track that it fits into, where slices are inside
    each other or apart.
    """
    by_row: dict[str, list[int]] = {}
    for place in range(len(tasks)):
        if tasks.value("begin_cycle", place) >= 0:
            name = "virtual" if tasks.value("is_virtual", place) else tasks.row(place)
            by_row.setdefault(name, []).append(place)
    for name, places in by_row.items():
        places.sort(key=lambda place: (tasks.value("begin_cycle", place), -tasks.value("end_cycle", place), place))
        lanes: list[list[int]] = []
        open_: list[list[int]] = []  # ends of the slices that are open, by lane
        for place in places:
            begin, end = tasks.value("begin_cycle", place), tasks.value("end_cycle", place)
            lane = next((k for k, ends in enumerate(open_) if _fits(ends, begin, end)), len(lanes))
            if lane == len(lanes):
                lanes.append([])
                open_.append([])
            lanes[lane].append(place)
            if end > begin:
                open_[lane].append(end)
        yield from ((f"{name} ({k})" if k else name, lane) for k, lane in enumerate(lanes))


def _fits(ends: list[int], begin: int, end: int) -> bool:
    while ends and ends[-1] <= begin:
        ends.pop()
    return not ends or end <= ends[-1]


def events_of(
    tasks: Tasks, places: list[int], uuid: int, flows: dict[int, list[bytes]], clock_mhz: float
) -> Iterator[Event]:
    for place in places:
        task, begin, end = (tasks.value(name, place) for name in ("task", "begin_cycle", "end_cycle"))
        told = [
            number(TRACK_UUID, uuid),
            text(CATEGORY, tasks.kind(place)),
            text(NAME, tasks.name(place)),
            *(annotation(name, tasks.value(name, place)) for name in ("task", "own_cycles", "parts_cycles")),
            *flows.get(task, ()),
        ]
        start, stop = (int(cycle * 1000 / clock_mhz) for cycle in (begin, end))
        if begin == end:
            yield Event(start, (1, task), b"".join([number(TYPE, INSTANT), *told]))
        else:
            # of one time: inner ends first, then outer begins
            yield Event(start, (1, task), b"".join([number(TYPE, BEGIN), *told]))
            yield Event(stop, (0, -begin, -task), number(TYPE, END) + number(TRACK_UUID, uuid))


def annotation(name: str, value: int) -> bytes:
    return message(ANNOTATION, [number(ANNOTATION_UINT, value), text(ANNOTATION_NAME, name)])
