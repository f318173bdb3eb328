"""A ladder of ten single-precision products of 4096^3 on an RTX 3090, each kernel for any size: event loops."""

from fractions import Fraction

from tests.silicon.ladder import Part, Rung, product

RUNGS = {
    "V00": Rung("naive", 32, "(32, 32)", rows_first=True),
    "V01": Rung("coalesced", 32, "(32, 32)"),
    "V02": Rung("tiled<32,false>", 32, "(32, 32)"),
    "V02vec": Rung("tiled<32,true>", 32, "(32, 32)"),
    "V03": Rung("column_a_thread<64,64,8,8>", 64, "512"),
    "V04": Rung("square_a_thread<128,128,16,8,8,false,false>", 128, "256"),
    "V04vec": Rung("square_a_thread<128,128,16,8,8,false,true>", 128, "256"),
    "V05": Rung("square_a_thread<128,128,16,8,8,true,false>", 128, "256"),
    "V05vec": Rung("square_a_thread<128,128,16,8,8,true,true>", 128, "256"),
    "V06vec": Rung("warp_tiles<128,128,16,32,64,8,8>", 128, "256"),
}
PART = Part("rtx3090", Fraction(41, 4))
ARGUMENTS = "{m}, {n}, {k}, 0.5, {a}, {k}, {b}, {n}, 3.0, {c}, {n}"

CASES = tuple(
    product(f"leimao-3090-{name}", "products64.cu", rung, PART, 4096, ARGUMENTS, "leimao-3090")
    for name, rung in RUNGS.items()
)
