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
from gpuprof.run.settling import Settler
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.launch_timing import DrawTiming, LaunchTiming
from gpuprof.timing.state.machine import power_on
from tests.prediction.truth import Traced, simulated, whole


class Keeper(Settler):
    """Keeps the traces of what it times. `batches`: launches that are in flight together."""

    def __init__(self, session: Session):
        super().__init__(session.settings, session.chip, session.in_flight, session.relating, session.draws)
        self.batches: list[list[Traced]] = []

    def _timed(self, grids: list[Grid], sampling: Sampling) -> list[LaunchTiming]:
        self.in_flight.finish_emulation()
        batch = [
            Traced(grid, tuple(whole(flight.pieces)), len(self.batches))
            for grid, flight in zip(grids, self.in_flight.flights, strict=True)
        ]
        self.batches.append(batch)
        return simulated(batch, self.machine)


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
        session.settling = keeper = Keeper(session)
        draw_frame(Device(session, chip))
        session.finish()
    return keeper.batches


def timed(batches: Sequence[Sequence[Traced]], chip: Chip) -> list[Timed]:
    """The draws on a chip of the same architecture with cold caches, in their order."""
    machine = power_on(chip)
    timings = [timing.draw for batch in batches for timing in simulated(batch, machine) if timing.draw]
    return [Timed(each.start_cycle, each.end_cycle, own_cycles(each), each.busy_cycles) for each in timings]


def own_cycles(draw: DrawTiming) -> float:
    """From its command to its end, without its turn in the line behind the command processor."""
    behind = [first for unit, first in draw.first_cycle.items() if unit != "command"]
    return draw.busy_cycles["command"] + draw.end_cycle - min(behind, default=draw.end_cycle)
