"""Padding of structures: what lies between their members and behind them, which nobody gives a value. Comments in the
PTX of a module tell where structures are copied whole, and where their members are written:

    // gpuprof: a.cu:12:15 copies 24 bytes; padding: bits 8-32 144-192
    // gpuprof: a.cu:13:15 stores 2 bytes at 16 of 24; padding: bits 8-32 144-192; fields: none
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NUMBER = r"\d{1,9}"
_SIZE = r"[1-9]\d{0,8}"
_RANGE = f"{_NUMBER}-{_NUMBER}"
_BITS = f"(none|bits {_RANGE}(?: {_RANGE})*)"
_PLACE = rf"^// gpuprof: (.+):({_NUMBER}):({_NUMBER})"
_COPY = re.compile(rf"{_PLACE} copies ({_SIZE}) bytes; padding: {_BITS}$", re.MULTILINE)
_STORE = re.compile(
    rf"{_PLACE} stores ({_SIZE}) bytes at ({_NUMBER}) of ({_SIZE}); padding: {_BITS}; fields: {_BITS}$", re.MULTILINE
)

Range = tuple[int, int]  # the first, and the one behind the last


class PaddedCopy(NamedTuple):
    """`nbytes` are copied by code of a source position; the bits in `padding`, ascending, have no value."""

    file: str
    line: int
    column: int
    nbytes: int
    padding: tuple[Range, ...]

    def __str__(self) -> str:
        return f"// gpuprof: {_place(self)} copies {self.nbytes} bytes; padding: {_bits(self.padding)}"


class MemberStore(NamedTuple):
    """`nbytes` at byte `offset` of a structure of `of_nbytes` are written by code of a source position; the structure's
    bits in `padding`, ascending, have no value, and those in `fields` belong to bit fields.
    """

    file: str
    line: int
    column: int
    nbytes: int
    offset: int
    of_nbytes: int
    padding: tuple[Range, ...]
    fields: tuple[Range, ...]

    def __str__(self) -> str:
        what = f"stores {self.nbytes} bytes at {self.offset} of {self.of_nbytes}"
        return f"// gpuprof: {_place(self)} {what}; padding: {_bits(self.padding)}; fields: {_bits(self.fields)}"


def padded_copies(ptx: str) -> Iterator[PaddedCopy]:
    for file, line, column, nbytes, ranges in _COPY.findall(ptx):
        yield PaddedCopy(file, int(line), int(column), int(nbytes), _ranges(ranges))


def member_stores(ptx: str) -> Iterator[MemberStore]:
    for file, *numbers, padding, fields in _STORE.findall(ptx):
        yield MemberStore(file, *map(int, numbers), _ranges(padding), _ranges(fields))


def _place(at: PaddedCopy | MemberStore) -> str:
    return f"{at.file}:{at.line}:{at.column}"


def _bits(ranges: tuple[Range, ...]) -> str:
    return " ".join(("bits", *(f"{first}-{end}" for first, end in ranges))) if ranges else "none"


def _ranges(text: str) -> tuple[Range, ...]:
    each = () if text == "none" else text.removeprefix("bits").split()
    return tuple((int(first), int(end)) for first, end in (part.split("-") for part in each))
