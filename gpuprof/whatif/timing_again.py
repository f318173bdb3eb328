"""Times a kept launch again, with interventions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.cached_tables import Programs
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, with_chip
from gpuprof.whatif.capture import Subject
from gpuprof.whatif.intervention import Intervention
from gpuprof.whatif.kinds import Pieces, changed_chip, changed_trace

NO_LIMIT_CYCLES = 1 << 62


def timed(subject: Subject, interventions: Sequence[Intervention] = ()) -> LaunchTiming:
    """The launch's timing; without interventions, to the last cycle what it was in its stream."""
    machine, pieces = changed(subject, interventions)
    grids = [
        replace(grid, pieces=iter(pieces if number == subject.number else trace))
        for number, (grid, trace) in enumerate(zip(subject.grids, subject.traces, strict=True))
    ]
    if any(each.kind == "no_overhead" for each in interventions):
        grids[subject.number] = replace(grids[subject.number], launch_cycles=0)
    return simulate_batch(machine, grids, Sampling(), _nowhere, NO_LIMIT_CYCLES)[subject.number]


def changed(subject: Subject, interventions: Sequence[Intervention]) -> tuple[Machine, Pieces]:
    """The GPU and the launch's trace with interventions. What they leave alone is shared with the subject."""
    module, chip = subject.launch.module, changed_chip(subject.machine.chip, interventions)
    same = chip == subject.machine.chip
    programs = subject.machine.programs if same else Programs(chip)
    program = programs.of(module)
    edited, pieces = changed_trace(program, subject.traces[subject.number], interventions)
    if edited is not program:
        programs = programs.with_program(module, edited)
    return with_chip(subject.machine, chip, programs), pieces


def _nowhere(rows: np.ndarray) -> None:
    """The sink of a timing that is not sampled."""
