"""The ladder of ten single-precision products of 4096^3, on four cards: event loops, so the L2 is warm.

A part of the chip has as many blocks an SM; K is short, and the published one follows from the line through two.
"""

from tests.silicon.case import Case, Run

SIZE = 4096
FLOP = 2 * SIZE**3


def naive(k: int) -> str:
    return (
        f"naive<<<(4, 9), (32, 32)>>>(128, 288, {k}, 0.5, f32[128*{k}]=random, f32[{k}*288]=random, 3.0, f32[128*288])"
    )


CASES = (
    Case(
        "sib-a100-k1",
        "products",
        "a100-80",
        "products.cu",
        (Run((naive(64),), 64), Run((naive(128),), 128)),
        parts=12,
        whole_size=SIZE,
        times=SIZE * SIZE / (128 * 288 * 12),
        work=FLOP,
    ),
)
