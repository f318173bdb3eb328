"""What a chip cannot draw, by name."""

import numpy as np

from gpuprof.chips import drawing_chips
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.draw_stages import of_draws
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.refusal import refusals
from gpuprof.predict.work import Work


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
