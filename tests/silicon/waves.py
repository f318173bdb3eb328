"""Grids of equal blocks, wave by wave: as many blocks as are resident at a time are run, and stand for all such waves.

A line through two K needs waves that are whole: of three resident blocks and a fourth behind them, the fourth is alone.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from gpuprof.device.launching.argument_values import LaunchRequest


class Wave(NamedTuple):
    """`blocks` on the part of the chip that is run, `times` one after another."""

    blocks: int
    times: int


class Step(NamedTuple):
    """Launches one after another; the last one's cycles count `times`."""

    requests: Sequence[LaunchRequest]
    times: int


def waves(blocks: int, parts: int | Fraction, sms: int, resident: int) -> list[Wave]:
    """The waves of a grid of `blocks` on a chip of so many parts of `sms` SMs, each of which holds `resident` blocks:
    the full ones, and the last with as many blocks as its busiest SM has.
    """
    full, left = divmod(blocks, int(sms * parts) * resident)
    found = [Wave(resident * sms, full)] if full else []
    if left:
        most = math.ceil(left / parts)  # where not every SM has a block
        found.append(Wave(min(math.ceil(left / (sms * parts)) * sms, most), 1))
    return found


def corner(grid: tuple[int, int, int], blocks: int, sms: int, whole_sms: int) -> tuple[int, int, int]:
    """A grid of `blocks` blocks on a part of `sms` SMs that stands for a wave of `grid` on the chip's `whole_sms`: the
    most square rectangle of so many, or of the next fewer that make one.

    An SM gets each `sms`th block of a wave. Those are of one column, and find it in the L1, only where the rows' length
    divides the number of SMs. If there is a rectangle for which this is so in the part as in the chip, it is taken.
    """
    width, height, _ = grid
    in_columns = whole_sms % width == 0
    for wanted in range(blocks, 0, -1):
        sides = [x for x in range(1, min(width, wanted) + 1) if wanted % x == 0 and wanted // x <= height]
        if wanted > sms:
            sides = [x for x in sides if x <= sms and (sms % x == 0) == in_columns] or sides
        if sides:
            x = min(sides, key=lambda x: (x + wanted // x, -x))
            return x, wanted // x, 1
    raise ValueError(f"no {blocks} blocks in a grid of {grid}")


def sharing_blocks(grid: tuple[int, int, int], blocks: int) -> int:
    """How many of a wave's `blocks` have a tile of a product in common: those of a column, or those of a row where
    these are fewer. Blocks follow each other along the rows.
    """
    width, height, _ = grid
    return min(width, blocks, height, math.ceil(blocks / width))


def check_sharing(grid: tuple[int, int, int], parts: int | Fraction, sms: int, resident: int) -> None:
    """Raises ValueError where the part's first wave has fewer blocks than share a tile on the chip. Each of its blocks
    would then need more of the L2, and bring more tiles from the DRAM, than the chip's blocks do.
    """
    blocks = math.prod(grid)
    whole_sms = int(sms * parts)
    sharing = sharing_blocks(grid, min(blocks, whole_sms * resident))
    here = waves(blocks, parts, sms, resident)[0].blocks
    if here < sharing:
        raise ValueError(
            f"a part of {sms} of {whole_sms} SMs runs {here} blocks at a time of a grid of {grid}, and {sharing} "
            f"blocks share a tile on the chip: take fewer parts than {parts}, so that as many run at a time"
        )


def steps_of_grid(requests: Sequence[LaunchRequest], found: Sequence[Wave], sms: int, whole_sms: int) -> list[Step]:
    """The launches of each wave on a part of `sms` SMs of a chip of `whole_sms`."""
    return [
        Step(
            [
                replace(
                    request,
                    config=request.config._replace(grid=corner(request.config.grid, wave.blocks, sms, whole_sms)),
                )
                for request in requests
            ],
            wave.times,
        )
        for wave in found
    ]
