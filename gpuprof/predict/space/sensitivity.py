"""The sensitivity of a chip's score to each of its numbers."""

from typing import NamedTuple

import numpy as np

from gpuprof.chips.draw_units import COSTS
from gpuprof.chips.model import field_of
from gpuprof.predict.bottleneck import allowed
from gpuprof.predict.chip_numbers import Numbers, joined
from gpuprof.predict.mapping import Mappings
from gpuprof.predict.prediction import predicted
from gpuprof.predict.recorded import Recorded

STEP = 1.1  # a tenth more
USUAL = (
    "sms", "clock_mhz", "lanes.fma", "lanes.alu", "lanes.fp64", "lanes.xu", "warp_slots", "registers", "l1_nbytes",
    "l2_nbytes", "l2_slices", "l2_slice_nbytes_per_cycle", "noc_nbytes_per_cycle", "dram_gbytes_per_s",
    "l2_near_cycles", "dram_cycles", "block_launch_cycles", "launch_cycles",
)  # fmt: skip
OF_DRAWS = ("draw_cycles", "state_cycles", *(rate for costs in COSTS.values() for _, rate in costs))


class Sensitivity(NamedTuple):
    """`gain`, float64 (chips,): the score with a tenth more of the number, over the score without, minus one."""

    number: str
    gain: np.ndarray


def sensitivities(recorded: Recorded, chips: Numbers, mappings: Mappings) -> list[Sensitivity]:
    """All sensitivities, those with the largest change in either direction first."""
    names = [*USUAL, *(f"graphics.{name}" for name in dict.fromkeys(OF_DRAWS) if recorded.draws)]
    more = [Numbers(chips.names, chips.archs, chips.columns | {name: _more(chips, name)}) for name in names]
    prediction = predicted(recorded, joined([chips, *more]), mappings, with_units=False)
    rows = prediction.score.reshape(len(names) + 1, len(chips))
    gains = [Sensitivity(name, row / rows[0] - 1) for name, row in zip(names, rows[1:], strict=True)]
    return sorted(gains, key=lambda sensitivity: -float(np.nan_to_num(np.abs(sensitivity.gain)).max()))


def _more(chips: Numbers, name: str) -> np.ndarray:
    """A tenth more; at least one more of an integer."""
    more = allowed(name, STEP * chips[name])
    return np.maximum(more, chips[name] + 1) if field_of(name).kind == "int" else more
