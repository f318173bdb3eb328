"""The ladder of ten single-precision products of 4096^3, on four cards: event loops, so the L2 is warm."""

from tests.silicon.ladder import Part, Rung, product

RUNGS = (
    Rung("naive", 32, "(32, 32)", rows_first=True),
    Rung("coalesced<32>", 32, "1024", rows_first=True),
    Rung("tiled<32>", 32, "1024", rows_first=True),
    Rung("column_a_thread<64,64,8,8>", 64, "512"),
    Rung("square_a_thread<128,128,8,8,8>", 128, "256"),
    Rung("wide_loads<128,128,8,8,8>", 128, "256"),
    Rung("by_element<128,128,8,8,8>", 128, "256"),
    Rung("padded<128,128,8,8,8>", 128, "256"),
    Rung("autotuned<128,128,16,8,8>", 128, "256"),
    Rung("warp_tiles<128,128,16,64,64,4,8,4,128>", 128, "128"),
)
PARTS = {
    "a6000": Part("a6000", 12),
    "a100": Part("a100-80", 12),
    "a100pcie": Part("a100-40", 12),
    "4090": Part("rtx4090", 16),
}
ARGUMENTS = "{m}, {n}, {k}, 0.5, {a}, {b}, 3.0, {c}"

CASES = tuple(
    product(f"sib-{name}-k{number}", "products.cu", rung, part, 4096, ARGUMENTS, f"sib-{name}")
    for name, part in PARTS.items()
    for number, rung in enumerate(RUNGS, 1)
)
