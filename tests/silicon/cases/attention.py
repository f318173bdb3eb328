"""Causal attention of GPT-2's size by Triton on an RTX 5090, under Nsight Compute: cold caches at the base clock. And
attention in the way of FlashAttention-3 on an H100, whose clock was locked: blocks that stay, one an SM.

A part of the H100 does tiles of fewer heads. All tiles of a head are alike where every row sees every key: what more
rounds of the SMs add is the time of one. Causal tiles are not: whichever SM is free takes the next, longest first within
a section of heads, and what more heads add is their share of the SMs.
"""

import math
from typing import NamedTuple

from tests.silicon.case import Case, Run, once
from tests.silicon.triton_ptx import ATTENTION

CHIP_SMS = 132
ROWS_OF_ALL = 2**15  # of a head, in all batches
BYTES_OF_A_SECTION = 2**25  # of keys and values: hopper/tile_scheduler.hpp


class Width(NamedTuple):
    """Heads of `width` elements: how many, rows of a tile, keys of a step where every row sees all and where causal."""

    width: int
    heads: int
    rows: int
    keys: tuple[int, int]

    def tiles(self, rows: int) -> int:
        return -(-rows // self.rows)

    def shared_nbytes(self, causal: bool) -> int:
        """q, two stages of k and v, weights of narrow heads that are not causal; barriers and the next tile."""
        keys = self.keys[causal]
        weights = self.rows * keys if self.width == 64 and not causal else 4
        return 2 * (self.width * (self.rows + 4 * keys) + weights) + 96


NARROW, WIDE = Width(64, 32, 192, (192, 128)), Width(128, 16, 128, (176, 128))


class Part(NamedTuple):
    """One of `parts` of the chip, and two numbers of heads; where not 0, `rows` of the one head, of as many as keys."""

    parts: int
    heads: tuple[int, int]
    rows: tuple[int, int] = (0, 0)


def flash(of: Width, causal: bool, blocks: int, heads: int, rows: int, keys: int, section: int) -> str:
    """The launch of so many blocks."""
    step = of.keys[causal]
    maps = ", ".join(
        f"tensormap(box=(1, {box}, 64), swizzle=128) {name}: f16[1,{length},{heads * of.width}]"
        for name, length, box in (("q", rows, of.rows), ("k", keys, step), ("v", keys, step), ("out", rows, 64))
    )
    kernel = f"attention<{of.width},{step},{str(causal).lower()}>"
    scale = round(math.log2(math.e) / math.sqrt(of.width), 6)
    arguments = f"{maps}, {rows}, {keys}, {heads}, 1, {scale}, {section}, i32[1]"
    return f"{kernel}<<<{blocks}, {128 + 2 * of.rows}, {of.shared_nbytes(causal)}>>>({arguments})"


def full(of: Width, n: int, part: Part) -> Case:
    """The size is the number of tiles that the busiest SM does."""
    sms = CHIP_SMS // part.parts
    runs = []
    for heads, rows in zip(part.heads, part.rows, strict=True):
        launch = flash(of, False, sms, heads, rows or n, n, 1)
        runs.append(Run((launch,), -(-of.tiles(rows or n) * heads // sms)))
    rounds = -(-of.tiles(n) * of.heads * ROWS_OF_ALL // n // CHIP_SMS)
    return h100(of, n, "Full", tuple(runs), part.parts, rounds)


def causal(of: Width, n: int, part: Part) -> Case:
    """The size is the number of heads."""
    section = 2 ** int(math.log2(BYTES_OF_A_SECTION / (4 * n * of.width)))
    its = max(1, section // part.parts)
    runs = tuple(
        Run((flash(of, True, CHIP_SMS // part.parts, heads, n, n, its),), heads) for heads in part.heads
    )
    return h100(of, n, "Causal", runs, part.parts, of.heads * ROWS_OF_ALL // n / part.parts)


def h100(of: Width, n: int, mask: str, runs: tuple[Run, ...], parts: int, whole: float) -> Case:
    id = f"flash-h100-fa3-H{of.heads}D{of.width}{mask}B{ROWS_OF_ALL // n}S{n}"
    return Case(id, "attention", "h100", "flash.cu", runs, parts, whole)


CASES = (
    Case("flash-5090-triton-fa-gpt2", "attention", "rtx5090", ATTENTION.file, once(ATTENTION.launch())),
    full(WIDE, 512, Part(4, (33, 66))),
    causal(WIDE, 512, Part(4, (32, 64))),
    full(WIDE, 2048, Part(4, (4, 8))),
    causal(WIDE, 2048, Part(4, (8, 16))),
    full(WIDE, 8192, Part(12, (1, 1), (2816, 5632))),
    causal(WIDE, 8192, Part(12, (1, 2))),
    full(NARROW, 512, Part(4, (22, 44))),
    causal(NARROW, 512, Part(4, (32, 64))),
    full(NARROW, 2048, Part(4, (6, 12))),
    causal(NARROW, 2048, Part(4, (12, 24))),
    full(NARROW, 8192, Part(12, (1, 1), (4224, 8192))),
    causal(NARROW, 8192, Part(12, (1, 2))),
)
