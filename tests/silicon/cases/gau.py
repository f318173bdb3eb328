"""Products of bfloat16, 4096^3, by mma.sync in one stage, on an RTX 5090 that is held to 400 W: their ratios only. And
attention by mma.sync on the same card: 8 heads of 128, 4096 queries, 8192 keys.

A fifth of the chip makes eight columns of tiles, so that a wave reads about a fifth of what the chip's does. Each
published call has inputs of its own; all but the first wave finds B in the L2. Attention's waves are a fifth of the
chip's too.
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


HEADS, QUERIES, KEYS = 8, 4096, 8192
# Queries and keys of a tile, how these come, shared memory.
ATTENTION = {
    "v1": (128, "attend<128, 64, IN_ORDER>", 32768),
    "v3": (64, "attend<64, 32, AHEAD>", 32768),
    "v5": (64, "attend<64, 64, KEYS_AHEAD>", 49152),
}


def attention(name: str) -> Case:
    rows, kernel, shared_nbytes = ATTENTION[name]

    def run(keys: int) -> Run:
        q, k = (f"bf16[{HEADS * n * 128}]" for n in (QUERIES, keys))
        blocks = HEADS * QUERIES // rows
        return Run((f"{kernel}<<<{blocks}, 128, {shared_nbytes}>>>({q}, {k}, {k}, {q}, {QUERIES}, {keys})",), keys)

    runs = run(256), run(512)
    ladder = "gau-5090-attention"
    id = f"{ladder}-{name}"
    return Case(id, "attention", "rtx5090", "attention_mma.cu", runs, 5, KEYS, True, group=ladder, ladder=ladder)


CASES = (*map(product, KERNELS), *map(attention, ATTENTION))
