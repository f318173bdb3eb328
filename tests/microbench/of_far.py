"""The L2 and DRAM: latency by chases over growing footprints, near and far halves, bandwidth, bandwidth against lines
in flight.
"""

from collections.abc import Callable

from gpuprof.chips import load_chip
from tests.microbench.figure import VENDOR, Figure, Measure, Published, on
from tests.microbench.lab import cycles, per_trip

Between = Callable[[str], list[str]]

LINE_WORDS = 16  # of 8 bytes
LINE_NBYTES = 128
CHAIN = 1 << 17  # pointers, in an order without a pattern
FACTOR, TERM = 1664525, 1013904223  # of that (Numerical Recipes)
ROWS_APART = 1021  # lines, in which each DRAM channel has more than a row


def ring(lines: int, step: int) -> str:
    """A ring of pointers, one a line, to the line `step` places on; with step 0 each points to itself."""
    return (
        f"make_ring<<<{max(1, lines // 256)}, {min(lines, 256)}>>>(p: u64[{lines * LINE_WORDS}], {lines}, "
        f"{LINE_WORDS}, {step})"
    )


def chase(
    lines: int, few: int, many: int, apart: int = 0, between: Between = lambda chip: [], step: int = 1
) -> Measure:
    """Cycles per load of a chase through a ring, 32 loads a trip. Chases begin `apart` places of the ring from each
    other; `between` runs before them.
    """

    def measure(chip: str) -> float:
        places = [k * apart * max(1, step) % lines * LINE_WORDS for k in range(3)]
        chases = [
            f"chase<<<1, 1>>>(p, {place}, {n}, out: u64[1])" for place, n in zip(places, (many, few, many), strict=True)
        ]
        *_, short, long = cycles(chip, "memory.cu", ring(lines, step), *between(chip), *chases)
        return (long - short) / ((many - few) * 32)

    return measure


def other_data(chip_name: str) -> list[str]:
    """A launch that reads twice as much as the L2 holds."""
    chip = load_chip(chip_name)
    blocks, nbytes = 2 * chip.sms, 2 * chip.l2_nbytes
    trips = -(-nbytes // (blocks * 1024 * 64))
    return [
        f"stream<<<{blocks}, 1024>>>({trips}, {1 << 31}, data: u32[{blocks * trips * 1024 * 16}]=zeros, sum: u32[1])"
    ]


def chase_at_random(nbytes: int) -> Measure:
    """Cycles per load of a chase through `nbytes`, none of which the L2 has, in an order without a pattern."""
    words = nbytes // 8 // CHAIN

    def measure(chip: str) -> float:
        make = f"make_chain<<<{CHAIN // 256}, 256>>>(p: u64[{nbytes // 8}], {CHAIN}, {words}, {FACTOR}, {TERM})"
        places = [place_after(steps) * words for steps in (0, 2000, 4000)]
        chases = [
            f"chase<<<1, 1>>>(p, {place}, {n}, out: u64[1])" for place, n in zip(places, (40, 8, 40), strict=True)
        ]
        *_, short, long = cycles(chip, "memory.cu", make, *other_data(chip), *chases)
        return (long - short) / (32 * 32)

    return measure


def place_after(steps: int) -> int:
    """Where in the chain a chase is that has begun at its first place."""
    place = 0
    for _ in range(steps):
        place = (place * FACTOR + TERM) % CHAIN
    return place


def footprint(nbytes: int) -> Measure:
    """A chase that goes through all of `nbytes` before it is measured going through them again.

    Where they are many another kernel reads them all, in the ring's order, and the chases go through parts.
    """
    lines = nbytes // LINE_NBYTES
    if lines > 1 << 15:
        return chase(
            lines,
            8,
            40,
            2000,
            lambda chip: [f"visit<<<1, 1024>>>(p, {lines}, {LINE_WORDS}, {ROWS_APART}, out: u64[1])"],
            ROWS_APART,
        )
    once = max(1, lines // 32)
    return chase(lines, once, 2 * once, step=ROWS_APART if lines > ROWS_APART else 1)


def one_line(chip: str) -> float:
    """Cycles per load of a chase that stays on one line, past the L1."""
    chases = [f"chase_l2<<<1, 1>>>(p, 0, {n}, out: u64[1])" for n in (6, 2, 6)]
    *_, short, long = cycles(chip, "memory.cu", ring(1, step=0), *chases)
    return (long - short) / (4 * 32)


def stream_bandwidth(kernel: str, wrap: int, nbytes: int, few: int, many: int) -> Measure:
    """10^9 bytes per second of a whole chip that reads 16 bytes a lane, of `nbytes`, or more where it reads more before
    the place `wrap` at which it begins again.
    """

    def measure(chip_name: str) -> float:
        chip = load_chip(chip_name)
        blocks = 2 * chip.sms
        of_trip = blocks * 1024 * 64
        words = max(nbytes, min(of_trip * many, wrap * 16)) // 4
        launch = f"{kernel}<<<{blocks}, 1024>>>({{trips}}, {wrap}, data: u32[{words}]=zeros, out: u32[1])"
        return of_trip / per_trip(chip_name, "memory.cu", launch, few, many) * chip.clock_mhz / 1000

    return measure


def lines_in_flight(warps: int) -> Measure:
    """Bytes per cycle of a whole chip whose SMs have `warps` warps with one line in flight each."""

    def measure(chip_name: str) -> float:
        sms = load_chip(chip_name).sms
        blocks, threads = sms * max(1, warps // 32), 32 * min(warps, 32)
        launch = f"one_in_flight<<<{blocks}, {threads}>>>({{trips}}, data: u32[{1 << 24}]=zeros, out: u32[1024])"
        return sms * warps * 128 / per_trip(chip_name, "memory.cu", launch, 4, 20)

    return measure


def little(warps: int) -> Published:
    """What Little's law gives, with the chip's DRAM latency and throughput; of as many warps as the chip has slots."""
    found = {}
    for name in VENDOR:
        chip = load_chip(name)
        if warps <= chip.warp_slots:
            wide = chip.sms * warps * 128 / chip.dram_cycles
            found[name] = (round(min(wide, chip.dram_gbytes_per_s * 1000 / chip.clock_mhz), 1), "Little")
    return found


L1 = on(
    "B",
    v100=27.9,
    t4=(32, "J"),
    a100=33.0,
    rtx3090=(33.0, "B, A40"),
    rtx4090=(34.0, "B, L40"),
    hopper=(32.0, "B, GH200"),
    b200=(40, "K"),
    mi210=128,
    l40s=(34.0, "B, L40"),
    gh200=32.0,
)
L2 = on(
    "B",
    v100=212,
    t4=(188, "J"),
    a100=211,
    rtx3090=(250, "B, A40"),
    rtx4090=(274, "B, L40"),
    h100=(265.5, "B, H100 PCIe"),
    h200=265,
    b200=(295, "K"),
    mi210=249,
    l40s=(274, "B, L40"),
    gh200=280,
    rtx5090=(360, "K"),
    rtxpro6000=(352, "K"),
)
DRAM = on(
    "B",
    v100=434,
    t4=(616, "J"),
    a100=552,
    rtx3090=(556, "B, A40"),
    rtx4090=(625, "B, L40"),
    hopper=(689, "B, GH200"),
    b200=(860, "K"),
    mi210=696,
    l40s=(625, "B, L40"),
    gh200=689,
    rtx5090=(936, "K"),
    rtxpro6000=(864, "K"),
)
L2_RATE = on(
    "B",
    v100=2453,
    t4=(1270, "J"),
    a100=5430,
    rtx3090=(2500, "B, A40"),
    rtx4090=(5200, "B, L40"),
    h200=9780,
    b200=(21000, "L"),
    mi210=4650,
    l40s=(5200, "B, L40"),
    rtxpro6000=(8700, "R"),
)
DRAM_RATE = on("B", v100=867, t4=(220, "J"), a100=1776, h200=3889, gh200=3783, l40s=(845, "B, L40"), mi210=1350)
DRAM_RATE |= {"h100-pcie": (1919, "B")}
IN_64_KB = {chip: L1[chip] for chip in VENDOR if chip in L1 and chip != "t4"}
IN_16_MB = ("a100", "rtx4090", "h100", "h200", "b200", "l40s", "gh200", "rtx5090", "rtxpro6000")
NEAR = on("B", a100=206, hopper=(264, "L"))

FIGURES = [
    Figure("L1 hit latency", "cycles", chase(64, 8, 24), L1),
    Figure("L2 hit latency", "cycles", chase(8192, 64, 192), L2),
    Figure("L2 hit latency, one line over and over", "cycles", one_line, NEAR),
    Figure("DRAM latency, at random through 16 MB", "cycles", chase_at_random(16 << 20), on("B", v100=428)),
    Figure("DRAM latency, at random through 128 MB", "cycles", chase_at_random(128 << 20), DRAM),
    Figure("DRAM latency, at random through 512 MB", "cycles", chase_at_random(512 << 20), on("B", v100=436)),
    Figure("DRAM latency, the same rows", "cycles", chase(8192, 8, 40, 2000, other_data)),
    Figure("chase through 8 KB", "cycles", footprint(8 << 10), L1),
    Figure("chase through 64 KB", "cycles", footprint(64 << 10), IN_64_KB),
    Figure("chase through 512 KB", "cycles", footprint(512 << 10), L2),
    Figure("chase through 2 MB", "cycles", footprint(2 << 20), L2),
    Figure("chase through 16 MB", "cycles", footprint(16 << 20), {**{chip: L2[chip] for chip in IN_16_MB},
        "v100": (428, "B")}, ("v100",)),
    Figure("chase through 24 MB", "cycles", footprint(24 << 20), on("B", a100=345, h100=(275, "B, H100 PCIe"),
        rtx4090=(276.5, "B, L40")), follows=True, only_published=True),
    Figure("chase through 36 MB", "cycles", footprint(36 << 20), on("B", a100=424, h100=(475, "B, H100 PCIe"),
        rtx4090=(278, "B, L40")), follows=True, only_published=True),
    Figure("chase through 60 MB", "cycles", footprint(60 << 20), on("B", a100=558, rtx4090=(281, "B, L40")),
        follows=True, only_published=True),
    Figure("L2 bandwidth", "GB/s", stream_bandwidth("stream_l2", 1 << 17, 1 << 21, 2, 8), L2_RATE),
    Figure("DRAM bandwidth", "GB/s", stream_bandwidth("stream", 1 << 31, 1 << 27, 2, 6), DRAM_RATE),
    *(Figure(f"DRAM, lines in flight an SM: {n}", "B/clk", lines_in_flight(n), little(n)) for n in (1, 4, 16, 64)),
]  # fmt: skip
