"""Three launches whole, to see what a part of the chip and a line through two sizes lose."""

from dataclasses import replace

from tests.silicon.case import Case, once
from tests.silicon.cases import all_cases

LAUNCHES = {
    "v100-liu-sgemv0": "by_warps<<<4096, (32, 4)>>>(f32[16384,32]=random, f32[32]=random, f32[16384], 16384, 32)",
    "rtx3080-nv-array_add-255": "add_rows<<<(64, 64), (16, 16)>>>(f32[1048576], f32[1048576], f32[1048576], 1024, "
    "1024)",
    "wz-3090-k6-512": "wide_loads<128,128,8,8,8><<<(4, 4), 256>>>(512, 512, 512, 0.5, f32[512*512]=random, "
    "f32[512*512]=random, 3.0, f32[512*512])",
}


def pairs() -> list[tuple[Case, Case]]:
    """Each case as it is run, and whole."""
    cases = {case.id: case for cases in all_cases().values() for case in cases}
    return [
        (cases[id], replace(cases[id], runs=once(launch), parts=1, whole_size=0, times=1))
        for id, launch in LAUNCHES.items()
    ]
