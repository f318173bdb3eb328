"""The blocks of a draw that are shaders: the block models of launches, for the launch of that stage."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips import drawing_chips
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.launch import Blocks, Modelled, model
from gpuprof.predict.launch_counters import LaunchCounters
from gpuprof.predict.launch_refusal import refusals
from gpuprof.predict.work import Work


class StageTimes(NamedTuple):
    """float64 (chips,), cycles: of all waves of a stage, if they are all there at the start; of these cycles, those in
    which the multiprocessors can take no other draw's waves of the stage; and of one wave alone.
    """

    block: np.ndarray
    busy: np.ndarray
    wave: np.ndarray


def stage_times(launches: Sequence[LaunchCounters], chips: Numbers) -> StageTimes:
    """Of the launches of a stage, one after the other; the reference chip comes first. A draw's waves need no grid to
    be launched.
    """
    found = [model(Work(counters, of_draws(chips))) for counters in launches]
    block = sum(each.cycles - each.start for each in found)
    wave = np.where(found[0].fits.waves > 0, found[0].full.alone, found[0].last.alone)
    return StageTimes(block, np.minimum(sum(map(_busy, found)), block), wave)


def _busy(found: Modelled) -> np.ndarray:
    """While waves fill the chip it takes no others; those that are left keep units alone."""
    full = found.fits.waves * np.maximum(found.full.on_sm, found.full.on_chip)
    return full + (found.fits.left > 0) * _units(found.last)


def _units(blocks: Blocks) -> np.ndarray:
    return np.maximum.reduce(list(blocks.busy.values()))


def of_draws(chips: Numbers) -> Numbers:
    """The chip's limit of blocks on an SM does not hold for the waves of draws, and each SM takes its own."""
    columns = {"max_blocks": chips["warp_slots"], "distributor_cycles": chips["distributor_cycles"] / chips["sms"]}
    return Numbers(chips.names, chips.archs, chips.columns | columns)


def refusals_of_draw(draw: RecordedDraw, chips: Numbers) -> dict[int, str]:
    """Why a chip cannot draw it, by the chip's place; nothing for those that can."""
    found: dict[int, str] = {}
    without = np.flatnonzero(np.isnan(chips["graphics.draw_cycles"])).tolist()
    if without:
        found |= dict.fromkeys(without, f"the chip draws nothing; {', '.join(drawing_chips())} do")
    for launches in draw.launches.values():
        for counters in launches:
            found = refusals(Work(counters, of_draws(chips))) | found
    return found
