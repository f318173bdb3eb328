"""A timeline as a Perfetto trace (github.com/google/perfetto, protos/perfetto/trace): opened by ui.perfetto.dev.

The trace has whole nanoseconds. The exact cycles are in the slices' arguments.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from gpuprof.base.protobuf.encode import encode
from gpuprof.base.protobuf.message import Field, Message
from gpuprof.export.timeline.launch_events import timeline_of
from gpuprof.export.timeline.timeline import Timeline, by_track, edges, picoseconds

COUNTER = Message("CounterDescriptor", {"unit_name": Field(6, "string")})
PROCESS = Message("ProcessDescriptor", {"pid": Field(1, "int"), "process_name": Field(6, "string")})
DESCRIPTOR = Message(
    "TrackDescriptor",
    {
        "uuid": Field(1, "uint"),
        "parent_uuid": Field(5, "uint"),
        "name": Field(2, "string"),
        "process": Field(3, PROCESS),
        "counter": Field(8, COUNTER),
        "child_ordering": Field(11, "uint"),
        "sibling_order_rank": Field(12, "int"),
    },
)
ANNOTATION = Message(
    "DebugAnnotation",
    {
        "name": Field(10, "string"),
        "int_value": Field(4, "int"),
        "double_value": Field(5, "double"),
        "string_value": Field(6, "string"),
    },
)
EVENT = Message(
    "TrackEvent",
    {
        "type": Field(9, "uint"),
        "track_uuid": Field(11, "uint"),
        "name": Field(23, "string"),
        "debug_annotations": Field(4, ANNOTATION, repeated=True),
        "double_counter_value": Field(44, "double"),
        "flow_ids": Field(47, "fixed64", repeated=True),
        "terminating_flow_ids": Field(48, "fixed64", repeated=True),
    },
)
PACKET = Message(
    "TracePacket",
    {
        "timestamp": Field(8, "uint"),
        "trusted_packet_sequence_id": Field(10, "uint"),
        "sequence_flags": Field(13, "uint"),
        "track_event": Field(11, EVENT),
        "track_descriptor": Field(60, DESCRIPTOR),
    },
)
TRACE = Message("Trace", {"packet": Field(1, PACKET, repeated=True)})

BEGIN, END, COUNT = 1, 2, 4  # TrackEvent.Type
EXPLICIT = 3  # TrackDescriptor.ChildTracksOrdering: by sibling_order_rank
INCREMENTAL_STATE_CLEARED = 1  # TracePacket.SequenceFlags
SEQUENCE = 1  # one writer
PROCESS_UUID = 1
VALUE_FIELDS: dict[type, str] = {int: "int_value", float: "double_value", str: "string_value"}


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where nothing can be drawn."""
    timeline = timeline_of(database)
    with open(path, "wb") as file:
        write_timeline(timeline, file)


def write_timeline(timeline: Timeline, file: BinaryIO) -> None:
    for packet in packets(timeline):
        file.write(encode(TRACE, {"packet": [packet]}))


def packets(timeline: Timeline) -> Iterator[dict[str, Any]]:
    uuids = {track.key: number for number, track in enumerate(timeline.tracks, PROCESS_UUID + 1)}
    whole = {
        "uuid": PROCESS_UUID,
        "process": {"pid": 1, "process_name": timeline.process},
        "child_ordering": EXPLICIT,
    }
    yield _packet(sequence_flags=INCREMENTAL_STATE_CLEARED)  # the same bytes in every file: its mark
    yield _packet(track_descriptor=whole)
    for rank, track in enumerate(timeline.tracks):
        parent = uuids[track.parent] if track.parent else PROCESS_UUID
        own = {"uuid": uuids[track.key], "parent_uuid": parent, "name": track.name}
        kind = {"child_ordering": EXPLICIT} if track.unit is None else {"counter": {"unit_name": track.unit}}
        yield _packet(track_descriptor=own | kind | {"sibling_order_rank": rank})
    yield from _slice_packets(timeline, uuids)
    for track, cycle, value in timeline.points:
        event = {"type": COUNT, "track_uuid": uuids[track], "double_counter_value": value}
        yield _packet(timestamp=nanoseconds(cycle, timeline), track_event=event)


def _slice_packets(timeline: Timeline, uuids: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    leaving: dict[int, list[int]] = {}
    arriving: dict[int, list[int]] = {}
    for number, flow in enumerate(timeline.flows, 1):
        leaving.setdefault(flow.start, []).append(number)
        arriving.setdefault(flow.end, []).append(number)
    for track, slices in by_track(timeline).items():
        for place, is_begin, cycle in edges(slices):
            event: dict[str, Any] = {"type": BEGIN if is_begin else END, "track_uuid": uuids[track]}
            if is_begin:
                event["name"] = timeline.slices[place].name
                event["debug_annotations"] = [
                    {"name": name, VALUE_FIELDS[type(value)]: value}
                    for name, value in timeline.slices[place].arguments.items()
                ]
                event |= {"flow_ids": leaving[place]} if place in leaving else {}
                event |= {"terminating_flow_ids": arriving[place]} if place in arriving else {}
            yield _packet(timestamp=nanoseconds(cycle, timeline), track_event=event)


def _packet(**fields: Any) -> dict[str, Any]:
    return {"trusted_packet_sequence_id": SEQUENCE} | fields


def nanoseconds(cycle: int, timeline: Timeline) -> int:
    return round(picoseconds(cycle, timeline.clock_mhz) / 1000)
