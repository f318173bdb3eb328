"""Products of bfloat16, 4096^3, by mma.sync in one stage, on an RTX 5090 that is held to 400 W: their ratios only.

A fifth of the chip makes eight columns of tiles, so that a wave reads about a fifth of what the chip's does. Each
published call has inputs of its own; all but the first wave finds B in the L2.
"""

from tests.silicon.case import Case, Run

SIZE, COLUMNS, ROWS = 4096, 1024, 2048
KERNELS = {
    "v1": ("in_one_stage<64, REGISTERS>", 32768),
    "v3": ("in_one_stage<72, COPIES>", 36864),
    "v5": ("in_one_stage<64, EXCHANGED>", 32768),
}


def product(name: str) -> Case:
    kernel, shared_nbytes = KERNELS[name]

    def run(k: int) -> Run:
        launch = f"{kernel}<<<1024, 128, {shared_nbytes}>>>({{}}, {{}}, {{}}, {ROWS}, {COLUMNS}, {k})"
        a, c = f"bf16[{ROWS},{k}]=random", f"bf16[{ROWS},{COLUMNS}]"
        first = launch.format(f"a: {a}", f"b: bf16[{COLUMNS},{k}]=random", f"c: {c}")
        return Run((first, launch.format(f"other: {a}", "b", "c")), k)

    runs = run(512), run(1024)
    ladder = "gau-5090-mm80"
    id = f"{ladder}-{name}-{SIZE}"
    return Case(id, "tensor", "rtx5090", "products_mma.cu", runs, 5, SIZE, True, group=ladder, ladder=ladder)


CASES = tuple(product(name) for name in KERNELS)
