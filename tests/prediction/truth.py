"""What predictions are held against: the same launches, simulated on every chip.

A program is emulated once for each architecture and timed on all of its chips, with all rates doubled in turn: what
happens never depends on when.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpuprof.base.cache_control import AS_THE_PROGRAM, CacheControl
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.run.launching.gpu_timing import NO_LIMIT_CYCLES, GpuTiming
from gpuprof.run.launching.pending import Pieces
from gpuprof.run.launching.settling import Settler
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session
from gpuprof.timing.batch import Grid, Transfers
from gpuprof.timing.buffer import Sink
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, power_on
from tests.prediction.units import used_units


class Timed(NamedTuple):
    """A launch on a chip. Cycles count from power-on; `cycles` are the launch's own."""

    launch: int
    kernel: str
    stream: int
    start_cycle: int
    end_cycle: int
    cycles: int


class Traced(NamedTuple):
    """A launch as the timing model takes it, and its whole trace. `waits`: those of the host before it."""

    grid: Grid
    pieces: tuple[TracePiece, ...]
    waits: int


class CountingSession(Session):
    """`waits_before`: of the host, by launch."""

    def __init__(self, settings: Settings, chip: Chip):
        super().__init__(settings, chip)
        self.waits = 0
        self.waits_before: list[int] = []

    def submit(self, command: cmd.Command):
        is_copy = isinstance(command, cmd.CopyOut) and not command.is_pinned
        self.waits += is_copy or (isinstance(command, cmd.Wait) and command.stream == cmd.HOST)
        if isinstance(command, cmd.Launch):
            self.waits_before.append(self.waits)
        return super().submit(command)


class TracedTiming(GpuTiming):
    """Stores the traces of what it times. `batches`: launches that are in flight together. `waits_before`: waits of the
    host, by launch; without them, the number of batches.
    """

    def __init__(self, session: Session, waits_before: Sequence[int] = ()):
        super().__init__(session.chip, "wide", False, None)
        self._in_flight, self._waits_before = session.in_flight, waits_before
        self.batches: list[list[Traced]] = []

    def time(
        self,
        grids: list[Grid],
        sampling: Sampling,
        sink: Sink,
        control: CacheControl,
        transfers: Transfers | None = None,
    ) -> list[LaunchTiming]:
        assert control == AS_THE_PROGRAM, "the truth is of caches as the launches before left them"
        self._in_flight.finish_emulation()
        batch = [
            Traced(grid, tuple(whole(flight.pieces)), self._waits(grid))
            for grid, flight in zip(grids, self._in_flight.flights, strict=True)
        ]
        self.batches.append(batch)
        return simulated(batch, self.machine)

    def _waits(self, grid: Grid) -> int:
        return self._waits_before[grid.launch.index] if self._waits_before else len(self.batches)


def store_traces(session: Session, timing: TracedTiming) -> None:
    """The session's launches are timed by `timing`."""
    launcher = session.launcher
    launcher.timing = timing
    launcher.settler = Settler(
        session.settings, session.chip, session.in_flight, timing, session.observers, session.timeline
    )


def simulated(batch: Sequence[Traced], machine: Machine) -> list[LaunchTiming]:
    grids = [
        replace(grid, pieces=iter(pieces), order=None, launch_cycles=machine.chip.launch_cycles)
        for grid, pieces, _ in batch
    ]
    return simulate_batch(machine, grids, Sampling(), lambda samples: None, NO_LIMIT_CYCLES)


def whole(pieces: Pieces) -> Iterator[TracePiece]:
    """The whole trace of a launch that has been emulated: chunk by chunk, each to its end."""
    pieces.order(Order())
    for first in pieces:
        piece = first
        yield piece
        while not piece.final.all():
            pieces.order(Order(piece.first_block))
            piece = next(pieces)
            yield piece
        pieces.order(Order())


def traced(carry_out: Callable[[Device], None], chip: Chip) -> list[list[Traced]]:
    """The launches that `carry_out` makes on a device, in batches that run together."""
    session = CountingSession(Settings(chip=chip), chip)
    timing = TracedTiming(session, session.waits_before)
    store_traces(session, timing)
    carry_out(Device(session, chip))
    session.finish()
    return timing.batches


def timed(batches: Sequence[Sequence[Traced]], chip: Chip) -> tuple[list[Timed], set[str]]:
    """The launches on a chip of the same architecture with cold caches, and the units that they may wait for."""
    machine = power_on(chip)
    found: list[Timed] = []
    units: set[str] = set()
    for batch in batches:
        for (grid, *_), timing in zip(batch, simulated(batch, machine), strict=True):
            launch = grid.launch
            cycles = timing.start_cycle, timing.end_cycle, timing.cycles
            found.append(Timed(launch.index, launch.function.display, launch.stream, *cycles))
            units |= used_units(machine.programs.of(launch.module).inst, timing)
    return sorted(found), units
