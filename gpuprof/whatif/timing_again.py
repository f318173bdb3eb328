"""Times a stored launch again, with interventions."""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from gpuprof.device.commands import Launch
from gpuprof.device.module import LoadedModule
from gpuprof.run.launching.gpu_timing import NO_LIMIT_CYCLES, nowhere
from gpuprof.run.subject import Subject
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.cached_tables import Programs
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, with_chip
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.kinds import Scene, changed_chip, changed_trace


def timed(subject: Subject, interventions: Sequence[Intervention] = ()) -> LaunchTiming:
    """The launch's timing; without interventions, to the last cycle what it was in its stream."""
    machine, scene, module = changed(subject, interventions)
    grids = [replace(grid, pieces=iter(trace)) for grid, trace in zip(subject.grids, subject.traces, strict=True)]
    own = grids[subject.number]
    launch = replace(_of_blocks(own, subject, scene), module=module)
    grids[subject.number] = replace(own, launch=launch, pieces=iter(scene.pieces))
    if any(each.kind == "no_overhead" for each in interventions):
        grids[subject.number] = replace(grids[subject.number], launch_cycles=0)
    return simulate_batch(machine, grids, Sampling(), nowhere, NO_LIMIT_CYCLES)[subject.number]


def changed(subject: Subject, interventions: Sequence[Intervention]) -> tuple[Machine, Scene, LoadedModule]:
    """The GPU, the launch with interventions, and its module: a copy where its program changes, since other launches
    that run together have the same one. The subject shares what they do not change.
    """
    module, chip = subject.launch.module, changed_chip(subject.machine.chip, interventions)
    programs = subject.machine.programs if chip == subject.machine.chip else Programs(chip)
    scene = Scene(chip, programs.of(module), subject.trace)
    found = changed_trace(scene, interventions)
    if found.program is not scene.program:
        module = copy(module)
        programs = programs.with_program(module, found.program)
    return with_chip(subject.machine, chip, programs), found, module


def _of_blocks(grid: Grid, subject: Subject, scene: Scene) -> Launch:
    """The launch, of as many and as large blocks as its trace has now: along x, where that is another number."""
    launch = grid.launch
    n_blocks = sum(piece.n_blocks for piece in scene.pieces)
    if n_blocks != math.prod(launch.grid):
        launch = replace(launch, grid=(n_blocks, 1, 1))
    before, now = subject.trace[0].warps_per_block, scene.pieces[0].warps_per_block
    return launch if now == before else replace(launch, block=(now * scene.chip.warp_lanes, 1, 1))
