"""Which unit limits a launch on a chip, and how much faster it may become before another one does."""

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

FACTORS = np.geomspace(1.0, 16.0, 25)  # rates that are tried, a steps of an eighth of an octave and more
MOST_SHOWN = 3


class Explained(NamedTuple):
    """`gain`: share of the time that the doubled unit would save. `busy`: of the blocks' time, the busiest units first.
    `until`: the factor on the unit's rate from which on `then` limits the launch; NaN: not up to 16 times.
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
    """Of each launch on each chip that can run all of them."""
    reference = numbers_of([recorded.reference])
    asked = joined([reference, chips])
    works = [Work(counters, asked) for counters in recorded.launches]
    refused = {place - 1 for work in works for place in refusals(work)}
    for work in works:
        found, counters = model(work), work.counters
        for place, name in enumerate(chips.names):
            if place in refused:
                continue
            chip = chips.part(place, place + 1)
            unit, gain = limit(counters, reference, chip)
            blocks = found.full if found.fits.waves[place + 1] else found.last
            took = max(float(np.maximum(blocks.on_sm, blocks.on_chip)[place + 1]), 1.0)
            busy = sorted(((name, float(each[place + 1]) / took) for name, each in blocks.busy.items()), key=_share)
            until, then = change(counters, reference, chip, unit)
            numbers = UNITS[unit].rates or UNITS[unit].times
            yield Explained(
                counters.launch, counters.kernel, name, unit, gain, tuple(busy[:MOST_SHOWN]), numbers, until, then
            )


def _share(row: tuple[str, float]) -> tuple[float, str]:
    return -row[1], row[0]


def limit(counters, reference: Numbers, chip: Numbers) -> tuple[str, float]:
    """The bottleneck on one chip, and the share of time that its doubled rate saves."""
    chips = joined([reference, chip, *(with_twice(chip, name) for name in UNITS)])
    cycles = launch_cycles(Work(counters, chips))[1:]
    place = int(np.argmin(cycles[1:]))
    return list(UNITS)[place], float(1 - cycles[1 + place] / cycles[0])


def change(counters, reference: Numbers, chip: Numbers, unit: str) -> tuple[float, str]:
    """The least of FACTORS with which another unit limits the launch, and that unit."""
    faster = [_with(chip, unit, factor) for factor in FACTORS]
    chips = joined([reference, *(with_twice(each, name) for each in faster for name in UNITS)])
    cycles = launch_cycles(Work(counters, chips))[1:].reshape(len(FACTORS), len(UNITS))
    for factor, place in zip(FACTORS.tolist(), np.argmin(cycles, 1).tolist(), strict=True):
        if list(UNITS)[place] != unit:
            return factor, list(UNITS)[place]
    return float("nan"), ""


def _with(chip: Numbers, unit: str, factor: float) -> Numbers:
    changed = {name: allowed(name, factor * chip[name]) for name in UNITS[unit].rates}
    changed |= {name: allowed(name, chip[name] / factor) for name in UNITS[unit].times}
    return Numbers(chip.names, chip.archs, chip.columns | changed)
