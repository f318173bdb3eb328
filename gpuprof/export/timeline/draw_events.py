"""Draws on tracks: when each was under way and in each unit; waves of shader stages in flight, as counters."""

import sqlite3
from collections.abc import Iterable

from gpuprof.export.timeline.timeline import Point, Slice, Track, lanes
from gpuprof.isa.printing.printable import printable
from gpuprof.report.tasks.draw_tasks import BLOCKS, Draw, read_draws
from gpuprof.report.tasks.timeline_lanes import Lane, extent, in_parts, read_lanes

GROUP = "draws"  # key of the track that the others are under
PARTS = 1024  # of the time, for counters
UNITS = "SELECT unit, draw, first_cycle, last_cycle, busy_cycles, blocked_cycles FROM draw_units"


def draw_tracks(database: sqlite3.Connection) -> tuple[list[Track], list[Slice], list[Point]]:
    """Nothing where no draw has times."""
    timed = [draw for draw in read_draws(database).draws if draw.work.start_cycle is not None]
    if not timed:
        return [], [], []
    tracks, slices = [Track(GROUP, "draws")], []
    names = {draw.draw: printable(draw.name) for draw in timed}
    _add(tracks, slices, "draw", map(_slice, timed))
    by_unit: dict[str, list[Slice]] = {}
    for unit, draw, first, last, busy, blocked in database.execute(UNITS):
        told = {"draw": draw, "busy_cycles": busy, "blocked_cycles": blocked}
        by_unit.setdefault(unit, []).append(Slice("", names[draw], first, last, told))
    for unit in (block for block in BLOCKS if block in by_unit):
        _add(tracks, slices, unit, by_unit[unit])
    found = read_lanes(database)
    points = [point for lane in found if lane.is_stage for point in _waves(lane, *extent(found))]
    tracks += [Track(_key(lane), f"{lane.block} waves", GROUP, "waves") for lane in found if lane.is_stage]
    return tracks, slices, points


def _slice(draw: Draw) -> Slice:
    work = draw.work
    assert work.start_cycle is not None and work.end_cycle is not None
    told = {
        "draw": draw.draw,
        "pass": draw.number_of_pass,
        "bottleneck": work.bottleneck,
        "primitives": work.counts["primitives"],
        "fragments": work.fragments,
        "overdraw": work.overdraw,
    }
    return Slice("", printable(draw.name), work.start_cycle, work.end_cycle, told)


def _add(tracks: list[Track], slices: list[Slice], name: str, added: Iterable[Slice]) -> None:
    """A track, and more where slices overlap."""
    ordered = sorted(added, key=lambda each: (each.start, -each.end))
    lane_of = lanes((each.start, each.end) for each in ordered)
    for lane in range(max(lane_of) + 1):
        tracks.append(Track(f"{GROUP} {name}.{lane}", f"{name}, beside" if lane else name, GROUP))
    slices += [each._replace(track=f"{GROUP} {name}.{lane}") for each, lane in zip(ordered, lane_of, strict=True)]


def _key(lane: Lane) -> str:
    return f"{GROUP} waves.{lane.block}"


def _waves(lane: Lane, first: int, last: int) -> Iterable[Point]:
    """Waves in flight, in the mean of each part of the time; where that stays as it was, no point."""
    parts = min(PARTS, last - first)
    before = None
    for part, mean in enumerate([*in_parts(lane, first, last, parts).round(6).tolist(), 0.0]):
        if mean != before:
            yield Point(_key(lane), first + (last - first) * part // parts, mean)
        before = mean
