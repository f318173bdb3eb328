"""The unit that limits a launch on a chip, and how much faster it may become before another unit does."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.predict.bottleneck import UNITS, allowed, with_twice
from gpuprof.predict.chip_numbers import Numbers, joined, numbers_of
from gpuprof.predict.launch import model
from gpuprof.predict.launch_refusal import refusals
from gpuprof.predict.prediction import launch_cycles
from gpuprof.predict.recorded import Recorded
from gpuprof.predict.work import Work

FACTORS = np.geomspace(1.0, 16.0, 25)  # tried factors on a rate, in steps of a sixth of an octave
MOST_SHOWN = 3


class Explained(NamedTuple):
    """`gain`: share of the time that doubling the unit would save. `busy`: share of the blocks' time, the busiest units
    first. `until`: the factor on the unit's rate from which on `then` limits the launch; NaN if that is beyond 16.
    """

    launch: int
    kernel: str
    chip: str
    unit: str
    gain: float
    busy: tuple[tuple[str, float], ...]
    numbers: tuple[str, ...]
    until: float
    then: str


def explained(recorded: Recorded, chips: Numbers) -> Iterator[Explained]:
    """An explanation for each launch on each chip that can run all of them."""
    reference = numbers_of([recorded.reference])
    all_chips = joined([reference, chips])
    works = [Work(counters, all_chips) for counters in recorded.launches]
    refused = {index - 1 for work in works for index in refusals(work)}
    for work in works:
        modelled, counters = model(work), work.counters
        for index, name in enumerate(chips.names):
            if index in refused:
                continue
            chip = chips.part(index, index + 1)
            unit, gain = limit(counters, reference, chip)
            blocks = modelled.full if modelled.fits.waves[index + 1] else modelled.last
            took = max(float(np.maximum(blocks.on_sm, blocks.on_chip)[index + 1]), 1.0)
            busy = sorted(((name, float(cycles[index + 1]) / took) for name, cycles in blocks.busy.items()), key=_share)
            until, then = change(counters, reference, chip, unit)
            numbers = UNITS[unit].rates or UNITS[unit].times
            yield Explained(
                counters.launch, counters.kernel, name, unit, gain, tuple(busy[:MOST_SHOWN]), numbers, until, then
            )


def _share(row: tuple[str, float]) -> tuple[float, str]:
    return -row[1], row[0]


def limit(counters, reference: Numbers, chip: Numbers) -> tuple[str, float]:
    """The bottleneck on one chip, and the share of time that doubling its rate saves."""
    chips = joined([reference, chip, *(with_twice(chip, name) for name in UNITS)])
    cycles = launch_cycles(Work(counters, chips))[1:]
    index = int(np.argmin(cycles[1:]))
    return list(UNITS)[index], float(1 - cycles[1 + index] / cycles[0])


def change(counters, reference: Numbers, chip: Numbers, unit: str) -> tuple[float, str]:
    """The least of FACTORS with which another unit limits the launch, and that unit."""
    faster = [_with(chip, unit, factor) for factor in FACTORS]
    chips = joined([reference, *(with_twice(faster_chip, name) for faster_chip in faster for name in UNITS)])
    cycles = launch_cycles(Work(counters, chips))[1:].reshape(len(FACTORS), len(UNITS))
    for factor, index in zip(FACTORS.tolist(), np.argmin(cycles, 1).tolist(), strict=True):
        if list(UNITS)[index] != unit:
            return factor, list(UNITS)[index]
    return float("nan"), ""


def _with(chip: Numbers, unit: str, factor: float) -> Numbers:
    changed = {name: allowed(name, factor * chip[name]) for name in UNITS[unit].rates}
    changed |= {name: allowed(name, chip[name] / factor) for name in UNITS[unit].times}
    return Numbers(chip.names, chip.archs, chip.columns | changed)
