"""Bit fields at constant places, written as the manual's loops over bits, and chains of carries with links that leave
the carry alone.
"""

import itertools

import numpy as np
import pytest

from gpuprof.errors import GpuprofError
from tests.support.ptx_lanes import run_lanes
from tests.support.ptx_support import assemble_text, kernel_text

VALUES = np.array([0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x00010000], np.uint64)
WIDE = np.concatenate([VALUES, VALUES << np.uint64(32), ~VALUES, VALUES * np.uint64(0x100000001)])
PLACES = (0, 1, 2, 7, 8, 15, 16, 30, 31, 32, 33, 47, 62, 63, 64, 200, 255, 256, 0x1FF)


def extracted(a: int, position: int, length: int, nbits: int, signed: bool) -> int:
    """PTX ISA, bfe."""
    position, length = position & 0xFF, length & 0xFF
    sign = a >> min(position + length - 1, nbits - 1) & 1 if signed and length else 0
    bits = [a >> position + i & 1 if i < length and position + i < nbits else sign for i in range(nbits)]
    return sum(bit << i for i, bit in enumerate(bits))


def inserted(a: int, b: int, position: int, length: int, nbits: int) -> int:
    """PTX ISA, bfi."""
    position, length = position & 0xFF, length & 0xFF
    for i in range(min(length, nbits - position)):
        b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_fields_taken(kind):
    nbits = int(kind[1:])
    r, row = ("r", VALUES) if nbits == 32 else ("d", WIDE)
    pairs = list(itertools.product(PLACES, PLACES))
    for first in range(0, len(pairs), 60):
        some = pairs[first : first + 60]
        found = run_lanes([f"bfe.{kind} {r}0, {r}1, {position}, {length}" for position, length in some], {f"{r}1": row})
        for (position, length), (values,) in zip(some, found, strict=True):
            assert values.tolist() == [extracted(a, position, length, nbits, kind[0] == "s") for a in row.tolist()], (
                position,
                length,
            )


@pytest.mark.parametrize("nbits", [32, 64])
def test_fields_put(nbits):
    r, row = ("r", VALUES) if nbits == 32 else ("d", WIDE)
    pairs = list(itertools.product(PLACES, PLACES))
    for first in range(0, len(pairs), 60):
        some = pairs[first : first + 60]
        texts = [f"bfi.b{nbits} {r}0, {r}1, {r}2, {position}, {length}" for position, length in some]
        for (position, length), (values,) in zip(
            some, run_lanes(texts, {f"{r}1": row, f"{r}2": row[::-1]}), strict=True
        ):
            wanted = [
                inserted(a, b, position, length, nbits) for a, b in zip(row.tolist(), row.tolist()[::-1], strict=True)
            ]
            assert values.tolist() == wanted, (position, length)


@pytest.mark.parametrize("bits", [32, 64])
def test_only_cc_changes_the_carry(bits):
    """The link in the middle overflows, or borrows, just where the first one does not; without .cc the last one does
    not learn of it.
    """
    r, row = ("r", VALUES) if bits == 32 else ("d", WIDE)
    mask = (1 << bits) - 1
    others = row[::-1]
    texts = [
        f"add.cc.u{bits} {r}0, {r}1, {r}2; addc.u{bits} {r}0, {r}3, {r}3; addc.u{bits} {r}0, 0, 0",
        f"sub.cc.u{bits} {r}0, {r}1, {r}2; subc.u{bits} {r}0, {r}2, {r}1; subc.u{bits} {r}0, 5, 0",
        f"add.cc.u{bits} {r}0, {r}1, {r}2; madc.hi.u{bits} {r}0, {r}3, {r}3, {r}3; addc.u{bits} {r}0, 0, 0",
    ]
    sums, differences, products = (
        values.tolist()
        for (values,) in run_lanes(texts, {f"{r}1": row, f"{r}2": others, f"{r}3": ~row & np.uint64(mask)})
    )
    pairs = list(zip(row.tolist(), others.tolist(), strict=True))
    assert sums == products == [a + b >> bits for a, b in pairs]
    assert differences == [5 - (a < b) for a, b in pairs]


@pytest.mark.parametrize(
    "text",
    [
        "min.relu.u16x2 %r1, %r2, %r3;",
        "max.relu.u32 %r1, %r2, %r3;",
        "add.sat.u32 %r1, %r2, %r3;",
        "mul24.lo.sat.s32 %r1, %r2, %r3;",
    ],
)
def test_forms_that_ptx_does_not_have(text):
    with pytest.raises(GpuprofError, match=r"k\.ptx:12: unsupported"):
        assemble_text(kernel_text(text))
