"""Local arrays that are filled with a value get it 16 bytes at a time.

    int counts[64] = {0};        call void @llvm.memset.p0.i64(ptr align 4 %4, i8 0, i64 256, i1 false), !dbg !7

LLVM makes a loop of it that stores bytes. nvcc's machine code has stores of 16 bytes, one after the other, for arrays
of 16 bytes to 4 KiB (nvcc 13.0), and the array is aligned to that.
"""

import re
from typing import NamedTuple

from gpuprof.compile.llvm.functions import FUNCTION

MOST_NBYTES = 4096
WIDE_NBYTES = 16

_ARRAY = re.compile(r"^  (%[\w.$]+) = (alloca [^\n]*?, align )(\d+)", re.MULTILINE)
_PART = re.compile(
    r"^  (%[\w.$]+) = getelementptr [^\n%]*?i8, ptr (%[\w.$]+), i64 (\d+)(?:, !dbg !\d+)?$", re.MULTILINE
)
_FILL = re.compile(
    r"^  (?:tail )?call void @llvm\.memset\.p\d\.i64\(ptr [^%@,]*?(%[\w.$]+), i8 (-?\d+), i64 (\d+), i1 false\)"
    r"[^\n]*?((?:, !dbg !\d+)?)$",
    re.MULTILINE,
)
_STORES = ((16, "<4 x i32>"), (8, "<2 x i32>"), (4, "i32"), (2, "i16"), (1, "i8"))


class _Fill(NamedTuple):
    """Bytes [first, end) of an array get the value `byte`."""

    array: str
    first: int
    end: int
    byte: int


def fill_widely(ir: str) -> str:
    """Optimized IR whose local arrays are filled by wide stores."""

    def in_function(function: re.Match) -> str:
        arrays = {match[1]: (match[1], 0) for match in _ARRAY.finditer(function[0])}
        parts = {match[1]: (match[2], int(match[3])) for match in _PART.finditer(function[0]) if match[2] in arrays}
        places, filled = arrays | parts, set()

        def stores(match: re.Match) -> str:
            place, value, nbytes, debug = match.groups()
            if place not in places or not WIDE_NBYTES <= int(nbytes) <= MOST_NBYTES:
                return match[0]
            array, first = places[place]
            filled.add(array)
            fill = _Fill(array, first, first + int(nbytes), int(value) & 255)
            return "\n".join(_stores(fill, match.start(), debug))

        text = _FILL.sub(stores, function[0])
        return _ARRAY.sub(lambda match: _aligned(match) if match[1] in filled else match[0], text)

    return FUNCTION.sub(in_function, ir)


def _aligned(match: re.Match) -> str:
    return f"  {match[1]} = {match[2]}{max(int(match[3]), WIDE_NBYTES)}"


def _stores(fill: _Fill, number: int, debug: str) -> list[str]:
    """`number`: one that no other fill of the function has."""
    lines, at = [], fill.first
    while at < fill.end:
        width, kind = next(each for each in _STORES if at % each[0] == 0 and at + each[0] <= fill.end)
        value = int.from_bytes(bytes([fill.byte]) * min(width, 4), "little", signed=True)
        constant = f"splat (i32 {value})" if kind.startswith("<") else str(value)
        place = f"%gpuprof.fill.{number}.{at}"
        lines.append(f"  {place} = getelementptr i8, ptr {fill.array}, i64 {at}{debug}")
        lines.append(f"  store {kind} {constant}, ptr {place}, align {width}{debug}")
        at += width
    return lines
