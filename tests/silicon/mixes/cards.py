"""The cards of the reports, as chips: a chip file with the card's numbers, the clock of the run, and less of all of it.

A part of a card runs a part of a launch: as many blocks by SM, as much L2 and DRAM by SM.
"""

from typing import NamedTuple

from gpuprof.chips import Chip, altered, load_chip


class Card(NamedTuple):
    """`changes` are the numbers in which the card differs from the chip file, whole."""

    chip: str
    changes: dict[str, float]


# Of each DRAM about the share that gpu-benches reaches on the chip beside it.
CARDS = {
    "NVIDIA A100-SXM4-80GB": Card("a100", {"dram_gbytes_per_s": 1870.0}),
    "NVIDIA GeForce RTX 3080": Card(
        "rtx3090",
        {
            "sms": 68,
            "l2_nbytes": 5 << 20,
            "l2_slices": 40,
            "dram_channels": 20,
            "dram_gbytes_per_s": 743.0,
        },
    ),
    "NVIDIA GeForce RTX 4090": Card("rtx4090", {}),
    "NVIDIA GeForce GTX 1660 SUPER": Card(
        "t4",
        {
            "sms": 22,
            "l2_nbytes": 1536 << 10,
            "l2_slices": 24,
            "dram_channels": 12,
            "dram_gbytes_per_s": 320.0,
        },
    ),
    "NVIDIA H100 PCIe": Card("h100", {"sms": 114, "dram_gbytes_per_s": 1919.0}),
}


def part_of_card(name: str, clock_mhz: float, parts: int) -> Chip:
    """One of `parts` equal parts of a card whose SMs run at `clock_mhz`. What the DRAM adds to the L2's latency stays as
    many nanoseconds.
    """
    card = CARDS[name]
    whole = altered(load_chip(card.chip), card.changes, name)
    behind_l2 = whole.dram_cycles - whole.l2_far_cycles
    changes = {
        "clock_mhz": clock_mhz,
        "dram_cycles": whole.l2_far_cycles + round(behind_l2 * clock_mhz / whole.clock_mhz),
        "sms": whole.sms // parts,
        "l2_nbytes": whole.l2_nbytes // parts,
        "l2_slices": max(1, whole.l2_slices // parts),
        "dram_channels": max(1, whole.dram_channels // parts),
        "dram_gbytes_per_s": whole.dram_gbytes_per_s / parts,
    }
    return altered(whole, changes, f"a part of {name}")
