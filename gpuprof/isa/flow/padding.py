"""Copies of whole structures, which take along padding: bytes between their members and behind them. Comments in the
PTX of a module tell of them:

    // gpuprof: a.cu:12:15 copies 24 bytes; padding: 1-4 18-24
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NUMBER = r"\d{1,9}"
_RANGE = f"{_NUMBER}-{_NUMBER}"
_LINE = re.compile(
    rf"^// gpuprof: (.+):({_NUMBER}):({_NUMBER}) copies ([1-9]\d{{0,8}}) bytes; padding: ({_RANGE}(?: {_RANGE})*)$",
    re.MULTILINE,
)

Range = tuple[int, int]  # of bytes: the first, and the one behind the last


class PaddedCopy(NamedTuple):
    """`nbytes` are copied by code of a source position; those in `padding`, ascending, have no value."""

    file: str
    line: int
    column: int
    nbytes: int
    padding: tuple[Range, ...]

    def __str__(self) -> str:
        ranges = " ".join(f"{first}-{end}" for first, end in self.padding)
        return f"// gpuprof: {self.file}:{self.line}:{self.column} copies {self.nbytes} bytes; padding: {ranges}"


def padded_copies(ptx: str) -> Iterator[PaddedCopy]:
    for file, line, column, nbytes, ranges in _LINE.findall(ptx):
        padding = tuple((int(first), int(end)) for first, end in (each.split("-") for each in ranges.split()))
        yield PaddedCopy(file, int(line), int(column), int(nbytes), padding)
