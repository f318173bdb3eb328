"""The shader stages of a draw on other chips: their block times, by the block models of launches, and the chips that
cannot run them.
"""

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
    """float64 (chips,), cycles: `block` of all waves of a stage, if they are all there at the start; `busy`, those in
    which the multiprocessors can accept no other draw's waves of the stage; and `wave`, of one wave without others.
    """

    block: np.ndarray
    busy: np.ndarray
    wave: np.ndarray


def stage_times(launches: Sequence[LaunchCounters], chips: Numbers) -> StageTimes:
    """The times of a stage whose launches run one after the other; the reference chip comes first. The waves of a draw
    need no grid launch.
    """
    modelled = [model(Work(counters, of_draws(chips))) for counters in launches]
    block = sum(each.cycles - each.start for each in modelled)
    wave = np.where(modelled[0].fits.waves > 0, modelled[0].full.single, modelled[0].last.single)
    return StageTimes(block, np.minimum(sum(map(_busy, modelled)), block), wave)


def _busy(modelled: Modelled) -> np.ndarray:
    """While waves fill the chip it accepts no others; the remaining ones only occupy units."""
    full = modelled.fits.waves * np.maximum(modelled.full.on_sm, modelled.full.on_chip)
    return full + (modelled.fits.left > 0) * _units(modelled.last)


def _units(blocks: Blocks) -> np.ndarray:
    return np.maximum.reduce(list(blocks.busy.values()))


def of_draws(chips: Numbers) -> Numbers:
    """The chips as draws see them: a chip's limit of blocks per SM does not hold for the waves of draws, and each SM
    distributes its own.
    """
    columns = {"max_blocks": chips["warp_slots"], "distributor_cycles": chips["distributor_cycles"] / chips["sms"]}
    return Numbers(chips.names, chips.archs, chips.columns | columns)


def refusals_of_draw(draw: RecordedDraw, chips: Numbers) -> dict[int, str]:
    """Why a chip cannot draw it, by the chip's index; chips that can are left out."""
    reasons: dict[int, str] = {}
    without = np.flatnonzero(np.isnan(chips["graphics.draw_cycles"])).tolist()
    if without:
        reasons |= dict.fromkeys(without, f"the chip draws nothing; {', '.join(drawing_chips())} do")
    for launches in draw.launches.values():
        for counters in launches:
            reasons = refusals(Work(counters, of_draws(chips))) | reasons
    return reasons
