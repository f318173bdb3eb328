"""The units of a chip that draws pass through: shader stages, fixed-function units, and the numbers that give a unit's
time.

Rates are fields of the chip's table `graphics` (fields.GRAPHICS).
"""

from collections.abc import Mapping
from typing import Any

SHADER_STAGES = ("vertex", "hull", "domain", "geometry", "pixel")  # in the order of the pipeline
FRONT_UNITS = ("command", "fetch", "tessellate", "assembly")
BACK_UNITS = ("setup", "scan", "depth", "write")
ASKING_UNITS = ("fetch", "depth", "write")  # that read and write memory
MEMORIES = ("L2", "DRAM")  # which these share with the shaders
SECTOR_NBYTES = 32

# Each unit after the command processor: amounts of work, and the rate of each per cycle. The slowest decides.
COSTS = {
    "fetch": (("n_indices", "indices_per_cycle"),),
    "tessellate": (("n_tessellated", "tessellated_vertices_per_cycle"),),
    "assembly": (("n_primitives", "primitives_per_cycle"),),
    "setup": (("n_accepted", "triangles_per_cycle"),),
    "scan": (("n_tiles", "tiles_per_cycle"), ("n_pixels", "pixels_per_cycle")),
    "depth": (("n_samples", "depth_samples_per_cycle"), ("depth_nbytes", "depth_nbytes_per_cycle")),
    "write": (
        ("n_late_samples", "depth_samples_per_cycle"),
        ("late_depth_nbytes", "depth_nbytes_per_cycle"),
        ("n_written", "color_pixels_per_cycle"),
        ("written_nbytes", "color_nbytes_per_cycle"),
    ),
}


def command_cycles(state_changes: int, rates: dict[str, float]) -> float:
    """The cycles of the command processor for a draw."""
    return rates["draw_cycles"] + state_changes * rates["state_cycles"]


def unit_cycles(unit: str, work: dict[str, int], rates: dict[str, float]) -> float:
    """The cycles of a unit for a draw's `work` (see timing's DrawTiming) if it never waits."""
    if unit == "command":
        return command_cycles(work["state_changes"], rates)
    return max(work[amount] / rates[rate] for amount, rate in COSTS[unit])


def most_nbytes(chip: Mapping[str, Any]) -> dict[str, float]:
    """Bytes a cycle that each of MEMORIES transfers at most, from a chip's description (`Chip.describe`); without those
    whose numbers it lacks.
    """
    # units have no SM's link before the L2's slices
    return {
        memory: per_cycle(*(chip[name] for name in names))
        for memory, names, per_cycle in (
            ("L2", ("l2_slices", "l2_slice_nbytes_per_cycle"), lambda slices, of_slice: slices * of_slice),
            ("DRAM", ("dram_gbytes_per_s", "clock_mhz"), lambda gbytes, mhz: 1000 * gbytes / mhz),
        )
        if chip.keys() >= set(names)
    }
