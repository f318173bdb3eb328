"""The timeline of a database: its tasks, or where it has none, as one that was imported, launches on the tracks of
their streams; and what the GPU did meanwhile as counters.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuprof.base.wording import launch_text
from gpuprof.correlate.tasks.queries import needs, read_tasks
from gpuprof.errors import NotComparable
from gpuprof.export.timeline.tasks import has_cycles, on_rows
from gpuprof.export.timeline.timeline import Flow, Point, Slice, Timeline, Track, lanes
from gpuprof.isa.printing.printable import printable

STREAMS, WARPS = "streams", "warps"  # keys of the tracks that have others under them
BYTES_METRICS = ("dram_read_nbytes", "dram_write_nbytes")


class Span(NamedTuple):
    """A launch that has ended."""

    launch: int
    stream: int
    start: int
    end: int
    name: str
    arguments: dict[str, str | int]


def timeline_of(database: sqlite3.Connection) -> Timeline:
    """Raises NotComparable for a database without a launch that has ended, or without the chip's clock."""
    spans = list(read_spans(database))
    meta = dict(database.execute("SELECT key, value FROM meta"))
    chip = json.loads(meta["chip_json"])
    if not spans:
        raise NotComparable("nothing to draw: no launch of the file has an end; collect again")
    if "clock_mhz" not in chip:
        raise NotComparable("nothing to draw: the file does not say the clock of its chip; collect again")
    metrics = read_metrics(database)
    tasks = read_tasks(database)
    if has_cycles(tasks):
        tracks, slices, flows = on_rows(tasks, needs(database), {each.launch: each.arguments for each in spans})
    else:
        tracks, slices = on_streams(spans)
        flows = from_parents(spans, metrics)
    counters, points = counter_tracks(spans, read_stalls(database), metrics, chip["clock_mhz"])
    return Timeline(
        printable(meta["chip"]),
        chip["clock_mhz"],
        (*tracks, *counters),
        tuple(slices),
        tuple(points),
        tuple(flows),
    )


def from_parents(spans: list[Span], metrics: dict[int, dict[str, float]]) -> list[Flow]:
    """An arrow to each launch from the one whose kernel launched it."""
    places = {each.launch: place for place, each in enumerate(spans)}
    return [
        Flow(places[metrics[each.launch]["parent"]], places[each.launch])
        for each in spans
        if metrics.get(each.launch, {}).get("parent") in places
    ]


def read_spans(database: sqlite3.Connection) -> Iterator[Span]:
    for launch, kernel, grid, block, shared, stream, task, start, end, samples in database.execute(
        "SELECT launch, kernel, grid, block, dynamic_shared_nbytes, stream, task, start_cycle, end_cycle, samples_kept "
        "FROM launches WHERE complete ORDER BY start_cycle, end_cycle DESC, launch"
    ):
        extents = [tuple(map(int, text.split(","))) for text in (grid, block)]
        arguments = {
            "launch": launch,
            "text": printable(launch_text(kernel, *extents, *([str(shared)] if shared else []))),
            "start_cycle": start,
            "cycles": end - start,
            "samples": samples,
        }
        task = {"task": printable(task)} if task else {}
        yield Span(launch, stream, start, end, printable(kernel), arguments | task)


def read_metrics(database: sqlite3.Connection) -> dict[int, dict[str, float]]:
    """Launch -> metric -> value, of those that are numbers."""
    found: dict[int, dict[str, float]] = {}
    for launch, name, value in database.execute(
        "SELECT launch, metric, value FROM launch_metrics WHERE typeof(value) <> 'text' ORDER BY launch, metric"
    ):
        found.setdefault(launch, {})[name] = value
    return found


def read_stalls(database: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Launch -> stall reason -> warp-cycles."""
    found: dict[int, dict[str, int]] = {}
    for launch, reason, cycles in database.execute(
        "SELECT launch, name, SUM(g.cycles) FROM ledger g JOIN stall_reasons USING (reason) GROUP BY launch, reason"
    ):
        found.setdefault(launch, {})[reason] = cycles
    return found


def on_streams(spans: list[Span]) -> tuple[list[Track], list[Slice]]:
    """A track for each stream, and more where its launches overlap; a slice for each span, in their order."""
    by_stream: dict[int, list[int]] = {}
    for place, each in enumerate(spans):
        by_stream.setdefault(each.stream, []).append(place)
    tracks, slices = [Track(STREAMS, "streams")], {}
    for stream, places in sorted(by_stream.items()):
        lane_of = lanes((spans[place].start, spans[place].end) for place in places)
        for lane in range(max(lane_of) + 1):
            name = f"stream {stream}" if not lane else f"stream {stream}, beside"
            tracks.append(Track(f"stream {stream}.{lane}", name, STREAMS))
        for place, lane in zip(places, lane_of, strict=True):
            each = spans[place]
            slices[place] = Slice(f"stream {stream}.{lane}", each.name, each.start, each.end, each.arguments)
    return tracks, [slices[place] for place in range(len(spans))]


def counter_tracks(
    spans: list[Span], stalls: dict[int, dict[str, int]], metrics: dict[int, dict[str, float]], clock_mhz: float
) -> tuple[list[Track], list[Point]]:
    """Means over each launch: warps by what holds them up, SMs that have a block, bytes that DRAM moves."""
    tracks, rates = [], {}
    reasons = {reason for found in stalls.values() for reason in found}
    if reasons:
        tracks.append(Track(WARPS, "warps, by state"))
    for reason in sorted(reasons):
        key = f"{WARPS}.{reason}"
        tracks.append(Track(key, reason, WARPS, "warps"))
        rates[key] = [stalls.get(each.launch, {}).get(reason, 0) / (each.end - each.start or 1) for each in spans]
    for key, name, unit, names, factor in (
        ("sms", "active SMs", "SMs", ("sm_active_cycles",), 1.0),
        ("dram", "DRAM", "MB/s", BYTES_METRICS, clock_mhz),
    ):
        values = [[metrics.get(each.launch, {}).get(each_name) for each_name in names] for each in spans]
        if any(value is not None for row in values for value in row):
            tracks.append(Track(key, name, None, unit))
            rates[key] = [
                factor * sum(value or 0 for value in row) / (each.end - each.start or 1)
                for each, row in zip(spans, values, strict=True)
            ]
    points = [
        Point(key, cycle, value)
        for key, each_rates in rates.items()
        for cycle, value in levels((each.start, each.end) for each in spans)(each_rates)
    ]
    return tracks, points


def levels(spans: Iterable[tuple[int, int]]):
    """A function from a number for each span to (cycle, sum of the numbers of the spans that are under way)."""
    spans = list(spans)
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for place, (start, end) in enumerate(spans):
        begins.setdefault(start, []).append(place)
        ends.setdefault(end, []).append(place)
    cycles = sorted(begins.keys() | ends.keys())

    def of(numbers: list[float]) -> Iterator[tuple[int, float]]:
        under_way: dict[int, float] = {}
        for cycle in cycles:
            for place in begins.get(cycle, ()):
                under_way[place] = numbers[place]
            for place in ends.get(cycle, ()):
                under_way.pop(place, None)
            yield cycle, sum(under_way.values())

    return of
