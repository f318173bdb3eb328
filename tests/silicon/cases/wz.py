"""A ladder of seven single-precision products of five sizes: rungs of one size are compared with each other alone.

Its author names an RTX 3090, but the times are those of a card of 80 SMs: with 128 x 128 tiles, two blocks an SM, 324
and 484 blocks take as much longer than 2 and 3 waves as 4 blocks behind 320 and 480 do; 82 SMs hold 328 and 492. It was
built for sm_70, and its cuBLAS reaches 92 % of a V100's peak. The clock is not known.
"""

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
PART, WHOLE = Part("v100", 10), Part("v100", 1)
SMS = 80
ARGUMENTS = "{m}, {n}, {k}, 0.5, {a}, {b}, 3.0, {c}"


def part(rung: Rung, size: int) -> Part:
    """Grids with fewer blocks than the chip has SMs run whole: on a part, too few blocks would share a tile."""
    return WHOLE if (size // rung.tile) ** 2 < SMS else PART


CASES = tuple(
    product(
        f"wz-3090-k{number}-{size}", "products_buffered.cu", rung, part(rung, size), size, ARGUMENTS, ladder, ladder
    )
    for size in (256, 512, 1024, 2048, 4096)
    for ladder in (f"wz-3090-{size}",)
    for number, rung in enumerate(RUNGS, 1)
)
