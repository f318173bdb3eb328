"""Local arrays into registers: loops that choose an element of one by their counter are unrolled whole.

An array can live in registers only where each index is a constant. nvcc unrolls such loops beyond its usual bound, up
to some 256 turns; LLVM has one bound for all loops. Here clang's IR, before any pass, gets a mark at these loops:
`llvm.loop.unroll.full`, as by `#pragma unroll`.

    float sums[64];                                        alloca [64 x float]
    for (int i = 0; i < 64; i++) sums[i] = 0;              br label %10, !llvm.loop !5
                                                           !5 = distinct !{!5, !3, !{!"llvm.loop.unroll.full"}}
"""

import re

from gpuprof.compile.llvm.loops import (
    Definition,
    Loop,
    comparison,
    definitions,
    functions,
    loops,
    marked,
    stored,
    variables,
)

# nvcc 13.0 keeps `float a[256]` in registers, and of `float a[384]` only part (kernels of one loop over one array).
MOST_ELEMENTS = 256

_ARRAY = re.compile(r"^  (%[\w.]+) = alloca ((?:\[\d+ x )+)", re.MULTILINE)
_BOUND = re.compile(r" \w+ i\d+ %[\w.]+, -?\d+(?:,|$)")
_UNROLL_NODE = re.compile(r'^(!\d+) = !\{!"llvm\.loop\.unroll\.', re.MULTILINE)
_FULL = '!{!"llvm.loop.unroll.full"}'


def unroll_over_local_arrays(ir: str) -> str:
    nodes = {node for function in functions(ir) for node in _loops_over_arrays(function)}
    own_pragmas = set(_UNROLL_NODE.findall(ir))  # the user's
    return marked(ir, nodes, _FULL, own_pragmas)


def _loops_over_arrays(function: str) -> list[str]:
    """The metadata of the loops, with a constant bound, whose counter is part of an index of a local array."""
    arrays = {name for name, sizes in _ARRAY.findall(function) if _n_elements(sizes) <= MOST_ELEMENTS}
    if not arrays:
        return []
    lines = function.split("\n")
    made = definitions(lines)
    return [loop.node for loop in loops(lines) if _is_over_array(lines, loop, made, arrays)]


def _n_elements(sizes: str) -> int:
    product = 1
    for size in re.findall(r"\d+", sizes):
        product *= int(size)
    return product


def _is_over_array(lines: list[str], loop: Loop, made: dict[str, Definition], arrays: set[str]) -> bool:
    counters = _counters(lines, loop, made)
    inside = definitions(lines[loop.first : loop.last]) if counters else {}
    for definition in inside.values():
        if definition.op == "getelementptr":
            base, *indices = definition.operands
            if indices and _base_of(base, made) in arrays and counters & variables(indices, made):
                return True
    return False


def _counters(lines: list[str], loop: Loop, made: dict[str, Definition]) -> set[str]:
    """The variables that the loop's condition compares with a constant, and that the loop writes."""
    test = comparison(lines, loop)
    if test is None or not _BOUND.search(made[test].text):
        return set()
    return stored(lines, loop) & variables([test], made)


def _base_of(pointer: str, made: dict[str, Definition]) -> str:
    """The array or pointer that an address begins at."""
    while pointer in made and made[pointer].op in ("getelementptr", "addrspacecast"):
        pointer = made[pointer].operands[0]
    return pointer
