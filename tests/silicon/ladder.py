"""Ladders of matrix products: what a rung is, and how a square product is run on a part of a chip.

The grid is run wave by wave. K is short, and the cycles of the published K follow from the line through two: long
enough for a block's start and end to overlap with no more of the others' work than they do at the published K.

The published times are of launches one after another. What the L2 holds from launch to launch, or from one row of
blocks to the next, a launch in front of the measured one brings there.
"""

import functools
from fractions import Fraction
from typing import NamedTuple

from gpuprof.chips import load_chip
from tests.silicon.cards import FOLDER
from tests.silicon.case import Case, Run

NBYTES = {"f32": 4, "f16": 2}  # of an element of A and B; those of C are singles


class Rung(NamedTuple):
    """`tile` is the block's, a square of the product; `rows_first` where blockIdx.x counts its rows. `element` is that
    of A and B, `few` and `many` are the two K, where the product is larger.
    """

    kernel: str
    tile: int
    threads: str
    rows_first: bool = False
    element: str = "f32"
    few: int = 256
    many: int = 512

    @property
    def family(self) -> str:
        return "products" if self.element == "f32" else "tensor"


class Part(NamedTuple):
    """One of `parts` equal parts of a card."""

    card: str
    parts: int | Fraction


class Matrices(NamedTuple):
    """The text of a launch's arrays."""

    a: str
    b: str
    c: str


def declared(size: int, k: int, element: str) -> Matrices:
    return Matrices(f"a: {element}[{size}*{k}]=random", f"b: {element}[{k}*{size}]=random", f"c: f32[{size}*{size}]")


def launches(rung: Rung, size: int, k: int, l2_nbytes: int) -> list[Matrices]:
    """The arrays of the launches of a run. Where all of three matrices fit the L2, the measured launch finds them
    there. Else it finds, if that fits, the one that each row or column of blocks goes through as a whole.
    """
    first, again = declared(size, k, rung.element), Matrices("a", "b", "c")
    matrix_nbytes = NBYTES[rung.element] * size**2
    if 2 * matrix_nbytes + NBYTES["f32"] * size**2 <= l2_nbytes:
        return [first, again]
    if matrix_nbytes > l2_nbytes:
        return [first]
    if rung.rows_first:
        return [first, again._replace(b=first.b.replace("b:", "other:"))]
    return [first, again._replace(a=first.a.replace("a:", "other:"))]


@functools.cache
def _l2_nbytes(card: str) -> int:
    return load_chip(FOLDER / f"{card}.toml").l2_nbytes


def product(
    id: str, file: str, rung: Rung, part: Part, size: int, arguments: str, ladder: str, group: str = ""
) -> Case:
    """`arguments` is the text of the kernel's, with {m}, {n} and {k} for sizes, {a}, {b} and {c} for arrays."""
    blocks = size // rung.tile
    l2_nbytes = _l2_nbytes(part.card)

    def run(k: int) -> Run:
        configuration = f"{rung.kernel}<<<({blocks}, {blocks}), {rung.threads}>>>"
        return Run(
            tuple(
                f"{configuration}({arguments.format(m=size, n=size, k=k, **arrays._asdict())})"
                for arrays in launches(rung, size, k, l2_nbytes)
            ),
            k,
        )

    return Case(
        id,
        rung.family,
        part.card,
        file,
        (run(min(rung.few, size // 2)), run(min(rung.many, size))),
        parts=part.parts,
        whole_size=size,
        by_waves=True,
        work=2 * size**3,
        group=group,
        ladder=ladder,
    )
