"""A ladder of products of halves by mma.sync, 4096^3, on an RTX 4090 at locked clocks, under ncu: caches are cold.

All but the first wave of blocks finds B in the L2.
"""

from tests.silicon.ladder import Part, Rung, product

RUNGS = {
    "1_0": Rung("by_halves<1>", 32, "(16, 16)", element="f16"),
    "1_1": Rung("by_halves<2>", 64, "(16, 16)", element="f16"),
    "2_0": Rung("exchanged<false>", 64, "(16, 16)", element="f16"),
    "2_1": Rung("exchanged<true>", 64, "(16, 16)", element="f16"),
    "3_0": Rung("staged<1>", 64, "(16, 16)", element="f16"),
    "3_1": Rung("staged<2>", 128, "(16, 16)", element="f16"),
}
PART = Part("rtx4090", 4)

CASES = tuple(
    product(
        f"spat-4090-mma{name}", "tensor_products.cu", rung, PART, 4096, "{m}, {n}, {k}, {a}, {b}, {c}", "spat-4090"
    )
    for name, rung in RUNGS.items()
)
