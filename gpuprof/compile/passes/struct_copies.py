"""Copies of structures are as wide as the alignment of their type allows.

    __shared__ float tile[1024];
    *(float4 *)(tile + 4 * i) = v;

nvcc takes the alignment from the type that the pointer was cast to: 16 bytes, one load and one store. Clang takes it
from the array, whose elements have 4. Here clang's IR, not optimized yet, gets the alignment of the type on both sides
of such a copy, wherever one side shows that.

    call void @llvm.memcpy.p0.p0.i64(ptr align 4 %23, ptr align 16 %8, i64 16, i1 false), !dbg !7, !tbaa.struct !9

Only a copy of a structure has `!tbaa.struct`; `__builtin_memcpy` has not, and may be of bytes that lie anywhere. What
clang says of types in this way is dropped after that: LLVM would take accesses of different types for those of
different objects, as nvcc does not (`compile.undefined`).
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from gpuprof.compile.layouts.structures import NAME, declared_alignments, unions_have
from gpuprof.compile.llvm.functions import FUNCTION
from gpuprof.compile.llvm.metadata import Metadata

_SIDE = r"(ptr(?: addrspace\(\d\))?[^,()%@]*? align )(\d+) "
_COPY = re.compile(
    rf"^(  [^\n]*?call void @llvm\.memcpy\S*\(){_SIDE}(.+?), {_SIDE}(.+?), i64 (\d+), i1 false\)"
    r"(.*, !tbaa\.struct .*)$",
    re.MULTILINE,
)
_DEFINITION = re.compile(r"^  (%[\w.$]+) = (\w+) (.*)$", re.MULTILINE)
_OF_STRUCTURE = re.compile(rf"[^%,]*({NAME})(?:, ptr (?:addrspace\(\d\) )?[^,]+, \w+ [^,]+)?, (?:align|!dbg)")
_OF_NUMBER = re.compile(
    r"[^%,]*(?:i\d+|half|bfloat|float|double), ptr (?:addrspace\(\d\) )?(\S+), \w+ [^,]+(?:, !dbg|$)"
)
_TYPES = re.compile(r", !tbaa(?:\.struct)? !\d+")


class _Side(NamedTuple):
    pointer: str
    alignment: int  # that clang knows, bytes


def align_copies(ir: str, metadata: Metadata) -> str:
    """Clang's IR with the alignment of structures at their copies."""
    declared = declared_alignments(metadata)
    in_union = cache(lambda nbytes: unions_have(metadata, nbytes))  # looks at all of the metadata

    def in_function(function: re.Match) -> str:
        if not _COPY.search(function[0]):
            return function[0]
        made = {match[1]: (match[2], match[3]) for match in _DEFINITION.finditer(function[0])}
        return _COPY.sub(lambda match: _aligned(match, made, declared, in_union), function[0])

    return FUNCTION.sub(in_function, ir)


def without_types(ir: str) -> str:
    """Clang's IR without what it says of the types of accesses."""
    return _TYPES.sub("", ir)


def _aligned(match: re.Match, made: dict, declared: Callable[[str, int], int], in_union: Callable[[int], bool]) -> str:
    head, to_head, to_alignment, to, from_head, from_alignment, source, nbytes, tail = match.groups()
    sides = _Side(to, int(to_alignment)), _Side(source, int(from_alignment))
    shown = [
        _of_type(side, made, int(nbytes), declared) or _of_cast(side, made, int(nbytes), in_union) for side in sides
    ]
    wanted = max(shown)
    new_to, new_from = (max(side.alignment, wanted) for side in sides)
    return f"{head}{to_head}{new_to} {to}, {from_head}{new_from} {source}, i64 {nbytes}, i1 false){tail}"


def _of_type(side: _Side, made: dict, nbytes: int, declared: Callable[[str, int], int]) -> int:
    """The declared alignment of the structure that a side is a variable or an element of; 0 for others."""
    op, rest = made.get(side.pointer, ("", ""))
    match = _OF_STRUCTURE.match(rest) if op in ("alloca", "getelementptr") else None
    return declared(match[1], nbytes) if match else 0


def _of_cast(side: _Side, made: dict, nbytes: int, in_union: Callable[[int], bool]) -> int:
    """The alignment that clang knows of what a pointer leads to, which was cast: 0 where it knows that from a variable,
    or of a union or structure around what is copied.
    """
    op, rest = made.get(side.pointer, ("", ""))
    if side.alignment > nbytes or in_union(nbytes):
        return 0
    while op == "getelementptr":
        match = _OF_NUMBER.match(rest)
        if match is None:
            return 0
        op, rest = made.get(match[1], ("", ""))
    return side.alignment if op in ("load", "call") else 0
