"""Causal attention of GPT-2's size by Triton on an RTX 5090, under Nsight Compute: cold caches at the base clock. And
attention in the way of FlashAttention-3 on an H100, whose clock was locked: blocks that stay, one an SM.

A twelfth of the H100 does tiles of fewer heads. All tiles of a head are alike where every row sees every key: what more
rounds of the SMs add is the time of one. Causal tiles are not: a free SM takes the next one, longest first within a
section of heads, and what more heads add is their share of the SMs.
"""

import math
from typing import NamedTuple

from tests.silicon.case import Case, Run, once
from tests.silicon.triton_ptx import ATTENTION

PARTS, ALL_SMS = 12, 132
SMS = ALL_SMS // PARTS
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


def flash(of: Width, causal: bool, heads: int, rows: int, keys: int, section: int, sms: int = SMS) -> str:
    """The launch of a block for each SM of the part."""
    step = of.keys[causal]
    maps = ", ".join(
        f"tensormap(box=(1, {box}, 64), swizzle=128) {name}: f16[1,{length},{heads * of.width}]"
        for name, length, box in (("q", rows, of.rows), ("k", keys, step), ("v", keys, step), ("out", rows, 64))
    )
    kernel = f"attention<{of.width},{step},{str(causal).lower()}>"
    scale = round(math.log2(math.e) / math.sqrt(of.width), 6)
    arguments = f"{maps}, {rows}, {keys}, {heads}, 1, {scale}, {section}, i32[1]"
    return f"{kernel}<<<{sms}, {128 + 2 * of.rows}, {of.shared_nbytes(causal)}>>>({arguments})"


def full(of: Width, n: int, heads: tuple[int, int], rows: tuple[int, int] = (0, 0)) -> Case:
    """The size is the number of tiles of the SM that has most. Where `rows` are not 0, each head has so many."""
    runs = tuple(
        Run((flash(of, False, each, some or n, n, 1),), -(-of.tiles(some or n) * each // SMS))
        for each, some in zip(heads, rows, strict=True)
    )
    return h100(of, n, "Full", runs, -(-of.tiles(n) * of.heads * ROWS_OF_ALL // n // (PARTS * SMS)))


def causal(of: Width, n: int, heads: tuple[int, int], parts: int = PARTS) -> Case:
    """The size is the number of heads. A section of them has its keys and values in two thirds of the L2; a part of
    the chip that has less for one head would fetch them again for each tile.
    """
    section = 2 ** int(math.log2(BYTES_OF_A_SECTION / (4 * n * of.width)))
    sms = ALL_SMS // parts
    runs = tuple(Run((flash(of, True, each, n, n, max(1, section // parts), sms),), each) for each in heads)
    return h100(of, n, "Causal", runs, of.heads * ROWS_OF_ALL / n / parts, parts)


def h100(of: Width, n: int, mask: str, runs: tuple[Run, ...], whole: float, parts: int = PARTS) -> Case:
    id = f"flash-h100-fa3-H{of.heads}D{of.width}{mask}B{ROWS_OF_ALL // n}S{n}"
    return Case(id, "attention", "h100", "flash.cu", runs, parts, whole)


def second(causal: bool) -> Case:
    """FlashAttention-2, 32 heads of 64 and 32 batches of 256 rows: a quarter of the H100 has eight of these."""
    arrays = ", ".join(["f16[8,256,2048]"] * 4)
    scale = round(math.log2(math.e) / 8, 6)
    launch = f"second<{str(causal).lower()}><<<(2, 8, 32), 128, 49152>>>({arrays}, 256, 32, {scale})"
    id = f"flash-h100-fa2-H32D64{'Causal' if causal else 'Full'}B32S256"
    return Case(id, "attention", "h100", "attention_mma.cu", once(launch), 4)


CASES = (
    Case("flash-5090-triton-fa-gpt2", "attention", "rtx5090", ATTENTION.file, once(ATTENTION.launch())),
    full(WIDE, 512, (11, 22)),
    causal(WIDE, 512, (11, 22)),
    full(WIDE, 2048, (2, 4)),
    causal(WIDE, 2048, (3, 6)),
    full(WIDE, 8192, (1, 1), (1408, 2816)),
    causal(WIDE, 8192, (1, 2), 6),
    full(NARROW, 512, (11, 22)),
    causal(NARROW, 512, (11, 22)),
    full(NARROW, 2048, (2, 4)),
    causal(NARROW, 2048, (4, 8)),
    full(NARROW, 8192, (1, 1), (2112, 4224)),
    causal(NARROW, 8192, (1, 2)),
    second(False),
    second(True),
)
