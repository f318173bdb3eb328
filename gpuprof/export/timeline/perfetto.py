"""A timeline as a Perfetto trace (github.com/google/perfetto, protos/perfetto/trace): opened by ui.perfetto.dev.

The trace has whole nanoseconds. The exact cycles are in the slices' arguments.
"""

import sqlite3
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from gpuprof.base.protobuf.encode import encode, key, sized, varint
from gpuprof.base.protobuf.message import LENGTH, Field, Message
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
VALUE_FIELDS: dict[type, str] = {float: "double_value", str: "string_value"}  # and integers, which are the most


def key_of(message: Message, name: str) -> bytes:
    """The bytes before a field's value."""
    field = message.fields[name]
    return key(field.number, field.wire)


# The same in all packets and events of their kinds.
MOST_KEPT = 1 << 16  # names and texts whose bytes are cached
MOST_UINT = (1 << 64) - 1
PACKET_HEAD = encode(PACKET, {"trusted_packet_sequence_id": SEQUENCE}) + key_of(PACKET, "timestamp")
PACKET_KEY, EVENT_KEY = key_of(TRACE, "packet"), key_of(PACKET, "track_event")
ANNOTATION_KEY, NUMBER_KEY = key_of(EVENT, "debug_annotations"), key_of(ANNOTATION, "int_value")
FLOWS_LEAVE, FLOWS_ARRIVE = (key(EVENT.fields[name].number, LENGTH) for name in ("flow_ids", "terminating_flow_ids"))
BEGIN_EVENT, END_EVENT = (encode(EVENT, {"type": kind}) for kind in (BEGIN, END))


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where nothing can be drawn."""
    timeline = timeline_of(database)
    with open(path, "wb") as file:
        write_timeline(timeline, file)


def write_timeline(timeline: Timeline, file: BinaryIO) -> None:
    uuids = {track.key: number for number, track in enumerate(timeline.tracks, PROCESS_UUID + 1)}
    for packet in descriptors(timeline, uuids):
        file.write(encode(TRACE, {"packet": [packet]}))
    file.writelines(slice_packets(timeline, uuids))
    file.writelines(point_packets(timeline, uuids))


def descriptors(timeline: Timeline, uuids: Mapping[str, int]) -> Iterator[dict[str, Any]]:
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


def slice_packets(timeline: Timeline, uuids: Mapping[str, int]) -> Iterator[bytes]:
    """There may be a million slices: what is the same in many of them is encoded once."""
    arrows = _Arrows(timeline)
    for track, slices in by_track(timeline).items():
        uuid = encode(EVENT, {"track_uuid": uuids[track]})
        begin, end = BEGIN_EVENT + uuid, END_EVENT + uuid
        for place, is_begin, cycle in edges(slices):
            event = end
            if is_begin:
                each = timeline.slices[place]
                facts = b"".join([_annotation(*fact) for fact in each.arguments.items()])
                event = begin + _name(each.name) + facts + arrows.of(place)
            yield _event_packet(nanoseconds(cycle, timeline), event)


def point_packets(timeline: Timeline, uuids: Mapping[str, int]) -> Iterator[bytes]:
    for track, cycle, value in timeline.points:
        event = encode(EVENT, {"type": COUNT, "track_uuid": uuids[track], "double_counter_value": value})
        yield _event_packet(nanoseconds(cycle, timeline), event)


class _Arrows:
    """The flows that leave slices and arrive at them, by the slices' places."""

    def __init__(self, timeline: Timeline):
        self._leaving: dict[int, list[int]] = {}
        self._arriving: dict[int, list[int]] = {}
        for number, (start, end) in enumerate(timeline.flows, 1):
            self._leaving.setdefault(start, []).append(number)
            self._arriving.setdefault(end, []).append(number)

    def of(self, place: int) -> bytes:
        leaving, arriving = self._leaving.get(place), self._arriving.get(place)
        return (_flows(FLOWS_LEAVE, leaving) if leaving else b"") + (
            _flows(FLOWS_ARRIVE, arriving) if arriving else b""
        )


def _flows(its_key: bytes, numbers: list[int]) -> bytes:
    return its_key + sized(struct.pack(f"<{len(numbers)}Q", *numbers))


def _event_packet(ns: int, event: bytes) -> bytes:
    return sized_as(PACKET_KEY, PACKET_HEAD + varint(ns) + sized_as(EVENT_KEY, event))


def sized_as(its_key: bytes, data: bytes) -> bytes:
    return its_key + varint(len(data)) + data


@lru_cache(MOST_KEPT)
def _name(text: str) -> bytes:
    return encode(EVENT, {"name": text})


def _annotation(name: str, value: int | float | str) -> bytes:
    if type(value) is int:
        return sized_as(ANNOTATION_KEY, _number_head(name) + varint(value & MOST_UINT))
    return _text_annotation(name, value) if type(value) is str else _other_annotation(name, value)


@lru_cache(MOST_KEPT)
def _number_head(name: str) -> bytes:
    """The bytes before the number."""
    return encode(ANNOTATION, {"name": name}) + NUMBER_KEY


def _other_annotation(name: str, value: float | str) -> bytes:
    return encode(EVENT, {"debug_annotations": [{"name": name, VALUE_FIELDS[type(value)]: value}]})


_text_annotation = lru_cache(MOST_KEPT)(_other_annotation)


def _packet(**fields: Any) -> dict[str, Any]:
    return {"trusted_packet_sequence_id": SEQUENCE} | fields


def nanoseconds(cycle: int, timeline: Timeline) -> int:
    return round(picoseconds(cycle, timeline.clock_mhz) / 1000)
