"""Simulates the corpus: rows of truth, and which units shorten each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.device.api import Device
from gpuprof.errors import GpuprofError
from tests.prediction.chips import PREDICTED, REFERENCE, chip_named
from tests.prediction.corpus import CASES, first_of_families, launches_of
from tests.prediction.programs import TESTS
from tests.prediction.stored import (
    BottleneckRow,
    TruthRow,
    bottleneck_row,
    buffer_cycles,
    refused,
    truth_rows,
    whole_cycles,
)
from tests.prediction.truth import Traced, timed, traced
from tests.prediction.units import doubled

CARRIED_OUT: dict[str, Callable[[Device], None]] = {case.name: launches_of(case) for case in CASES} | TESTS
CHIPS = (REFERENCE, *PREDICTED)
# Each unit is doubled in turn for two kernels of each family, as that takes ten times as long.
WITH_UNITS = (*first_of_families(2), *TESTS)


class Simulated(NamedTuple):
    """Of one name on some chips."""

    truth: list[TruthRow]
    bottlenecks: list[BottleneckRow]


def simulate_all(
    chips_of: Mapping[str, Sequence[str]], with_units: bool = True, processes: int = 1
) -> Iterator[Simulated]:
    """The names in their order, each on its chips."""
    jobs = [(name, tuple(chips), with_units) for name, chips in chips_of.items()]
    if processes == 1:
        yield from (simulate(*job) for job in jobs)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(simulate, *zip(*jobs, strict=True))


def simulate(name: str, chips: Sequence[str], with_units: bool) -> Simulated:
    found = Simulated([], [])
    for same in _by_arch(chip_named(chip) for chip in chips):
        try:
            batches = traced(CARRIED_OUT[name], same[0])
        except GpuprofError as error:
            found.truth.extend(_refused(name, chip, error) for chip in same)
            continue
        for chip in same:
            try:
                truth, bottleneck = _on(name, batches, chip, with_units)
            except GpuprofError as error:
                truth, bottleneck = [_refused(name, chip, error)], []
            found.truth.extend(truth)
            found.bottlenecks.extend(bottleneck)
    return found


def _refused(name: str, chip: Chip, error: GpuprofError) -> TruthRow:
    """What a chip cannot run: its blocks do not fit, or it has no such instruction."""
    return refused(name, chip.name, str(error).splitlines()[0])


def _on(name: str, batches: Sequence[Sequence[Traced]], chip: Chip, with_units: bool) -> Simulated:
    launches, units = timed(batches, chip)
    truth = truth_rows(name, chip.name, launches)
    if not with_units or name not in WITH_UNITS:
        return Simulated(truth, [])
    is_test = name in TESTS
    faster = {unit: doubled(chip, unit) for unit in sorted(units)}
    shorter = {unit: timed(batches, each)[0] for unit, each in faster.items()}
    cycles = {unit: whole_cycles(each, is_test) for unit, each in shorter.items()}
    rows = [bottleneck_row(name, chip.name, "", whole_cycles(launches, is_test), cycles)]
    for buffer in _buffers(batches) if is_test else ():
        cycles = {unit: buffer_cycles(each, buffer, faster[unit].launch_cycles) for unit, each in shorter.items()}
        here = buffer_cycles(launches, buffer, chip.launch_cycles)
        rows.append(bottleneck_row(name, chip.name, " ".join(map(str, buffer)), here, cycles))
    return Simulated(truth, rows)


def _buffers(batches: Sequence[Sequence[Traced]]) -> list[tuple[int, ...]]:
    """The launches of each command buffer: those of a stream between two waits of the host."""
    found: dict[tuple[int, int], list[int]] = {}
    for grid, _, waits in chain.from_iterable(batches):
        found.setdefault((waits, grid.launch.stream), []).append(grid.launch.index)
    return [tuple(sorted(found[key])) for key in sorted(found)]


def _by_arch(chips: Iterable[Chip]) -> list[list[Chip]]:
    """Chips that run the same code."""
    found: dict[str, list[Chip]] = {}
    for chip in chips:
        found.setdefault(chip.arch, []).append(chip)
    return list(found.values())
