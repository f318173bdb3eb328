"""What a figure is, and who published the values beside it. Groups of figures are files of their own, listed in
`figures`.

Sources of published values, by letter; "B, A40" is gpu-benches on another card of that core.

[A] accel-sim's configuration of the chip; [B] gpu-benches; [C] measured on an H100 SXM, quoted; [CC] CUDA C++
Programming Guide, arithmetic throughput by compute capability (for
V100 and T4 partly recalled); [D] Huerta et al., MICRO 2025, on an RTX A6000; [G] a GB202, measured by others; [J]
Jia et al. 2018 and
2019, recalled; [K] AI_kernels' table of latencies; [L] Luo et al. 2024, quoted; [M] mt4g; [O] cuda_occupancy.h 13.0;
[P] stall counts that ptxas 13.0 writes (for V100 those of sm_75); [R] recalled; [W] vendor whitepapers, recalled: rate
of the card by clock and SMs; [Little] lines in flight divided by the chip file's DRAM latency, at most its bandwidth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from gpuprof.chips import Chip, load_chip
from gpuprof.chips.fidelity.model_figures import FOLLOWS

Measure = Callable[[str], float]  # of a chip's name or file
Published = dict[str, tuple[float, str]]  # chip -> value, letter of its source

VENDOR = ("v100", "t4", "a100", "rtx3090", "rtx4090", "h100", "h200", "b200", "rtx5090")
HOPPER = ("h100", "h200")
# Chips with the SM of one of VENDOR: what is published of a generation is published of them.
SAME_SM = {
    "rtx3090": ("a10g",),
    "rtx4090": ("l4", "l40s", "rtx4070ti-super"),
    "h100": ("h100-nvl", "h100-pcie"),
    "h200": ("gh200", "h20"),
    "rtx5090": ("rtxpro6000",),
}


@dataclass(frozen=True)
class Figure:
    """One number that a microbenchmark gives; `published` has what it gave on real chips, where anybody has said.

    `follows`: it is an outcome, on these chips or (True) on all. If not, the chip file has the published value, or was
    fitted to that source.
    """

    name: str
    unit: str
    measure: Measure
    published: Published = field(default_factory=dict)
    follows: bool | tuple[str, ...] = False
    where: Callable[[Chip], bool] = lambda chip: True  # which chips have what it measures
    only_published: bool = False  # not taken of chips of which nothing is published

    def is_of(self, chip: str) -> bool:
        """Of a chip's name or file; a file of one's own has what is not published, too."""
        return self.where(load_chip(chip)) and (
            not self.only_published or chip in self.published or chip.endswith(".toml")
        )

    def kind(self, chip: str) -> str:
        if chip not in self.published:
            return ""
        return FOLLOWS if self.follows is True or (self.follows and chip in self.follows) else "given"


def everywhere(value: float, source: str, but: tuple[str, ...] = ()) -> Published:
    """The same for all of this vendor's chips; `but` names some of VENDOR, with the chips of their SM."""
    return with_same_sm({chip: (value, source) for chip in VENDOR if chip not in but})


def with_same_sm(found: Published) -> Published:
    """Values of VENDOR, also for the chips of the same SM."""
    return found | {other: value for chip, value in found.items() for other in SAME_SM.get(chip, ())}


def on(source: str, **values: float | tuple[float, str]) -> Published:
    """Values by chip, of one source; a pair brings its own. `hopper` stands for both of them, `mi210` for
    mi210-like.
    """
    found: Published = {}
    for name, value in values.items():
        chips = HOPPER if name == "hopper" else ("mi210-like",) if name == "mi210" else (name,)
        found |= dict.fromkeys(chips, value if isinstance(value, tuple) else (value, source))
    return found


def by_generation(source: str, *values: float | None) -> Published:
    """One value for each of VENDOR and the chips of its SM; None where nothing is published."""
    return with_same_sm(
        {chip: (value, source) for chip, value in zip(VENDOR, values, strict=True) if value is not None}
    )
