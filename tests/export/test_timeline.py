"""Launches over time: tracks, counters and flows, and both formats that have them."""

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gpuprof.base.protobuf.decode import decode
from gpuprof.correlate.database import ensure_database
from gpuprof.export.timeline.launch_events import levels, timeline_of
from gpuprof.export.timeline.perfetto import BEGIN, END, TRACE, write_timeline
from gpuprof.export.timeline.timeline import Edge, Flow, Point, Slice, Timeline, Track, edges, lanes
from gpuprof.isa.stalls import INDEX
from tests.support.command import gpuprof
from tests.support.program_recording import write_program
from tests.support.report_database import make_database
from tests.support.tools import module

# Two launches on one stream, of 2 cycles a nanosecond, the second within the first; a flow between them; a counter.
SMALL = Timeline(
    "chip",
    2000.0,
    (Track("s", "streams"), Track("s.0", "stream 0", "s"), Track("c", "warps", None, "warps")),
    (Slice("s.0", "outer", 0, 4000, {"launch": 0}), Slice("s.0", "inner", 1000, 3000, {"x": 0.5, "text": "a"})),
    (Point("c", 0, 1.5), Point("c", 4000, 0.0)),
    (Flow(0, 1),),
)


def test_a_perfetto_trace():
    file = io.BytesIO()
    write_timeline(SMALL, file)
    packets = decode(TRACE, file.getvalue())["packet"]
    assert all(packet.pop("trusted_packet_sequence_id") == 1 for packet in packets)
    descriptors = [packet.pop("track_descriptor") for packet in packets if "track_descriptor" in packet]
    assert descriptors == [
        {"uuid": 1, "process": {"pid": 1, "process_name": "chip"}, "child_ordering": 3},
        {"uuid": 2, "parent_uuid": 1, "name": "streams", "child_ordering": 3, "sibling_order_rank": 0},
        {"uuid": 3, "parent_uuid": 2, "name": "stream 0", "child_ordering": 3, "sibling_order_rank": 1},
        {"uuid": 4, "parent_uuid": 1, "name": "warps", "counter": {"unit_name": "warps"}, "sibling_order_rank": 2},
    ]
    none = {"debug_annotations": [], "flow_ids": [], "terminating_flow_ids": []}
    events = [(packet["timestamp"], packet["track_event"]) for packet in packets if packet.get("track_event")]
    assert events == [
        (0, none | {"type": BEGIN, "track_uuid": 3, "name": "outer", "flow_ids": [1],
            "debug_annotations": [{"name": "launch", "int_value": 0}]}),
        (500, none | {"type": BEGIN, "track_uuid": 3, "name": "inner", "terminating_flow_ids": [1],
            "debug_annotations": [{"name": "x", "double_value": 0.5}, {"name": "text", "string_value": "a"}]}),
        (1500, none | {"type": END, "track_uuid": 3}),
        (2000, none | {"type": END, "track_uuid": 3}),
        (0, none | {"type": 4, "track_uuid": 4, "double_counter_value": 1.5}),
        (2000, none | {"type": 4, "track_uuid": 4, "double_counter_value": 0.0}),
    ]  # fmt: skip


def test_perfettos_own_schema_reads_it():
    """The schema in the wheel `perfetto` is the project's own; no field of ours may be unknown to it."""
    schema = module("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "tools-python")
    file = io.BytesIO()
    write_timeline(SMALL, file)
    trace = schema.Trace.FromString(file.getvalue())
    whole = trace.SerializeToString(deterministic=True)
    trace.DiscardUnknownFields()
    assert trace.SerializeToString(deterministic=True) == whole and len(trace.packet) == 11
    event = schema.TrackEvent
    slices = [
        (packet.timestamp, event.Type.Name(packet.track_event.type), packet.track_event.name)
        for packet in trace.packet
        if packet.HasField("track_event") and packet.track_event.type != event.TYPE_COUNTER
    ]
    assert slices == [
        (0, "TYPE_SLICE_BEGIN", "outer"),
        (500, "TYPE_SLICE_BEGIN", "inner"),
        (1500, "TYPE_SLICE_END", ""),
        (2000, "TYPE_SLICE_END", ""),
    ]
    counts = [packet.track_event.double_counter_value for packet in trace.packet if packet.track_event.type == 4]
    assert counts == [1.5, 0.0]
    assert trace.packet[3].track_descriptor.child_ordering == schema.TrackDescriptor.EXPLICIT


def test_slices_close_what_was_opened_last_first():
    slices = [Slice("t", name, *span) for name, span in (("a", (0, 9)), ("b", (0, 5)), ("c", (5, 5)), ("d", (5, 9)))]
    found = [(slices[place].name, is_begin, cycle) for place, is_begin, cycle in edges(enumerate(slices))]
    assert found == [
        ("a", True, 0), ("b", True, 0), ("b", False, 5), ("d", True, 5), ("c", True, 5), ("c", False, 5),
        ("d", False, 9), ("a", False, 9),
    ]  # fmt: skip
    assert list(edges([])) == [] and Edge(0, True, 0)


@pytest.mark.parametrize(
    "spans, expected",
    [
        ([(0, 5), (5, 9), (9, 12)], [0, 0, 0]),
        ([(0, 9), (2, 5), (5, 9)], [0, 0, 0]),  # inside each other
        ([(0, 5), (3, 9), (4, 6), (5, 7)], [0, 1, 1, 0]),  # crossing
        ([(0, 5), (1, 6), (2, 7)], [0, 1, 2]),
    ],
)
def test_spans_that_cross_are_in_lanes_of_their_own(spans, expected):
    assert lanes(spans) == expected


def test_levels_add_up_while_launches_are_under_way():
    of = levels([(0, 10), (5, 20), (20, 30)])
    assert list(of([1.0, 2.0, 4.0])) == [(0, 1.0), (5, 3.0), (10, 2.0), (20, 4.0), (30, 0)]


def test_a_database_as_a_timeline(tmp_path):
    """Two launches of 5,000 cycles; warps and DRAM as their ledger and metrics say: 184,720 / 2 warp-cycles in each."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO launch_metrics VALUES (1, 'parent', 0)")
        db.execute("UPDATE launches SET task = 'step/one' WHERE launch = 1")
        found = timeline_of(db)
    assert (found.process, found.clock_mhz) == ("a100", 1410.0)
    assert [(track.name, track.parent, track.unit) for track in found.tracks] == [
        ("streams", None, None), ("stream 0", "streams", None), ("warps, by state", None, None),
        ("drain", "warps", "warps"), ("lg_throttle", "warps", "warps"), ("long_scoreboard", "warps", "warps"),
        ("selected", "warps", "warps"), ("wait", "warps", "warps"), ("active SMs", None, "SMs"),
        ("DRAM", None, "MB/s"),
    ]  # fmt: skip
    shown = {"text": "transpose_naive<<<(4, 4), (32, 8)>>>", "cycles": 5000, "samples": 916}
    assert [(each.start, each.end, each.arguments) for each in found.slices] == [
        (1000, 6000, {"launch": 0, "start_cycle": 1000} | shown),
        (7000, 12000, {"launch": 1, "start_cycle": 7000, "task": "step/one"} | shown),
    ]
    assert found.flows == (Flow(0, 1),)
    warps = sum(point.value for point in found.points if point.cycle == 1000 and point.track.startswith("warps."))
    assert warps == pytest.approx(92_360 / 5000)
    assert [point for point in found.points if point.track == "sms"] == [
        Point("sms", 1000, 1.6), Point("sms", 6000, 0), Point("sms", 7000, 1.6), Point("sms", 12000, 0),
    ]  # fmt: skip
    dram = next(point.value for point in found.points if point.track == "dram")
    assert dram == pytest.approx(131_072 / (5000 / 1410))  # bytes in a microsecond


def test_counters_over_time(tmp_path):
    """Two bins of launch 0, of 2,000 and 3,000 cycles; launch 1 has none, and is one stretch."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        selected, wait = INDEX["selected"], INDEX["wait"]
        db.executemany("INSERT INTO activity VALUES (0, ?, ?, ?, ?)", [(0, 1000, 3000, 4000), (1, 3000, 6000, 1500)])
        rows = [(0, selected, 100), (0, wait, 8000), (1, wait, 600)]
        db.executemany("INSERT INTO activity_stalls VALUES (0, ?, ?, ?)", rows)
        found = timeline_of(db)
    assert [point for point in found.points if point.track == "sms"] == [
        Point("sms", 1000, 2.0), Point("sms", 3000, 0.5), Point("sms", 6000, 0),
        Point("sms", 7000, 1.6), Point("sms", 12000, 0),
    ]  # fmt: skip
    waits = [point for point in found.points if point.track == "warps.wait"]
    assert waits[:3] == [
        Point("warps.wait", 1000, 4.0), Point("warps.wait", 3000, 0.2), Point("warps.wait", 6000, 0)
    ]  # fmt: skip
    assert [point.value for point in found.points if point.track == "warps.selected"][:3] == [0.05, 0, 0]


CHROME = """\
{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"a100"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"stream 0"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":2}},
{"ph":"X","pid":1,"tid":2,"name":"transpose_naive","ts":0.70922,"dur":3.546099,"args":{"launch":0,\
"text":"transpose_naive<<<(4, 4), (32, 8)>>>","start_cycle":1000,"cycles":5000,"samples":0}},
{"ph":"X","pid":1,"tid":2,"name":"transpose_naive","ts":4.964539,"dur":3.546099,"args":{"launch":1,\
"text":"transpose_naive<<<(4, 4), (32, 8)>>>","start_cycle":7000,"cycles":5000,"samples":0}},
{"ph":"s","pid":1,"tid":2,"name":"flow","cat":"flow","id":1,"ts":0.70922},
{"ph":"f","pid":1,"tid":2,"name":"flow","cat":"flow","id":1,"ts":4.964539,"bp":"e"},
{"ph":"C","pid":1,"name":"active SMs","ts":0.70922,"args":{"SMs":1.6}},
{"ph":"C","pid":1,"name":"active SMs","ts":4.255319,"args":{"SMs":0}},
{"ph":"C","pid":1,"name":"active SMs","ts":4.964539,"args":{"SMs":1.6}},
{"ph":"C","pid":1,"name":"active SMs","ts":8.510638,"args":{"SMs":0}}
]}
"""


def test_a_chrome_trace(tmp_path):
    path = make_database(tmp_path / "t.gpudb", with_ledger=False, with_samples=False)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO launch_metrics VALUES (1, 'parent', 0)")
        db.execute("DELETE FROM launch_metrics WHERE metric LIKE 'dram%'")
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "t.trace.json") == (0, "", "")
    text = (tmp_path / "t.trace.json").read_text()
    assert text == CHROME and json.loads(text)


@pytest.mark.parametrize("output", ["t.pftrace", "t.trace.json"])
def test_nothing_has_ended(tmp_path, output):
    make_database(tmp_path / "t.gpudb", complete=False)
    error = "gpuprof: nothing to draw: no launch of the file has an end; collect again\n"
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", output) == (4, "", error)


def test_names_are_text(tmp_path):
    make_database(tmp_path / "t.gpudb", kernel='a"<script>\x1b\n')
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", "t.trace.json")[0] == 0
    events = json.loads(Path(tmp_path, "t.trace.json").read_text())["traceEvents"]
    assert {event["name"] for event in events if event["ph"] == "X"} == {'a"<script>\\x1b\\x0a'}


# Tracks, and slices as (track, name, start, end), of tests/support/program_recording.py.
TRACKS_OF_PROGRAM = [
    ("tasks", "tasks", None),
    ("tasks host.0", "host", "tasks"),
    ("tasks stream 1.0", "stream 1", "tasks"),
    ("tasks default stream.0", "default stream", "tasks"),
    ("engines", "engines", None),
    ("engines copy engine in.0", "copy engine in", "engines"),
    ("engines copy engine out.0", "copy engine out", "engines"),
    ("engines memory.0", "memory", "engines"),
    ("engines host.0", "host", "engines"),
]
CALLS_OF_PROGRAM = [
    ("cudaMalloc", 0, 5_000),
    ("cudaMemcpyAsync", 5_000, 6_000),
    ("cudaMemset", 6_000, 7_000),
    ("cudaLaunchKernel", 7_000, 9_500),
    ("cudaGraphLaunch", 9_500, 12_000),
    ("cudaLaunchHostFunc", 12_000, 12_400),
    ("cudaMemcpy", 12_400, 36_000),
    ("cudaFree", 50_000, 52_000),
]
IN, OUT, MEMORY, HOST = (f"engines {name}.0" for name in ("copy engine in", "copy engine out", "memory", "host"))
OPERATIONS_OF_PROGRAM = [
    Slice(IN, "copy to device x", 6_000, 10_000, {"task": 2, "kind": "copy to device", "stream": 1, "nbytes": 100_000,
        "gbytes_per_s": 25.0, "memory": "pinned"}),
    Slice(OUT, "copy to host y", 30_100, 34_000, {"task": 14, "kind": "copy to host", "stream": 0, "nbytes": 50_000,
        "gbytes_per_s": 12.820513, "memory": "pageable"}),
    Slice(MEMORY, "fill y", 10_000, 10_500, {"task": 4, "kind": "fill", "stream": 0, "nbytes": 4_096,
        "gbytes_per_s": 8.192}),
    Slice(MEMORY, "copy within device y", 24_500, 25_000, {"task": 9, "kind": "copy within device", "stream": 0,
        "nbytes": 400_000, "gbytes_per_s": 800.0}),
    Slice(HOST, "host function", 26_600, 30_000, {"task": 12, "kind": "host function", "stream": 0}),
]  # fmt: skip


def test_a_program_has_its_calls_and_engines_on_one_clock(tmp_path):
    with closing(ensure_database(write_program(tmp_path / "p.gprec"))) as db:
        timeline = timeline_of(db)
        db.execute("UPDATE launches SET complete = 0")
        assert [each[:4] for each in timeline_of(db).slices] == [each[:4] for each in timeline.slices]  # copies do
    assert [track[:3] for track in timeline.tracks if track.unit is None][:9] == TRACKS_OF_PROGRAM
    on = {track: [each for each in timeline.slices if each.track == track] for track, _, _ in TRACKS_OF_PROGRAM}
    assert [each[1:4] for each in on["tasks host.0"]] == CALLS_OF_PROGRAM
    assert [each for track in (IN, OUT, MEMORY, HOST) for each in on[track]] == OPERATIONS_OF_PROGRAM


def test_an_older_recording_has_no_engines(tmp_path):
    with closing(ensure_database(write_program(tmp_path / "p.gprec", is_timed=False, host=None))) as db:
        timeline = timeline_of(db)
    assert [track.name for track in timeline.tracks if track.unit is None][:3] == ["tasks", "host", "stream 1"]
    assert not any(track.key.startswith("engines") for track in timeline.tracks)
