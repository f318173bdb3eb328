"""Five launches whole, to see what a part of the chip, waves one by one and a line through two sizes lose."""

from dataclasses import replace

from tests.silicon.case import Case, once, warm
from tests.silicon.cases import all_cases

LAUNCHES = {
    "v100-liu-sgemv0": once("by_warps<<<4096, (32, 4)>>>(f32[16384,32]=random, f32[32]=random, f32[16384], 16384, 32)"),
    "rtx3080-nv-array_add-255": once(
        "add_rows<<<(64, 64), (16, 16)>>>(f32[1048576], f32[1048576], f32[1048576], 1024, 1024)"
    ),
    # Wave by wave: three full waves and most of a fourth; one and most of a second, twice.
    "wh8-h100-tiled-1024": warm(
        "by_tiles<<<(32, 32), (32, 32)>>>(a: f32[1024*1024]=random, b: f32[1024*1024]=random, c: f32[1024*1024], "
        "1024, 1024, 1024)",
        "by_tiles<<<(32, 32), (32, 32)>>>(a, b, c, 1024, 1024, 1024)",
    ),
    "wz-3090-k1-512": warm(
        "coalesced<<<(16, 16), (32, 32)>>>(512, 512, 512, 0.5, a: f32[512*512]=random, "
        "b: f32[512*512]=random, 3.0, c: f32[512*512])",
        "coalesced<<<(16, 16), (32, 32)>>>(512, 512, 512, 0.5, a, b, 3.0, c)",
    ),
    "wz-3090-k3-1024": warm(
        "column_a_thread<64,64,8,8><<<(16, 16), 512>>>(1024, 1024, 1024, 0.5, a: f32[1024*1024]=random, "
        "b: f32[1024*1024]=random, 3.0, c: f32[1024*1024])",
        "column_a_thread<64,64,8,8><<<(16, 16), 512>>>(1024, 1024, 1024, 0.5, other: f32[1024*1024]=random, b, 3.0, c)",
    ),
}


def pairs() -> list[tuple[Case, Case]]:
    """Each case as it is run, and whole."""
    cases = {case.id: case for cases in all_cases().values() for case in cases}
    return [
        (cases[id], replace(cases[id], runs=runs, parts=1, whole_size=0, by_waves=False))
        for id, runs in LAUNCHES.items()
    ]
