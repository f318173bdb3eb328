"""A ladder of ten single-precision products of 4096^3 on an RTX 3090, each kernel for any size: event loops."""

from tests.silicon.ladder import Part, Rung, product

RUNGS = {
    "V00": Rung("naive", 32, "(32, 32)", 64, 128, rows_first=True),
    "V01": Rung("coalesced", 32, "(32, 32)", 128, 256),
    "V02": Rung("tiled<32,false>", 32, "(32, 32)", 128, 256),
    "V02vec": Rung("tiled<32,true>", 32, "(32, 32)", 128, 256),
    "V03": Rung("column_a_thread<64,64,8,8>", 64, "512", 64, 128),
    "V04": Rung("square_a_thread<128,128,16,8,8,false,false>", 128, "256", 64, 128),
    "V04vec": Rung("square_a_thread<128,128,16,8,8,false,true>", 128, "256", 64, 128),
    "V05": Rung("square_a_thread<128,128,16,8,8,true,false>", 128, "256", 64, 128),
    "V05vec": Rung("square_a_thread<128,128,16,8,8,true,true>", 128, "256", 64, 128),
    "V06vec": Rung("warp_tiles<128,128,16,32,64,8,8>", 128, "256", 64, 128),
}
PART = Part("rtx3090", 41, 2)
ARGUMENTS = "{m}, {n}, {k}, 0.5, f32[{m}*{k}]=random, {k}, f32[{k}*{n}]=random, {n}, 3.0, f32[{m}*{n}], {n}"

CASES = tuple(
    product(f"leimao-3090-{name}", "products64.cu", rung, PART, 4096, ARGUMENTS, "leimao-3090")
    for name, rung in RUNGS.items()
)
