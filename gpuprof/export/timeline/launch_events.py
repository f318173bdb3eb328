"""The timeline of a database: its tasks, or where it has none, as one that was imported, launches on the tracks of
their streams; and what the GPU did meanwhile as counters.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuprof.base.wording import extent_of, launch_text
from gpuprof.correlate.tasks.task_queries import needs, read_tasks
from gpuprof.errors import NotComparable
from gpuprof.export.timeline.draw_events import draw_tracks
from gpuprof.export.timeline.engine_events import engine_tracks
from gpuprof.export.timeline.task_events import has_cycles, on_rows
from gpuprof.export.timeline.timeline import Flow, Point, Slice, Timeline, Track, lanes
from gpuprof.isa.printing.printable import printable

STREAMS, WARPS = "streams", "warps"  # keys of the tracks that have others under them
BYTES_METRICS = ("dram_read_nbytes", "dram_write_nbytes")


class Stretch(NamedTuple):
    """A part of a launch's time: warp-cycles by stall reason, and SM-cycles with warps of it, None where not known."""

    start: int
    end: int
    stalls: dict[str, int]
    sm_active_cycles: float | None


class Span(NamedTuple):
    """A launch that has ended."""

    launch: int
    stream: int
    start: int
    end: int
    name: str
    arguments: dict[str, str | int]


def timeline_of(database: sqlite3.Connection) -> Timeline:
    """Raises NotComparable for a database in which no launch has ended and no operation has a time, or without the
    chip's clock.
    """
    spans = list(read_spans(database))
    meta = dict(database.execute("SELECT key, value FROM meta"))
    chip = json.loads(meta["chip_json"])
    tasks = read_tasks(database)
    engines = engine_tracks(database, tasks)
    if not spans and not engines[1]:
        raise NotComparable("nothing to draw: no launch of the file has an end; collect again")
    if "clock_mhz" not in chip:
        raise NotComparable("nothing to draw: the file does not say the clock of its chip; collect again")
    metrics = read_metrics(database)
    if has_cycles(tasks):
        tracks, slices, flows = on_rows(tasks, needs(database), {each.launch: each.arguments for each in spans})
    else:
        tracks, slices = on_streams(spans)
        flows = from_parents(spans, metrics)
    counters, points = counter_tracks(spans, stretches(database, spans, metrics), metrics, chip["clock_mhz"])
    of_draws = draw_tracks(database)
    return Timeline(
        printable(meta["chip"]),
        chip["clock_mhz"],
        (*tracks, *engines[0], *of_draws[0], *counters),
        (*slices, *engines[1], *of_draws[1]),
        (*points, *of_draws[2]),
        tuple(flows),
    )


def from_parents(spans: list[Span], metrics: dict[int, dict[str, float]]) -> list[Flow]:
    """An arrow to each launch from the one whose kernel launched it."""
    places = {each.launch: place for place, each in enumerate(spans)}
    return [
        Flow(places[int(parent)], places[each.launch])
        for each in spans
        if (parent := metrics.get(each.launch, {}).get("parent")) in places
    ]


def read_spans(database: sqlite3.Connection) -> Iterator[Span]:
    for launch, kernel, grid, block, shared, stream, task, start, end, samples in database.execute(
        "SELECT launch, kernel, grid, block, dynamic_shared_nbytes, stream, task, start_cycle, end_cycle, samples_kept "
        "FROM launches WHERE complete ORDER BY start_cycle, end_cycle DESC, launch"
    ):
        optional = [str(shared)] if shared else []
        arguments = {
            "launch": launch,
            "text": printable(launch_text(kernel, extent_of(grid), extent_of(block), *optional)),
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


def read_activity(database: sqlite3.Connection) -> dict[int, list[Stretch]]:
    """Launch -> its bins of time."""
    found: dict[int, list[Stretch]] = {}
    for launch, *bin_ in database.execute(
        "SELECT launch, begin_cycle, end_cycle, sm_active_cycles FROM activity ORDER BY launch, bin"
    ):
        found.setdefault(launch, []).append(Stretch(*bin_[:2], {}, bin_[2]))
    for launch, bin_, reason, cycles in database.execute(
        "SELECT launch, bin, name, cycles FROM activity_stalls JOIN stall_reasons USING (reason)"
    ):
        found[launch][bin_].stalls[reason] = cycles
    return found


def stretches(database: sqlite3.Connection, spans: list[Span], metrics: dict[int, dict[str, float]]) -> list[Stretch]:
    """The bins of each launch; a launch that has none, as one that was imported, is one."""
    bins, stalls = read_activity(database), read_stalls(database)
    found: list[Stretch] = []
    for each in spans:
        whole = Stretch(
            *(each.start, each.end), stalls.get(each.launch, {}), metrics.get(each.launch, {}).get("sm_active_cycles")
        )
        found += bins.get(each.launch, [whole])
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
    spans: list[Span], parts: list[Stretch], metrics: dict[int, dict[str, float]], clock_mhz: float
) -> tuple[list[Track], list[Point]]:
    """Means over each bin of a launch: warps by what holds them up, SMs that have a block; over each launch: bytes that
    DRAM moves.
    """
    tracks, points = [], []
    of_bins = levels((each.start, each.end) for each in parts)
    reasons = {reason for each in parts for reason in each.stalls}
    if reasons:
        tracks.append(Track(WARPS, "warps, by state"))
    for reason in sorted(reasons):
        key = f"{WARPS}.{reason}"
        tracks.append(Track(key, reason, WARPS, "warps"))
        rates = [each.stalls.get(reason, 0) / (each.end - each.start or 1) for each in parts]
        points += [Point(key, *point) for point in of_bins(rates)]
    if any(each.sm_active_cycles is not None for each in parts):
        tracks.append(Track("sms", "active SMs", None, "SMs"))
        rates = [(each.sm_active_cycles or 0) / (each.end - each.start or 1) for each in parts]
        points += [Point("sms", *point) for point in of_bins(rates)]
    moved = [[metrics.get(each.launch, {}).get(name) for name in BYTES_METRICS] for each in spans]
    if any(value is not None for row in moved for value in row):
        tracks.append(Track("dram", "DRAM", None, "MB/s"))
        rates = [
            clock_mhz * sum(value or 0 for value in row) / (each.end - each.start or 1)
            for each, row in zip(spans, moved, strict=True)
        ]
        points += [Point("dram", *point) for point in levels((each.start, each.end) for each in spans)(rates)]
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
