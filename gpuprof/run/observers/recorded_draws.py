"""The draws of a session as chunks of its recording.

    launch: a shader of the draw ─ drawn ─> counts ─ timed ─> DrawTiming ─ settled ─> DRAW, WAVE

A draw is written once its shaders have been timed, or once it is known that they will not be.
"""

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.observer import CompletedDraw, LaunchOrder, LaunchResult, LaunchStart, SessionObserver
from gpuprof.tables.draws import PRIMITIVES, WAVES
from gpuprof.timing.state.launch_timing import DrawTiming


class RecordedDraws(SessionObserver):
    def __init__(self, recorder: RecordWriter):
        self._recorder = recorder
        self._open: list[CompletedDraw] = []
        self._timings: dict[int, DrawTiming] = {}  # by draw
        self._draw_of_launch: dict[int, int] = {}  # by launch of the draw's first shader
        self._launches: dict[str, list[int]] = {}  # by stage, of the draw that began last

    def draw_begins(self, name: str, cycle: int) -> None:
        self._launches = {}

    def launch(self, start: LaunchStart) -> None:
        if start.shader:
            self._launches.setdefault(start.shader.stage, []).append(start.launch.index)
            if start.shader.stage == "vertex":
                self._draw_of_launch[start.launch.index] = start.shader.draw

    def drawn(self, draw: CompletedDraw) -> None:
        launches = {stage: iter(numbers) for stage, numbers in self._launches.items()}
        for stage, rows in draw.blocks:
            self._recorder.rows(PRIMITIVES, next(launches[stage]), rows)
        self._open.append(draw)

    def timed(self, result: LaunchResult) -> None:
        if result.timing.draw:
            self._timings[self._draw_of_launch.pop(result.launch.index)] = result.timing.draw

    def settled(self, batch: Sequence[LaunchOrder]) -> None:
        self.flush()

    def finish(self) -> None:
        self.flush()

    def flush(self) -> None:
        """Writes those that have drawn all, whether they were timed or not."""
        for draw in self._open:
            self._recorder.draw(_fields(draw) | _measured(draw, self._timings.get(draw.draw)))
            if timing := self._timings.get(draw.draw):
                self._recorder.table(WAVES, _wave_rows(draw, timing))
        self._open, self._timings = [], {}


def _fields(draw: CompletedDraw) -> dict:
    targets = draw.command.targets
    return {
        "draw": draw.draw,
        "task": draw.task,
        "pass": draw.of_pass,
        "name": draw.name,
        "width": targets.width,
        "height": targets.height,
        "samples": targets.samples,
        **({} if draw.buffer is None else {"buffer": draw.buffer}),
        "state_changes": draw.state_changes,
        "drains": draw.drains,
    }


def _measured(draw: CompletedDraw, timing: DrawTiming | None) -> dict:
    counts = draw.counts._asdict()
    if timing is None:
        return {"counts": counts, "units": [], "work": {}}
    units = [
        [name, busy, timing.blocked_cycles[name], timing.first_cycle[name], timing.last_cycle[name]]
        for name, busy in timing.busy_cycles.items()
    ]
    return {
        "start_cycle": timing.start_cycle,
        "end_cycle": timing.end_cycle,
        "counts": counts,
        "units": units,
        "work": timing.work,
        "traffic": [[unit, *astuple(nbytes)] for unit, nbytes in timing.traffic.items()],
    }


def _wave_rows(draw: CompletedDraw, timing: DrawTiming) -> np.ndarray:
    waves = np.zeros(len(timing.waves), WAVES.dtype)
    waves["draw"] = draw.draw
    for name in timing.waves.dtype.names:
        waves[name] = timing.waves[name]
    return waves
