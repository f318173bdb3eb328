"""A ladder of seven single-precision products of five sizes on an RTX 3090, built by a compiler that knew no such chip:
rungs of one size are compared with each other alone.
"""

from fractions import Fraction

from tests.silicon.ladder import Part, Rung, product

RUNGS = (
    Rung("coalesced", 32, "(32, 32)"),
    Rung("tiled<32>", 32, "1024"),
    Rung("column_a_thread<64,64,8,8>", 64, "512"),
    Rung("square_a_thread<128,128,8,8,8,false>", 128, "256"),
    Rung("square_a_thread<128,128,8,8,8,true>", 128, "256"),
    Rung("wide_loads<128,128,8,8,8>", 128, "256"),
    Rung("two_buffers<128,128,8,8,8>", 128, "256"),
)
PART = Part("rtx3090", Fraction(41, 4))
ARGUMENTS = "{m}, {n}, {k}, 0.5, {a}, {b}, 3.0, {c}"

CASES = tuple(
    product(f"wz-3090-k{number}-{size}", "products_buffered.cu", rung, PART, size, ARGUMENTS, ladder, ladder)
    for size in (256, 512, 1024, 2048, 4096)
    for ladder in (f"wz-3090-{size}",)
    for number, rung in enumerate(RUNGS, 1)
)
