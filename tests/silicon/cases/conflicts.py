"""Shared-memory bank conflicts on an A100 of 80 GB: a twelfth of the chip with its share of 4,096 blocks of 32 KB.

The second of two launches is measured, as there.
"""

from tests.silicon.case import Case, warm

BLOCKS = 4096 // 12
COUNT = BLOCKS * 256


def row(stride: int) -> Case:
    launch = f"strided<<<{BLOCKS}, 256>>>(%s, {stride}, {COUNT})"
    runs = warm(launch % f"out: f32[{COUNT}]", launch % "out")
    return Case(f"a100-80-smemstride{stride}", "conflicts", "a100-80", "conflicts.cu", runs, 12)


CASES = tuple(row(stride) for stride in (1, 2, 4, 8, 16, 32, 33, 64))
