"""Fixed-function blocks of a draw: their cycles on each chip, from the draw's work for them."""

import numpy as np

from gpuprof.chips.draw_units import COSTS, command_cycles
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.recorded_draws import RecordedDraw


def unit_cycles(draw: RecordedDraw, chips: Numbers) -> dict[str, np.ndarray]:
    """float64 (chips,), by unit that the draw occupies. The reference chip comes first, with the recorded cycles: a
    unit processes the items of a draw one by one, so where several rates bound it, it takes longer than the sums of its
    work suggest. A command that took no time there takes its modelled time.
    """
    cycles = {}
    for unit, recorded in draw.busy_cycles.items():
        modelled = _modelled(unit, draw.work, chips)
        if recorded and modelled[0]:
            cycles[unit] = modelled * (recorded / modelled[0])
        elif unit == "command":
            cycles[unit] = modelled
    return cycles


def _modelled(unit: str, work: dict[str, int], chips: Numbers) -> np.ndarray:
    if unit == "command":
        return command_cycles(work["state_changes"], _Rates(chips)) + np.zeros(len(chips))
    return np.maximum.reduce([work[amount] / chips[f"graphics.{rate}"] for amount, rate in COSTS[unit]])


class _Rates:
    """The columns of a table, by the names of its entries."""

    def __init__(self, chips: Numbers):
        self._chips = chips

    def __getitem__(self, name: str) -> np.ndarray:
        return self._chips[f"graphics.{name}"]
