"""Runs a case: compiles its file, makes its launches on a part of the chip, gives the published launch's cycles."""

import math
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.chips.fidelity.likeness import Use, kind, totals
from gpuprof.device.api import Device, Module
from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.launch_text import kernel_names, parse_launch
from gpuprof.device.requests import run_requests
from gpuprof.isa.opcodes import TABLE
from gpuprof.run.compile_file import BuildOptions, build
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.occupancy import occupancy
from tests.silicon.cards import card
from tests.silicon.case import Case, Run
from tests.silicon.published import by_id
from tests.silicon.waves import Step, check_sharing, steps_of_grid, waves
from tests.support.running import Results

KERNELS = Path(__file__).parent / "kernels"


class Modelled(NamedTuple):
    """SM cycles of the published launch, and the kernel's kind by its counters (fidelity.likeness)."""

    cycles: float
    kind: str


def modelled(case: Case, compiler: str) -> Modelled:
    """The published launch as the model has it with the code of `compiler`. Raises GpuprofError where the kernel does
    not compile or run.
    """
    found = [[(step.times, launches(case, step, compiler)) for step in steps(case, run, compiler)] for run in case.runs]
    cycles = published_size(
        case,
        [
            sum(times * run_cycles(case, [result.timing for result in results]) for times, results in of_run)
            for of_run in found
        ],
    )
    last = of_one_code(case, [of_run[0][1][-1] for of_run in found])
    dram_nbytes = last.timing.dram_read_nbytes + last.timing.dram_write_nbytes
    return Modelled(cycles, kind(totals(uses(last), dram_nbytes)))


def of_one_code(case: Case, results: Sequence[LaunchResult]) -> LaunchResult:
    """The last of the runs' measured launches.

    Raises ValueError where their instructions differ, as where the loop of a shorter run is unrolled: the line through
    the runs would be that of neither code.
    """
    codes = {bytes(result.launch.module.code["opcode"]) for result in results}
    if len(codes) > 1:
        names = " and ".join(result.launch.function.display for result in results)
        raise ValueError(f"{case.id}: {names} have different instructions; take sizes whose code is the same")
    return results[-1]


def published_size(case: Case, measured: list[float]) -> float:
    """Cycles of the published launch, from those of the case's runs."""
    if len(measured) == 1:
        return measured[0]
    (few, many), (less, more) = case.runs, measured
    return more + (case.whole_size - many.size) * (more - less) / (many.size - few.size)


def uses(result: LaunchResult) -> Iterator[Use]:
    """The instructions of a launch that ran, with their counters."""
    counters = result.counters
    columns = (
        counters.inst_executed,
        counters.l2_sectors_global,
        counters.l2_sectors_global_ideal,
        counters.l1_wavefronts_shared,
        counters.l1_wavefronts_shared_ideal,
    )
    for number, *counts in zip(result.launch.module.code["opcode"], *columns, strict=True):
        if counts[0]:
            yield Use(TABLE[number], *map(int, counts))


def run_cycles(case: Case, timings: list[LaunchTiming]) -> int:
    """Cycles of the last launch, or of those that count together; with `period` from the end of the launch before them
    to their end.
    """
    if case.period:
        return timings[-1].end_cycle - timings[-1 - case.together].end_cycle
    return sum(timing.cycles for timing in timings[-case.together :])


def steps(case: Case, run: Run, compiler: str) -> list[Step]:
    """Gives what of a run is launched: its waves, or all of it."""
    requests = [parse_launch(text) for text in run.launches]
    if not case.by_waves:
        return [Step(requests, 1)]
    device = open_device(Settings(chip=chip_of_case(case), observer=Results()))
    last = requests[-1]
    function = loaded(device, KERNELS / case.file, requests, compiler)[last.kernel].function
    config = last.config
    resident = occupancy(device.chip, function, math.prod(config.block), config.dynamic_shared_nbytes).blocks_per_sm
    sms = device.chip.sms
    check_sharing(config.grid, case.parts, sms, resident)
    found = waves(math.prod(config.grid), case.parts, sms, resident)
    return steps_of_grid(requests, found, sms, int(sms * case.parts))


def launches(case: Case, step: Step, compiler: str) -> list[LaunchResult]:
    """Gives the result of each launch of a step."""
    results = Results()
    device = open_device(Settings(chip=chip_of_case(case), observer=results))
    module = loaded(device, KERNELS / case.file, step.requests, compiler)
    run_requests(device, module, step.requests, folder=KERNELS)
    return results.launches


def chip_of_case(case: Case) -> Chip:
    """The part of the card that the case runs on, at the clock of the published run."""
    return card(case.card, by_id()[case.id].clock_mhz, case.parts)


def carry_out(device: Device, file: Path, launches: Sequence[str], compiler: str, folder: Path) -> None:
    """Makes launches of a file's kernels on a device. Their files of numbers are in `folder`."""
    requests = [parse_launch(text) for text in launches]
    run_requests(device, loaded(device, file, requests, compiler), requests, folder=folder)


def loaded(device: Device, file: Path, requests: Sequence[LaunchRequest], compiler: str) -> Module:
    """A file's kernels that some launches name, on a device."""
    with tempfile.TemporaryDirectory() as built:
        path = Path(built) / f"{file.stem}.gpubin"
        path.write_bytes(image(file, tuple(kernel_names(requests)), device.chip.arch, compiler))
        return device.load(path)


@cache
def image(file: Path, names: tuple[str, ...], arch: str, compiler: str) -> bytes:
    """The gpubin of a file of kernels."""
    _, found = build(file, arch=arch, names=names, options=BuildOptions(compiler=compiler))
    return found
