"""Products of 1024^3 in single precision on an A10G, under ncu: caches are cold.

The tiled product is launched with blocks of (32, 32), though its kernel takes its row from threadIdx.x / 32: all of its
warps do the same.
"""

from tests.silicon.case import Case, Run
from tests.silicon.ladder import Part, Rung, product

SIZE = 1024
PART = Part("a10g", 4)
RUNGS = {
    "basic": Rung("naive", 32, "(32, 32)", rows_first=True),
    "smem_blocking": Rung("tiled<32>", 32, "(32, 32)", rows_first=True),
}
ARGUMENTS = "{m}, {n}, {k}, 0.5, {a}, {b}, 3.0, {c}"


def one_wave(k: int) -> Run:
    """A quarter of the 64 blocks, which leave SMs idle."""
    arrays = f"f32[512,{k}]=random, f32[{k},512]=random, 3.0, f32[512,512]"
    return Run((f"square_a_thread<128,128,8,8,8><<<(4, 4), 256>>>(512, 512, {k}, 0.5, {arrays})",), k)


CASES = (
    *(
        product(f"esmm-a10g-{name}", "products.cu", rung, PART, SIZE, ARGUMENTS, "esmm-a10g")
        for name, rung in RUNGS.items()
    ),
    Case(
        "esmm-a10g-two_blocktiling",
        "products",
        "a10g",
        "products.cu",
        (one_wave(256), one_wave(512)),
        4,
        SIZE,
        ladder="esmm-a10g",
    ),
)
