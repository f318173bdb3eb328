"""The card of a case as a chip: at the run's clock, and one of so many equal parts of it."""

from fractions import Fraction
from functools import cache
from pathlib import Path

from gpuprof.base.inputs import CHIP
from gpuprof.base.toml import read_toml
from gpuprof.chips import Chip, altered, load_chip
from gpuprof.chips.fields import BY_NAME

FOLDER = Path(__file__).parent / "cards"


@cache
def card(name: str, clock_mhz: float, parts: int | Fraction = 1) -> Chip:
    """A part of a chip has its share of the SMs and of all that they share, so a kernel whose grid is as much smaller
    takes the same cycles. Raises ValueError where the SMs cannot be shared evenly.
    """
    chip = load_chip(FOLDER / f"{name}.toml")
    return part_of(altered(chip, {"clock_mhz": clock_mhz}, f"{name} at {clock_mhz:g} MHz"), parts)


def part_of(chip: Chip, parts: int | Fraction) -> Chip:
    if chip.sms % parts:
        raise ValueError(f"{chip.name}: {chip.sms} SMs do not make {parts} equal parts")
    slices = max(1, round(chip.l2_slices / parts))
    slowest = BY_NAME["distributor_cycles"].high  # that of one SM of a hundred and more, which gets few blocks
    changes = {
        "sms": chip.sms // parts,
        "l2_nbytes": chip.l2_nbytes // parts,
        "l2_slices": slices,
        # where the slices cannot be shared evenly, each is as much faster
        "l2_slice_nbytes_per_cycle": chip.l2_slice_nbytes_per_cycle * chip.l2_slices / float(parts) / slices,
        "dram_channels": max(1, round(chip.dram_channels / parts)),
        "dram_gbytes_per_s": chip.dram_gbytes_per_s / float(parts),
        # one distributor starts the blocks of all SMs
        "distributor_cycles": min(chip.distributor_cycles * float(parts), slowest),
    }
    return altered(chip, changes, f"a part of {chip.name}") if parts > 1 else chip


def chip_of(name: str) -> str:
    """The chip file that a card's inherits."""
    return read_toml(FOLDER / f"{name}.toml", CHIP)["inherits"]
