"""A ladder of products of halves by mma.sync, 4096^3, on an RTX 4090 at locked clocks, under ncu: caches are cold.

All but the first wave of blocks finds B in the L2. Where the L2 is near its limit, the whole chip runs, and long enough
for the first tiles of A to weigh little.
"""

from tests.silicon.ladder import Part, Rung, product

QUARTER, WHOLE = Part("rtx4090", 4), Part("rtx4090", 1)


def rung(kernel: str, tile: int) -> Rung:
    return Rung(kernel, tile, "(16, 16)", element="f16")


def long_rung(kernel: str, tile: int) -> Rung:
    return rung(kernel, tile)._replace(few=512, many=1024)


RUNGS = {
    "1_0": (rung("by_halves<1>", 32), QUARTER),
    "1_1": (rung("by_halves<2>", 64), QUARTER),
    "2_0": (long_rung("exchanged<false>", 64), WHOLE),
    "2_1": (long_rung("exchanged<true>", 64), WHOLE),
    "3_0": (long_rung("staged<1>", 64), WHOLE),
    "3_1": (long_rung("staged<2>", 128), WHOLE),
}
ARGUMENTS = "{m}, {n}, {k}, {a}, {b}, {c}"

CASES = tuple(
    product(f"spat-4090-mma{name}", "tensor_products.cu", rung, part, 4096, ARGUMENTS, "spat-4090")
    for name, (rung, part) in RUNGS.items()
)
