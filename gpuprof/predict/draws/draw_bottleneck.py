"""Draws with one unit at twice the rate: the unit that shortens them most is the bottleneck.

All shader stages run on the same multiprocessors, so they are one unit, SHADERS, here and in a chip: everything that a
shader waits for, except the memory that it shares with fixed-function units. Where it is the bottleneck, the stage is
named whose waves, on such multiprocessors, shorten the draws most.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpuprof.chips.draw_units import BACK_UNITS, FRONT_UNITS, SHADER_STAGES
from gpuprof.predict.bottleneck import UNITS as OF_LAUNCHES, with_twice
from gpuprof.predict.chip_numbers import Numbers, joined
from gpuprof.predict.draws.draw_memory import MEMORY
from gpuprof.predict.draws.times import DrawTimes, draw_times

SHADERS = "shaders"
UNITS = (*FRONT_UNITS, *BACK_UNITS, *MEMORY, SHADERS)
DOUBLED = (*UNITS, *SHADER_STAGES)
OF_SHADERS = tuple(name for name in OF_LAUNCHES if name not in MEMORY)


def unit_of(block: str) -> str:
    """The one of UNITS that a block, or a bottleneck, belongs to."""
    return SHADERS if block in SHADER_STAGES else block


def all_with_twice(times: Sequence[DrawTimes], chips: Numbers) -> dict[str, list[DrawTimes]]:
    """The times of draws with each of DOUBLED at twice the rate, on all chips except the reference chip, the first."""
    faster = {name: [each.with_twice(name) for each in times] for name in (*FRONT_UNITS, *BACK_UNITS)}
    for name in MEMORY:
        quick = _with_reference(chips, (name,))
        faster[name] = [draw_times(each.draw, quick) for each in times]
    quick = _with_reference(chips, OF_SHADERS)
    stages = [draw_times(each.draw, quick).stages for each in times]
    faster[SHADERS] = [replace(each, stages=fast) for each, fast in zip(times, stages, strict=True)]
    for stage in SHADER_STAGES:
        faster[stage] = [
            replace(each, stages=each.stages | {stage: fast[stage]}) if stage in fast else each
            for each, fast in zip(times, stages, strict=True)
        ]
    return faster


def _with_reference(chips: Numbers, units: Sequence[str]) -> Numbers:
    quick = chips.part(1, len(chips))
    for unit in units:
        quick = with_twice(quick, unit)
    return joined([chips.part(0, 1), quick])


def bottlenecks(faster: dict[str, np.ndarray]) -> tuple[str, ...]:
    """For each chip, the unit with the least time in `faster`, whose arrays are (chips,), when its rate is doubled.
    Instead of SHADERS the limiting shader stage is named.
    """
    units = _least({name: rows for name, rows in faster.items() if name not in SHADER_STAGES})
    if SHADERS not in faster:
        return units
    stages = _least({name: faster[name] for name in SHADER_STAGES})
    return tuple(stage if unit == SHADERS else unit for unit, stage in zip(units, stages, strict=True))


def _least(faster: dict[str, np.ndarray]) -> tuple[str, ...]:
    names = list(faster)
    return tuple(names[index] for index in np.argmin(list(faster.values()), 0).tolist())
