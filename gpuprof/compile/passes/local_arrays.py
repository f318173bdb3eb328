"""Local arrays into registers: loops that choose an element of one by their counter are unrolled whole.

An array can live in registers only where each index is a constant. nvcc unrolls such loops beyond its usual bound, up
to some 256 turns; LLVM has one bound for all loops. Here clang's IR, before any pass, gets a mark at these loops:
`llvm.loop.unroll.full`, as by `#pragma unroll`.

The array may be a member of a structure, and a loop may be in a method or a function that is given the array.

    float sums[64];                                        alloca [64 x float]
    for (int i = 0; i < 64; i++) sums[i] = 0;              br label %10, !llvm.loop !5
                                                           !5 = distinct !{!5, !3, !{!"llvm.loop.unroll.full"}}
"""

import re
from functools import cache
from math import prod

from gpuprof.compile.llvm.local_pointers import Function, calls, with_local_arrays
from gpuprof.compile.llvm.loops import Loop, comparison, definitions, loops, marked, stored, variables

# nvcc 13.0 keeps `float a[256]` in registers, and of `float a[384]` only part (kernels of one loop over one array).
MOST_ELEMENTS = 256

_STRUCTURE = re.compile(r"^(%[\w.:]+|%\"[^\"]+\") = type (.*)$", re.MULTILINE)
_ARRAY = re.compile(r"(?:\[\d+ x )+")
_BOUND = re.compile(r" \w+ i\d+ %[\w.]+, -?\d+(?:,|$)")
_UNROLL_NODE = re.compile(r'^(!\d+) = !\{!"llvm\.loop\.unroll\.', re.MULTILINE)
_FULL = '!{!"llvm.loop.unroll.full"}'


def unroll_over_local_arrays(ir: str) -> str:
    structures = dict(_STRUCTURE.findall(ir))
    n_elements = cache(lambda kind: _n_elements(kind, structures))
    indices = _Indices(with_local_arrays(ir, lambda kind: 0 < n_elements(kind) <= MOST_ELEMENTS))
    nodes = {node for name in indices.found for node in _loops_over_arrays(name, indices)}
    own_pragmas = set(_UNROLL_NODE.findall(ir))  # the user's
    return marked(ir, nodes, _FULL, own_pragmas)


def _n_elements(kind: str, structures: dict[str, str]) -> int:
    """Elements of the largest array in a type: an array itself, or a member of a structure. No type
    names itself: pointers have no type.
    """
    sizes = [prod(map(int, re.findall(r"\d+", found))) for found in _ARRAY.findall(kind)]
    members = [name for name in re.findall(r'%[\w.:]+|%"[^"]+"', kind) if name in structures]
    return max([*sizes, *(_n_elements(structures[name], structures) for name in members)], default=0)


class _Indices:
    """The variables that choose elements of local arrays. `found`: the functions that have such, by name, with these.
    `parameters`: those of each function that are part of an index, there or in what it calls, as an operator `[]` has
    one.
    """

    def __init__(self, found: dict[str, tuple[Function, set[str]]]):
        self.found = found
        self.parameters: dict[str, set[str]] = {name: set() for name in found}
        changed = True
        while changed:
            changed = False
            for name, (function, _) in found.items():
                kept = {function.kept.get(variable, "") for variable in self.variables(name, function.text)}
                new = kept & set(function.parameters) - self.parameters[name]
                self.parameters[name] |= new
                changed |= bool(new)

    def variables(self, name: str, text: str) -> set[str]:
        """The variables that are part of an index in some lines of a function."""
        function, arrays = self.found[name]
        indices: list[str] = []
        for definition in definitions(text.split("\n")).values():
            pointer, *others = definition.operands or ("",)
            if definition.op == "getelementptr" and function.base_of(pointer) in arrays:
                indices += others
        for callee, arguments in calls(text):
            if self.parameters.get(callee) and any(function.base_of(each) in arrays for each in arguments):
                given = self.found[callee][0].given(arguments)
                indices += [argument for own, argument in given if own in self.parameters[callee]]
        return variables(indices, function.made)


def _loops_over_arrays(name: str, indices: _Indices) -> list[str]:
    """The metadata of the loops, with a constant bound, whose counter is part of an index of a local array."""
    function, _ = indices.found[name]
    lines = function.text.split("\n")
    return [
        loop.node
        for loop in loops(lines)
        if (counters := _counters(lines, loop, function))
        and counters & indices.variables(name, "\n".join(lines[loop.first : loop.last]))
    ]


def _counters(lines: list[str], loop: Loop, function: Function) -> set[str]:
    """The variables that the loop's condition compares with a constant, and that the loop writes."""
    test = comparison(lines, loop)
    if test is None or not _BOUND.search(function.made[test].text):
        return set()
    return stored(lines, loop) & variables([test], function.made)
