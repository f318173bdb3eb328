"""What twice the rate of a draw's unit changes in a chip that is simulated.

The bottleneck of a simulation is the unit whose doubled rate shortens it most. The units are those that predictions
double (gpuprof/predict/draws/draw_bottleneck.py): of shaders, everything that they wait for takes half the time,
but for the memory that they share with fixed-function units.
"""

from dataclasses import replace

from gpuprof.chips import Chip, altered
from gpuprof.chips.draw_units import COSTS
from gpuprof.predict.draws.draw_bottleneck import OF_SHADERS, SHADERS
from gpuprof.predict.draws.draw_memory import MEMORY
from tests.prediction.units import changes as changes_of_launch, value_of, within

OF_COMMANDS = ("graphics.draw_cycles", "graphics.state_cycles")
OF_GRIDS = ("grid_overhead_cycles", "launch_cycles")  # draws launch no grid


def doubled(chip: Chip, unit: str) -> Chip:
    """The chip with a unit of twice the rate."""
    name = f"{chip.name} with twice the {unit}"
    return replace(altered(chip, changes(chip, unit), name), name=name)


def changes(chip: Chip, unit: str) -> dict[str, float]:
    if unit == SHADERS:
        found = {name: value for each in OF_SHADERS for name, value in changes_of_launch(chip, each).items()}
        return {name: value for name, value in found.items() if name not in OF_GRIDS}
    if unit in MEMORY:
        return changes_of_launch(chip, unit)
    if unit == "command":
        return {name: value_of(chip, name) / 2 for name in OF_COMMANDS}
    rates = [f"graphics.{rate}" for _, rate in COSTS[unit]]
    return {name: within(name, 2 * value_of(chip, name)) for name in rates}
