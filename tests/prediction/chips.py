"""The chips of the comparison: the one that databases are collected on, and those that are predicted.

Some are real ones, the others are an A100 with one part halved or doubled, so that an error has a place.
"""

from functools import cache

from gpuprof.chips import Chip, altered, load_chip

REFERENCE = "a100"

MADE_UP = {
    "a100-half-sms": {"sms": 54},
    "a100-half-lanes": {"lanes.alu": 8, "lanes.fma": 8, "lanes.imad": 8},
    "a100-half-l2": {"l2_nbytes": 20971520, "l2_slices": 40},
    "a100-twice-dram": {"dram_gbytes_per_s": 3552.0},
    "a100-half-warps": {"warp_slots": 32, "registers": 32768},
}
PREDICTED = ("h200", "rtx4090", "rtx3090", "v100", *MADE_UP)


@cache
def chip_named(name: str) -> Chip:
    """A chip of gpuprof's own, or a made-up one."""
    if name in MADE_UP:
        from dataclasses import replace

        return replace(altered(load_chip(REFERENCE), MADE_UP[name], name), name=name)
    return load_chip(name)
