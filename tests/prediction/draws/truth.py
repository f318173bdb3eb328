"""What predictions of draws are held against: the same frames, simulated on every chip.

A frame is emulated once for each architecture and timed on all of its chips, with the rate of each unit doubled in
turn.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.device.api import Device
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.launch_timing import DrawTiming
from gpuprof.timing.state.machine import power_on
from tests.prediction.truth import Traced, TracedTiming, simulated, store_traces


class Timed(NamedTuple):
    """A draw on a chip. Cycles count from power-on; `cycles` are the draw's own, `busy_cycles` those of each unit."""

    start_cycle: int
    end_cycle: int
    cycles: float
    busy_cycles: dict[str, float]


def traced(draw_frame: Callable[[Device], None], chip: Chip, path) -> list[list[Traced]]:
    """The launches of a frame's shaders, in batches that run together; the frame is recorded at `path`."""
    with RecordWriter(path) as recorder:
        session = Session(
            Settings(chip=chip, recorder=recorder, sampling=Sampling(counters=("waves",)), observe=True), chip
        )
        session.begin_recording()
        timing = TracedTiming(session)
        store_traces(session, timing)
        draw_frame(Device(session, chip))
        session.finish()
    return timing.batches


def timed(batches: Sequence[Sequence[Traced]], chip: Chip) -> list[Timed]:
    """The draws on a chip of the same architecture with cold caches, in their order."""
    machine = power_on(chip)
    timings = [timing.draw for batch in batches for timing in simulated(batch, machine) if timing.draw]
    return [Timed(each.start_cycle, each.end_cycle, own_cycles(each), each.busy_cycles) for each in timings]


def own_cycles(draw: DrawTiming) -> float:
    """From its command to its end, without its turn in the line behind the command processor."""
    behind = [first for unit, first in draw.first_cycle.items() if unit != "command"]
    return draw.busy_cycles["command"] + draw.end_cycle - min(behind, default=draw.end_cycle)
