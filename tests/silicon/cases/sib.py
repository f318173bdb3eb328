"""The ladder of ten single-precision products of 4096^3, on four cards: event loops, so the L2 is warm.

A part of the chip takes its share of the blocks, or two waves of them where the grid has many; K is short, and the
cycles of the published K follow from the line through two.
"""

from typing import NamedTuple

from tests.silicon.case import Case, Run

SIZE = 4096
FLOP = 2 * SIZE**3


class Rung(NamedTuple):
    """`tile` is the block's, rows by columns; `rows_first` where blockIdx.x counts rows. `few` and `many` are the two
    K.
    """

    kernel: str
    tile: int
    threads: str
    few: int
    many: int
    rows_first: bool = False


class Card(NamedTuple):
    """`parts` of the chip; the blocks run are `blocks` by `blocks`, in tiles of 128, 64 and 32."""

    card: str
    parts: int
    sms: int


RUNGS = (
    Rung("naive", 32, "(32, 32)", 64, 128, rows_first=True),
    Rung("coalesced<32>", 32, "1024", 128, 256, rows_first=True),
    Rung("tiled<32>", 32, "1024", 128, 256, rows_first=True),
    Rung("column_a_thread<64,64,8,8>", 64, "512", 64, 128),
    Rung("square_a_thread<128,128,8,8,8>", 128, "256", 64, 128),
    Rung("wide_loads<128,128,8,8,8>", 128, "256", 64, 128),
    Rung("by_element<128,128,8,8,8>", 128, "256", 64, 128),
    Rung("padded<128,128,8,8,8>", 128, "256", 64, 128),
    Rung("autotuned<128,128,16,8,8>", 128, "256", 64, 128),
    Rung("warp_tiles<128,128,16,64,64,4,8,4,128>", 128, "128", 64, 128),
)
CARDS = {
    "a6000": Card("a6000", 12, 7),
    "a100": Card("a100-80", 12, 9),
    "a100pcie": Card("a100-40", 12, 9),
    "4090": Card("rtx4090", 16, 8),
}


def grid(rung: Rung, card: Card) -> tuple[int, int]:
    """Rows and columns of blocks that the part runs: as many an SM as the whole chip has, or four where it has more."""
    of_published = (SIZE // rung.tile) ** 2 / (card.sms * card.parts)
    blocks = round(min(of_published, 4) * card.sms)
    rows = max(divisor for divisor in range(1, blocks + 1) if blocks % divisor == 0 and divisor**2 <= blocks)
    return rows, blocks // rows


def launch(rung: Rung, card: Card, k: int) -> str:
    rows, columns = grid(rung, card)
    m, n = rows * rung.tile, columns * rung.tile
    extent = (rows, columns) if rung.rows_first else (columns, rows)
    arrays = f"f32[{m}*{k}]=random, f32[{k}*{n}]=random, 3.0, f32[{m}*{n}]"
    return f"{rung.kernel}<<<{extent}, {rung.threads}>>>({m}, {n}, {k}, 0.5, {arrays})"


def case(card_name: str, number: int, rung: Rung) -> Case:
    card = CARDS[card_name]
    rows, columns = grid(rung, card)
    return Case(
        f"sib-{card_name}-k{number}",
        "products",
        card.card,
        "products.cu",
        tuple(Run((launch(rung, card, k),), k) for k in (rung.few, rung.many)),
        parts=card.parts,
        whole_size=SIZE,
        times=(SIZE // rung.tile) ** 2 / (rows * columns * card.parts),
        work=FLOP,
    )


CASES = tuple(case(card, number, rung) for card in CARDS for number, rung in enumerate(RUNGS, 1))
