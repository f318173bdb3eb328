"""Ladders of matrix products: what a rung is, and how a square product is run on a part of a chip.

The part takes its share of the blocks, or a few waves of them where the grid has many; K is short, and the cycles of
the published K follow from the line through two.
"""

from typing import NamedTuple

from tests.silicon.case import Case, Run

MOST_BLOCKS = 4  # an SM; of blocks of 1024 threads two are resident


class Rung(NamedTuple):
    """`tile` is the block's, a square of the product; `rows_first` where blockIdx.x counts its rows. `few` and `many`
    are the two K.
    """

    kernel: str
    tile: int
    threads: str
    few: int
    many: int
    rows_first: bool = False


class Part(NamedTuple):
    """One of `parts` equal parts of a card, of `sms` SMs."""

    card: str
    parts: int
    sms: int


def grid(tile: int, size: int, part: Part) -> tuple[int, int]:
    """Rows and columns of blocks that the part runs of a product of size x size."""
    of_published = (size // tile) ** 2 / part.parts
    blocks = round(min(of_published, MOST_BLOCKS * part.sms))
    rows = max(divisor for divisor in range(1, blocks + 1) if blocks % divisor == 0 and divisor**2 <= blocks)
    return rows, blocks // rows


def product(
    id: str, file: str, rung: Rung, part: Part, size: int, arguments: str, ladder: str, group: str = ""
) -> Case:
    """`arguments` is the text of the kernel's, with {m}, {n} and {k} for sizes."""
    rows, columns = grid(rung.tile, size, part)
    m, n = rows * rung.tile, columns * rung.tile
    extent = (rows, columns) if rung.rows_first else (columns, rows)

    def launch(k: int) -> str:
        return f"{rung.kernel}<<<{extent}, {rung.threads}>>>({arguments.format(m=m, n=n, k=k)})"

    return Case(
        id,
        "products",
        part.card,
        file,
        tuple(Run((launch(k),), k) for k in (rung.few, rung.many)),
        parts=part.parts,
        whole_size=size,
        times=(size // rung.tile) ** 2 / (rows * columns * part.parts),
        work=2 * size**3,
        group=group,
        ladder=ladder,
    )
