"""Dedispersion of 25,000 samples, 2,048 measures and 1,536 channels on an A100 and an RTX A6000, and 2e7 points in a
polygon of 600 corners on an RTX 3090: configurations of autotuners.

Both are one loop. Two SMs with their share of the chip do a wave of blocks; what more channels, or more edges, add
is the whole launch's rate. Points are random, corners zeros: the kernel reads them from a constant array, and
the host program of one of the two tuners that published its times (HiPerCoRe/KTT, Examples/KernelTunerPnpoly) copies
nothing there. Those times (AutoTuningAssociation/benchmark_hub, KTPnpolyOutput_3090) are within 16 % of these rows'.
"""

from math import ceil

from tests.silicon.case import Case, Run

SMS = {"a100": 108, "a6000": 84}
CARD = {"a100": "a100-40", "a6000": "a6000"}
THREADS = {"a100": 2048, "a6000": 1536}  # per SM
CHANNELS, SAMPLES, MEASURES = 1536, 25000, 2048
EDGES, POINTS = 600, 20_000_000
MAX_BLOCKS = 16  # per SM of the RTX 3090


def dedispersion(chip: str, bx: int, by: int, down: int, apart: int) -> Case:
    blocks = 2 * (THREADS[chip] // (bx * by))
    shape = f"{bx}, {by}, {down}, {'true' if apart else 'false'}"
    arrays = f"f32[{MEASURES},{SAMPLES}], shifts"
    runs = tuple(
        Run(
            (
                f"delays<<<1, {channels}>>>(shifts: f32[{channels}])",
                f"dedisperse<{shape}, {channels}><<<{blocks}, ({bx}, {by})>>>(u8[{channels},25650]=random, {arrays})",
            ),
            channels,
        )
        for channels in (192, 384)
    )
    whole = ceil(SAMPLES / bx) * ceil(MEASURES / (by * down)) / (SMS[chip] // 2) / blocks
    id = f"bh-{chip}-dedisp-{bx}_{by}_1_1_{down}_0_{apart}_0"
    return Case(id, "gathers", CARD[chip], "gathers.cu", runs, SMS[chip] // 2, CHANNELS * whole)


def polygon(between: int, threads: int, each: int, method: int) -> Case:
    blocks = 2 * min(MAX_BLOCKS, 1536 // threads)
    count = blocks * threads * each
    runs = tuple(
        Run(
            (
                f"in_polygon<{between}, {threads}, {each}, {method}, {edges}><<<{blocks}, {threads}>>>"
                f"(i32[{count}], f32[{2 * count}]=random, {count})",
            ),
            edges,
        )
        for edges in (200, 400)  # nvcc does eight edges a turn of these, and of the published 600
    )
    whole = ceil(POINTS / (threads * each)) / 41 / blocks
    id = f"bh-3090-pnpoly-{between}_{threads}_{each}_{method}"
    return Case(id, "gathers", "rtx3090", "gathers.cu", runs, 41, EDGES * whole)


CASES = (
    *(
        dedispersion(chip, *shape)
        for chip in SMS
        for shape in ((32, 32, 1, 0), (32, 32, 4, 1), (8, 128, 8, 0), (4, 256, 1, 0), (1, 256, 1, 0))
    ),
    *(
        polygon(*shape)
        for shape in (
            (0, 256, 1, 0),
            (0, 256, 1, 1),
            (0, 256, 1, 2),
            (0, 256, 4, 1),
            (0, 256, 8, 1),
            (2, 256, 4, 0),
            (0, 64, 20, 1),
        )
    ),
)
