"""Strided and random accesses to global memory on an A100 of 80 GB.

Event loops over 512 MB, so nothing stays in the L2. A part of the chip works on its share of the vectors; what more
blocks add is the whole launch's rate. Strides of two and more visit the same lines again once they reach the end.
"""

from tests.silicon.case import Case, Run

PARTS = 4
ELEMENTS = 2**26 // PARTS
BLOCKS = 2**26 // 256 // PARTS
BITS = 24


def row(id: str, launch: str, few: int, many: int, before: str = "") -> Case:
    runs = tuple(
        Run(tuple(text.format(blocks=blocks, threads=blocks * 256) for text in (before, launch) if text), blocks)
        for blocks in (few, many)
    )
    return Case(id, "strides", "a100-80", "strides.cu", runs, PARTS, BLOCKS)


VECTORS = f"f32[{ELEMENTS}], f32[{ELEMENTS}]"

CASES = (
    row("a100-80-stride1", f"scale<<<{{blocks}}, 256>>>({VECTORS}, {ELEMENTS})", 8192, 16384),
    *(
        row(
            f"a100-80-stride{stride}",
            f"scale_strided<<<{{blocks}}, 256>>>({VECTORS}, {ELEMENTS}, {stride})",
            max(1024, 8192 // stride),
            max(2048, 16384 // stride),
        )
        for stride in (2, 4, 8, 16, 32, 64)
    ),
    row(
        "a100-80-random",
        f"scale_ordered<<<{{blocks}}, 256>>>({VECTORS}, order, {ELEMENTS})",
        512,
        1024,
        f"permute<<<{{blocks}}, 256>>>(order: i32[{{threads}}], {BITS})",
    ),
)
