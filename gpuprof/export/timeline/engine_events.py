"""Copies, fills and functions of the host on the tracks of the engines that carry them out."""

import sqlite3

from gpuprof.correlate.tasks.host_clock import clock_in
from gpuprof.correlate.tasks.task_queries import Tasks
from gpuprof.export.timeline.timeline import Slice, Track, lanes
from gpuprof.isa.printing.printable import printable
from gpuprof.report.number_text import rounded
from gpuprof.report.tasks.program_time import Engine, Operation, calls_of, engines_of, read_operations

GROUP = "engines"  # key of the track that the others are under


def engine_tracks(database: sqlite3.Connection, tasks: Tasks) -> tuple[list[Track], list[Slice]]:
    """Nothing where the database has no times of operations."""
    clock_mhz = clock_in(database)
    if clock_mhz is None:
        return [], []
    engines = engines_of(tuple(read_operations(database, tasks, calls_of(tasks))))
    tracks, slices = [Track(GROUP, "engines")] if engines else [], []
    for engine in engines:
        lane_of = lanes((each.start, each.end) for each in by_start(engine))
        for lane in range(max(lane_of) + 1):
            tracks.append(Track(_key(engine, lane), f"{engine.name}, beside" if lane else engine.name, GROUP))
        for each, lane in zip(by_start(engine), lane_of, strict=True):
            name = printable(each.name)
            slices.append(Slice(_key(engine, lane), name, each.start, each.end, told(each, clock_mhz)))
    return tracks, slices


def by_start(engine: Engine) -> list[Operation]:
    """Its operations, the longer of two that start together first."""
    return sorted(engine.operations, key=lambda each: (each.start, -each.end, each.task))


def told(operation: Operation, clock_mhz: float) -> dict[str, str | int | float]:
    rate = rounded(operation.gbytes_per_s(clock_mhz))
    facts: dict[str, str | int | float] = {"task": operation.task, "kind": operation.kind, "stream": operation.stream}
    facts |= {"nbytes": operation.nbytes} if operation.nbytes else {}
    facts |= {"gbytes_per_s": rate} if rate is not None else {}
    return facts | ({"memory": operation.memory} if operation.memory else {})


def _key(engine: Engine, lane: int) -> str:
    return f"{GROUP} {engine.name}.{lane}"
