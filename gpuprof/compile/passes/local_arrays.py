"""Local arrays into registers: loops that choose an element of one by their counter are unrolled whole.

An array can live in registers only where each index is a constant. nvcc unrolls such loops beyond its usual bound, up
to some 256 turns; LLVM has one bound for all loops. Here clang's IR, before any pass, gets a mark at these loops:
`llvm.loop.unroll.full`, as by `#pragma unroll`.

    float sums[64];                                        alloca [64 x float]
    for (int i = 0; i < 64; i++) sums[i] = 0;              br label %10, !llvm.loop !5
                                                           !5 = distinct !{!5, !3, !{!"llvm.loop.unroll.full"}}
"""

import re
from typing import NamedTuple

# nvcc 13.0 keeps `float a[256]` in registers, and of `float a[384]` only part (kernels of one loop over one array).
MOST_ELEMENTS = 256

_FUNCTION = re.compile(r"^define .*?^\}\n", re.MULTILINE | re.DOTALL)
_ARRAY = re.compile(r"^  (%[\w.]+) = alloca ((?:\[\d+ x )+)", re.MULTILINE)
_DEFINITION = re.compile(r"  (%[\w.]+) = (\w+)(.*)")
_STORE = re.compile(r"  store .*, ptr (%[\w.]+),")
_LABEL = re.compile(r"([\w.]+):")
_LATCH = re.compile(r"  br label %([\w.]+).*!llvm\.loop (!\d+)")
_BOUND = re.compile(r" \w+ i\d+ %[\w.]+, -?\d+(?:,|$)")
_REGISTER = re.compile(r"%[\w.]+")
_LOOP_NODE = re.compile(r"^(!\d+) = distinct !\{\1(.*)\}$", re.MULTILINE)
_UNROLL_NODE = re.compile(r'^(!\d+) = !\{!"llvm\.loop\.unroll\.', re.MULTILINE)
_FULL = '!{!"llvm.loop.unroll.full"}'


class _Definition(NamedTuple):
    op: str
    operands: tuple[str, ...]


class _Loop(NamedTuple):
    """Lines `first` to `last` of a function; `node` is the loop's metadata."""

    first: int
    last: int
    node: str


def unroll_over_local_arrays(ir: str) -> str:
    nodes = {node for function in _FUNCTION.findall(ir) for node in _loops_over_arrays(function)}
    own_pragmas = set(_UNROLL_NODE.findall(ir))  # the user's

    def mark(match: re.Match) -> str:
        node, others = match.groups()
        if node not in nodes or own_pragmas & set(re.findall(r"!\d+", others)):
            return match[0]
        return f"{node} = distinct !{{{node}{others}, {_FULL}}}"

    return _LOOP_NODE.sub(mark, ir) if nodes else ir


def _loops_over_arrays(function: str) -> list[str]:
    """The metadata of the loops, with a constant bound, whose counter is part of an index of a local array."""
    arrays = {name for name, sizes in _ARRAY.findall(function) if _n_elements(sizes) <= MOST_ELEMENTS}
    if not arrays:
        return []
    lines = function.split("\n")
    made = {
        match[1]: _Definition(match[2], tuple(_REGISTER.findall(match[3].partition(", !")[0])))
        for line in lines
        if (match := _DEFINITION.match(line))
    }
    return [loop.node for loop in _loops(lines) if _is_over_array(lines, loop, made, arrays)]


def _n_elements(sizes: str) -> int:
    product = 1
    for size in re.findall(r"\d+", sizes):
        product *= int(size)
    return product


def _loops(lines: list[str]) -> list[_Loop]:
    """Clang lays a loop out in one piece, from its condition to the branch back."""
    labels = {match[1]: number for number, line in enumerate(lines) if (match := _LABEL.match(line))}
    latches = ((number, _LATCH.match(line)) for number, line in enumerate(lines))
    return [_Loop(labels[match[1]], number, match[2]) for number, match in latches if match]


def _is_over_array(lines: list[str], loop: _Loop, made: dict[str, _Definition], arrays: set[str]) -> bool:
    counters = _counters(lines, loop, made)
    for line in lines[loop.first : loop.last] if counters else ():
        match = _DEFINITION.match(line)
        if match and match[2] == "getelementptr":
            base, *indices = made[match[1]].operands
            if indices and _base_of(base, made) in arrays and counters & _variables(indices, made):
                return True
    return False


def _counters(lines: list[str], loop: _Loop, made: dict[str, _Definition]) -> set[str]:
    """The variables that the loop's condition compares with a constant, and that the loop writes."""
    stored = {match[1] for line in lines[loop.first : loop.last] if (match := _STORE.match(line))}
    for line in lines[loop.first : loop.last]:
        match = _DEFINITION.match(line)
        if match and match[2] == "icmp":
            return stored & _variables([match[1]], made) if _BOUND.search(match[3]) else set()
        if line.startswith("  br "):
            break
    return set()


def _base_of(pointer: str, made: dict[str, _Definition]) -> str:
    """The array or pointer that an address begins at."""
    while pointer in made and made[pointer].op in ("getelementptr", "addrspacecast"):
        pointer = made[pointer].operands[0]
    return pointer


def _variables(values: list[str], made: dict[str, _Definition]) -> set[str]:
    """The local variables that values are worked out from."""
    variables, seen, todo = set(), set(), list(values)
    while todo:
        value = todo.pop()
        if value in seen or value not in made:
            continue
        seen.add(value)
        definition = made[value]
        if definition.op == "load":
            variables |= set(definition.operands)
        elif definition.op not in ("call", "alloca"):
            todo += definition.operands
    return variables
