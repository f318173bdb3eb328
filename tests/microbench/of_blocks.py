"""What no chip file says: blocks that come and go at every occupancy, and chains of instructions beside each other.

gpu-benches' gpu-stream tells 10^9 bytes a second of a whole card; here are cycles of a wave, two blocks on each SM,
which do not depend on how many SMs or which memory another card of the core has as long as there are few bytes in
flight. Chip files have `block_launch_cycles` and `store_drain_cycles` from its blocks of one warp, that load or store;
everything else follows.
"""

from typing import NamedTuple

from gpuprof.chips import load_chip
from tests.microbench.figure import Figure, Measure, Published
from tests.microbench.lab import cycles, per_trip


class Card(NamedTuple):
    """The card that was measured: `letter` is the figure's source."""

    sms: int
    clock_mhz: float
    letter: str


CARDS = {
    "v100": Card(80, 1380, "B"),
    "a100": Card(108, 1410, "B"),
    "rtx3090": Card(84, 1740, "B, A40"),
    "rtx4090": Card(142, 2490, "B, L40"),
    "h200": Card(132, 1980, "B"),
}
ACCESSES = {"load": 1, "store": 1, "scale": 2, "triad": 3}
FEW, MANY = 6, 18  # waves

# 10^9 bytes a second of CARDS, by what a thread does and the threads of a block. None: the card's memory is what limits
# it, and ours has another.
RATES = (
    ("load", 32, (72, 85, 82, 163, 123)),
    ("load", 128, (262, 325, 304, 615, 485)),
    ("load", 256, (490, 619, None, None, 935)),
    ("load", 512, (746, 1122, None, None, 1707)),
    ("load", 1024, (866, 1769, None, None, 2756)),
    ("store", 32, (153, 171, 201, 322, 297)),
    ("store", 64, (306, 414, 397, 643, 590)),
    ("store", 128, (595, 804, None, None, 1163)),
    ("scale", 32, (128, 157, 154, 298, 240)),
    ("scale", 128, (423, 581, None, None, 852)),
    ("triad", 32, (180, 221, 219, 425, 334)),
    ("triad", 128, (545, 799, None, None, 1129)),
)
FITTED = {("load", 32), ("store", 32)}


def wave(what: str, threads: int) -> Measure:
    """Cycles that one more wave adds."""

    def measure(chip_name: str) -> float:
        chip = load_chip(chip_name)
        half = chip.shared_nbytes // 2 - chip.shared_reserved_nbytes
        room = min(half // 1024 * 1024, chip.max_shared_nbytes_per_block)

        def run(waves: int) -> int:
            blocks = 2 * chip.sms * waves
            n = blocks * threads
            arrays = ", ".join(f"{name}: f64[{n}]=zeros" for name in ("to", "source", "also"))
            return cycles(chip_name, "blocks.cu", f"{what}_once<<<{blocks}, {threads}, {room}>>>({n}, 0, {arrays})")[0]

        return (run(MANY) - run(FEW)) / (MANY - FEW)

    return measure


def waves(what: str, threads: int, rates: tuple[float | None, ...]) -> Published:
    found = {}
    for (chip, card), rate in zip(CARDS.items(), rates, strict=True):
        if rate is not None:
            nbytes = 2 * card.sms * threads * 8 * ACCESSES[what]
            found[chip] = (round(nbytes / rate * card.clock_mhz / 1000), card.letter)
    return found


def chained(chains: int, warps: int) -> Measure:
    """Cycles of the SM per operation of a warp."""
    launch = f"chains<{chains}><<<1, {32 * warps}>>>({{trips}}, 0.32, 0.9, 0.5, out: f64[1])"
    return lambda chip: per_trip(chip, "blocks.cu", launch, 8, 24) / (128 // chains * chains * warps)


# Cycles per operation of V100, by chains and warps.
CHAINED = (
    (1, 1, 8.67),
    (2, 1, 4.63),
    (1, 2, 4.29),
    (1, 4, 2.14),
    (2, 4, 1.16),
    (1, 8, 1.08),
    (4, 8, 1.08),
    (1, 32, 1.03),
)

FIGURES = [
    *(
        Figure(f"blocks of {threads} threads, "
            f"{what}", "cycles/wave", wave(what, threads), waves(what, threads, rates), (what, threads) not in FITTED,
            only_published=True)
        for what, threads, rates in RATES
    ),
    *(
        Figure(f"DFMA, chains: {chains}, warps: "
            f"{warps}", "cycles/warp", chained(chains, warps), {"v100": (value, "B")}, True, only_published=True)
        for chains, warps, value in CHAINED
    ),
]  # fmt: skip
