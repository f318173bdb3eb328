"""Causal attention of GPT-2's size by Triton on an RTX 5090, under Nsight Compute: cold caches at the base clock. And
attention in the way of FlashAttention-3 on an H100, whose clock was locked: blocks that stay do 31 tiles each.

A quarter of the H100 does tiles of fewer heads; what more of them add is the time of a round of its SMs. Of the causal
ones the longest tiles come first, and 33 SMs by turns get each length.
"""

from tests.silicon.case import Case, Run, once
from tests.silicon.triton_ptx import ATTENTION

WIDTH, ROWS, PARTS, SMS = 128, 128, 4, 33
TILES = 4096  # of the published launches: 16 heads, and as many batches as make 2048 x 16 rows of 128 a head
SCALE = 0.127517  # log2(e) / sqrt(WIDTH)


def flash(n: int, heads: int, keys: int, causal: bool) -> Run:
    tiles = n // ROWS * heads
    maps = ", ".join(
        f"tensormap(box=(1, {rows}, 64), swizzle=128) {name}: f16[1,{n},{heads * WIDTH}]"
        for name, rows in (("q", ROWS), ("k", keys), ("v", keys), ("out", ROWS // 2))
    )
    shared_nbytes = 2 * WIDTH * (ROWS + 4 * keys) + 80
    kernel = f"attention<{keys},{str(causal).lower()}>"
    text = f"{kernel}<<<{SMS}, 384, {shared_nbytes}>>>({maps}, {n}, {heads}, 1, {SCALE})"
    return Run((text,), -(-tiles // SMS))


def h100(batches: int, n: int, heads: tuple[int, int], causal: bool = False) -> Case:
    runs = tuple(flash(n, each, 128 if causal else 176, causal) for each in heads)
    id = f"flash-h100-fa3-H16D128{'Causal' if causal else 'Full'}B{batches}S{n}"
    return Case(id, "attention", "h100", "flash.cu", runs, PARTS, TILES / (PARTS * SMS))


CASES = (
    Case("flash-5090-triton-fa-gpt2", "attention", "rtx5090", ATTENTION.file, once(ATTENTION.launch())),
    h100(64, 512, (33, 66)),
    h100(64, 512, (33, 66), causal=True),
    h100(16, 2048, (4, 8)),
    h100(4, 8192, (1, 2)),
)
