"""The constants that --refit may change: numbers of chip files that no measurement gave by itself, and how far each can
be physically.
"""

from typing import NamedTuple

from gpuprof.chips import Chip, altered


class Constant(NamedTuple):
    """Numbers of every chip, `fields` with a space between, are multiplied by one factor, from `low` to `high`; `why`
    that far.
    """

    fields: str
    low: float
    high: float
    why: str


CONSTANTS = (
    Constant("dram_cycles", 0.95, 1.15,
        "chases through DRAM on one card differ so much between tools: 545 to 577 on A100; under load they are longer"),
    Constant("l2_near_cycles l2_far_cycles", 0.9, 1.1,
        "chases through the L2: 200 to 212 on A100, 250 to 274 on GA102 and AD102"),
    Constant("l2_slice_nbytes_per_cycle", 0.67, 1.33, "between 32 and 64 bytes on A100, the width of a slice"),
    Constant("dram_gbytes_per_s", 0.95, 1.05, "streams reach 86 to 93 % of the peak, by tool and mix"),
    Constant("l1_mshrs", 0.5, 2.0, "no published number: Little's law on streams of few blocks bounds it"),
    Constant("atomic_sector_cycles", 0.5, 2.0, "2.4 to 4.8 cycles a sector were measured on other chips"),
    Constant("l2_partial_sector_cycles", 0.5, 1.5, "4 to 6 cycles by naive transposes on two cards"),
    Constant("store_drain_cycles", 1.0, 4.0, "at least the shortest; a block's last store may wait for the L2"),
    Constant("block_launch_cycles", 0.6, 1.6, "blocks of one warp: 150 to 400 cycles from slot to slot"),
    Constant("address_cycles", 0.5, 1.5, "2 to 6: 4 were measured on an RTX A6000"),
    Constant("lsu_cycles", 0.8, 1.25, "an L1 bandwidth of 52 to 64 bytes a cycle by tool"),
)  # fmt: skip


def with_factor(chip: Chip, constant: Constant, factor: float) -> Chip:
    """The chip with one constant times a factor. Numbers that are whole stay whole."""
    changes = {}
    for field in constant.fields.split():
        value = getattr(chip, field)
        changes[field] = round(value * factor) if isinstance(value, int) else value * factor
    return altered(chip, changes, f"{constant.fields} times {factor:g}")
