"""Products and rates of tensor pipes on an H100 (launches one after another) and on an RTX PRO 6000 Max-Q (under ncu,
and by the SM's own clock).
"""

from tests.silicon.case import Case, Run, warm
from tests.silicon.ladder import Part, Rung, product

H100 = Part("h100", 12)
RUNGS = {"naive": Rung("by_elements", 16, "(16, 16)"), "tiled": Rung("by_tiles", 32, "(32, 32)")}
FRAGMENTS = Rung("fragments<128,128,3>", 128, "512, 49152", element="f16")
ARGUMENTS = "{a}, {b}, {c}, {m}, {n}, {k}"


def fragments_of_1024() -> Case:
    """A quarter of the 256 blocks, 4 of them an SM; its matrices stay in the L2."""
    arrays = "a: f16[512,1024]=random, b: f16[1024,512]=random, c: f32[512,512]"
    launch = "fragments<64,64,2><<<(8, 8), 512, 16384>>>({}, 512, 512, 1024)"
    runs = warm(launch.format(arrays), launch.format("a, b, c"))
    return Case("wh8-h100-wmma-1024", "tensor", "h100", "tensor_products.cu", runs, 4, period=True, ladder="wh8-h100")


def fragments_of_8192() -> Case:
    """Cold: the L2 does not hold B until the next row of blocks."""
    size = 8192

    def run(k: int) -> Run:
        arrays = f"f16[{size},{k}]=random, f16[{k},{size}]=random, f32[{size},{size}]"
        return Run((f"fragments<128,128,3><<<(64, 64), 512, 49152>>>({arrays}, {size}, {size}, {k})",), k)

    runs = run(256), run(512)
    return Case(
        "wh8ncu-rtxpro6000-wmma-8192", "tensor", "rtxpro6000", "tensor_products.cu", runs, 4, size, by_waves=True
    )


def rate(sums: str, kernel: str, array: str) -> Case:
    """One SM."""
    runs = tuple(Run((f"{kernel}<<<1, 256>>>({array}, {trips})",), trips) for trips in (64, 192))
    return Case(f"wh8-rtxpro6000-mmarate-{sums}", "tensor", "rtxpro6000", "units.cu", runs, 188, 32768)


CASES = (
    *(
        product(f"wh8-h100-{name}-1024", "products_guarded.cu", rung, H100, 1024, ARGUMENTS, "wh8-h100")
        for name, rung in RUNGS.items()
    ),
    fragments_of_1024(),
    *(
        product(f"wh8-h100-{name}-4096", "products_guarded.cu", rung, H100, 4096, ARGUMENTS, "wh8-h100-4096")
        for name, rung in RUNGS.items()
    ),
    product(
        "wh8-h100-wmma-4096", "tensor_products.cu", FRAGMENTS, H100._replace(parts=4), 4096, ARGUMENTS, "wh8-h100-4096"
    ),
    fragments_of_8192(),
    rate("f16acc", "multiply_halves<unsigned, 2>", "u32[256]"),
    rate("f32acc", "multiply_halves<float, 4>", "f32[256]"),
)
