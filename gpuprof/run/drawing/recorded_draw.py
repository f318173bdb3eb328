"""The draws of a session, as its recording has them.

    begin ─> number ─> its shaders' launches say so ─ drawn ─> counts ─ timed ─> DrawTiming ─ write ─> DRAW, WAVE

A draw is written once its shaders have been timed, or once it is known that nobody will time them.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import NamedTuple

import numpy as np

from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.draws import PRIMITIVES, WAVES
from gpuprof.timing.state.launch_timing import DrawTiming


class OfDraw(NamedTuple):
    """What a shader's launch belongs to: the number of the draw, and the stage."""

    draw: int
    stage: str


class Drawn(NamedTuple):
    """A draw that has drawn all. `fields`: those of records.schema.DRAW_FIELDS that the drawing has."""

    fields: dict[str, int | str | bool]
    counts: DrawCounts


Blocks = Sequence[tuple[str, np.ndarray]]  # stage, and tables.draws.PRIMITIVES, of each launch of a draw


class RecordedDraws:
    """Without a recorder draws are numbered, and nothing is written."""

    def __init__(self, recorder: RecordWriter | None):
        self._recorder = recorder
        self._open: dict[int, Drawn] = {}  # by number; ascending
        self._timings: dict[int, DrawTiming] = {}  # by number
        self._first_launch: dict[int, int] = {}  # draw by launch of its first shader
        self._launches: dict[str, list[int]] = {}  # by stage, of the draw that has begun last
        self.n = 0  # that have begun
        self._pass = 0
        self.passes: dict[int, list[int]] = {}  # tasks of the draws in each

    def begin(self, drains: bool) -> tuple[int, int]:
        """The numbers of the next draw and of its pass: another one where it drains."""
        self.n += 1
        self._launches = {}
        return self.n - 1, self._pass + drains

    def launched(self, of_draw: OfDraw, launch: int) -> None:
        """A shader of the draw that has begun last is launched."""
        self._launches.setdefault(of_draw.stage, []).append(launch)
        if of_draw.stage == "vertex":
            self._first_launch[launch] = of_draw.draw

    def drawn(self, fields: dict[str, int | str | bool], counts: DrawCounts, blocks: Blocks) -> None:
        """That draw has drawn all. One that has run no shader begins no pass."""
        launches = {stage: iter(numbers) for stage, numbers in self._launches.items()}
        for stage, rows in blocks if self._recorder else ():
            self._recorder.rows(PRIMITIVES, next(launches[stage]), rows)
        self._open[fields["draw"]] = Drawn(fields, counts)
        self.passes.setdefault(fields["pass"], []).append(fields["task"])
        if counts.vertex_waves:
            self._pass = fields["pass"]

    def timed(self, launch: int, timing: DrawTiming) -> None:
        """`launch`: that of the draw's vertices."""
        self._timings[self._first_launch.pop(launch)] = timing

    def write(self) -> None:
        """Those that have drawn all, whether they were timed or not."""
        for number, drawn in self._open.items():
            if self._recorder:
                self._write(drawn, self._timings.get(number))
        self._open, self._timings = {}, {}

    def _write(self, drawn: Drawn, timing: DrawTiming | None) -> None:
        counts = drawn.counts._asdict()
        if timing is None:
            self._recorder.draw(drawn.fields | {"counts": counts, "units": [], "work": {}})
            return
        units = [
            [name, busy, timing.blocked_cycles[name], timing.first_cycle[name], timing.last_cycle[name]]
            for name, busy in timing.busy_cycles.items()
        ]
        when = {"start_cycle": timing.start_cycle, "end_cycle": timing.end_cycle}
        done = {"counts": counts, "units": units, "work": timing.work}
        traffic = [[unit, *astuple(nbytes)] for unit, nbytes in timing.traffic.items()]
        self._recorder.draw(drawn.fields | when | done | {"traffic": traffic})
        waves = np.zeros(len(timing.waves), WAVES.dtype)
        waves["draw"] = drawn.fields["draw"]
        for name in timing.waves.dtype.names:
            waves[name] = timing.waves[name]
        self._recorder.table(WAVES, waves)
