"""Draws with one unit of twice the rate: the unit that shortens them most is the bottleneck.

All shader stages run on the same multiprocessors, so they are one unit, SHADERS, here and in a chip. Where it is the
bottleneck, the stage is named whose waves, in half the time, shorten the draws most.
"""

import numpy as np

from gpuprof.chips.draws import BACK_UNITS, FRONT_UNITS, SHADER_STAGES

SHADERS = "shaders"
UNITS = (*FRONT_UNITS, *BACK_UNITS, SHADERS)
DOUBLED = (*UNITS, *SHADER_STAGES)


def blocks_of(name: str) -> tuple[str, ...]:
    """The blocks of a draw that take half as long when one of DOUBLED has twice the rate."""
    return SHADER_STAGES if name == SHADERS else (name,)


def unit_of(block: str) -> str:
    """The one of UNITS that a block, or a bottleneck, is part of."""
    return SHADERS if block in SHADER_STAGES else block


def bottlenecks(faster: dict[str, np.ndarray]) -> tuple[str, ...]:
    """Of each chip, the unit whose doubled rate leaves the least of `faster`, which are (chips,); a stage of a shader
    stands for SHADERS.
    """
    units = _least({name: rows for name, rows in faster.items() if name not in SHADER_STAGES})
    if SHADERS not in faster:
        return units
    stages = _least({name: faster[name] for name in SHADER_STAGES})
    return tuple(stage if unit == SHADERS else unit for unit, stage in zip(units, stages, strict=True))


def _least(faster: dict[str, np.ndarray]) -> tuple[str, ...]:
    names = list(faster)
    return tuple(names[place] for place in np.argmin(list(faster.values()), 0).tolist())
