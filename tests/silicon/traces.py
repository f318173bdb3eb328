"""A case's launches, emulated once and timed on many chips: what happens never depends on when."""

from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.requests import run_requests
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.run.launching.gpu_timing import NO_LIMIT_CYCLES
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import power_on
from tests.silicon.case import Case
from tests.silicon.run import KERNELS, loaded
from tests.silicon.waves import Step


class Traced(NamedTuple):
    """A launch and its whole trace."""

    launch: cmd.Launch
    pieces: tuple[TracePiece, ...]


class Tracer(Session):
    """Emulates launches and times none."""

    def __init__(self, chip: Chip):
        super().__init__(Settings(chip=chip), chip)
        self.traced: list[Traced] = []

    def submit(self, command: cmd.Command):
        if not isinstance(command, cmd.Launch):
            return super().submit(command)
        counters = LaunchCounters.zeros(len(command.module.code))
        command.module.refresh_constants(self.memory)
        pieces = emulate(command, self.memory, chip=self.chip, counters=counters)
        self.traced.append(Traced(command, tuple(pieces)))
        self.launcher.n_launches += 1


def traces(case: Case, step: Step, compiler: str, chip: Chip) -> list[Traced]:
    """The launches of a step. `chip` says only how many blocks that wait for each other are emulated at a time."""
    tracer = Tracer(chip)
    device = Device(tracer, chip)
    run_requests(device, loaded(device, KERNELS / case.file, step.requests, compiler), step.requests, folder=KERNELS)
    return tracer.traced


def timings(traced: list[Traced], chip: Chip) -> list[LaunchTiming]:
    """Of launches one after another on a chip with cold caches."""
    machine = power_on(chip)
    return [
        simulate_batch(
            machine,
            [Grid(launch, iter(pieces), launch_cycles=chip.launch_cycles)],
            Sampling(),
            lambda samples: None,
            NO_LIMIT_CYCLES,
        )[0]
        for launch, pieces in traced
    ]
