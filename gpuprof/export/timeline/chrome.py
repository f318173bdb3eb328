"""A timeline in Chrome's trace event format ("Trace Event Format", 2016), JSON: for Perfetto, chrome://tracing and
speedscope. Times are microseconds, with six digits after the point.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpuprof.export.timeline.launch_events import timeline_of
from gpuprof.export.timeline.timeline import Timeline, by_track, picoseconds

PROCESS = 1  # number of the one process


def write(database: sqlite3.Connection, path: Path) -> None:
    """An event a line. Raises NotComparable where nothing can be drawn."""
    timeline = timeline_of(database)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for number, event in enumerate(events(timeline)):
            file.write((",\n" if number else "") + json.dumps(event, ensure_ascii=False, separators=(",", ":")))
        file.write("\n]}\n")


def events(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """Names of tracks, then slices, flows and counters."""
    numbers = {track.key: number for number, track in enumerate(timeline.tracks, 1)}
    names = {track.key: track.name for track in timeline.tracks}
    yield {"ph": "M", "pid": PROCESS, "name": "process_name", "args": {"name": timeline.process}}
    filled = by_track(timeline)
    for key in filled:
        place = {"ph": "M", "pid": PROCESS, "tid": numbers[key]}
        yield place | {"name": "thread_name", "args": {"name": names[key]}}
        yield place | {"name": "thread_sort_index", "args": {"sort_index": numbers[key]}}
    for key, slices in filled.items():
        for _, each in sorted(slices, key=lambda item: (item[1].start, -item[1].end)):
            start, end = (microseconds(cycle, timeline) for cycle in (each.start, each.end))
            times = {"ts": start, "dur": round(end - start, 6)}
            yield _at(numbers[key], "X") | {"name": each.name} | times | {"args": dict(each.arguments)}
    for number, flow in enumerate(timeline.flows, 1):
        for phase, place, more in (("s", flow.start, {}), ("f", flow.end, {"bp": "e"})):
            each = timeline.slices[place]
            time = {"ts": microseconds(each.start, timeline)}
            yield _at(numbers[each.track], phase) | {"name": "flow", "cat": "flow", "id": number} | time | more
    units = {track.key: track.unit for track in timeline.tracks}
    for key, cycle, value in timeline.points:
        time = {"ts": microseconds(cycle, timeline)}
        yield {"ph": "C", "pid": PROCESS, "name": names[key]} | time | {"args": {units[key]: value}}


def _at(track: int, phase: str) -> dict[str, Any]:
    return {"ph": phase, "pid": PROCESS, "tid": track}


def microseconds(cycle: int, timeline: Timeline) -> float:
    return picoseconds(cycle, timeline.clock_mhz) / 1_000_000
