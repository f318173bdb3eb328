"""The loops of functions of clang's IR, not optimized yet, and marks of them for LLVM.

br label %10, !llvm.loop !5
!5 = distinct !{!5, !3, !{!"llvm.loop.unroll.full"}}
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_DEFINITION = re.compile(r"  (%[\w.]+) = (\w+)(.*)")
_STORE = re.compile(r"  store .*, ptr (%[\w.]+),")
_LABEL = re.compile(r"([\w.]+):")
_LATCH = re.compile(r"  br label %([\w.]+).*!llvm\.loop (!\d+)")
_REGISTER = re.compile(r"%(?!(?:struct|class|union)\.)[\w.]+")  # and no structure
_LOOP_NODE = re.compile(r"^(!\d+) = distinct !\{\1(.*)\}$", re.MULTILINE)


class Definition(NamedTuple):
    """`text`: what follows the operation."""

    op: str
    operands: tuple[str, ...]
    text: str


class Loop(NamedTuple):
    """Lines `first` to `last` of a function; `node` is the loop's metadata."""

    first: int
    last: int
    node: str


def definitions(lines: Iterable[str]) -> dict[str, Definition]:
    """By the register that they define."""
    return {
        match[1]: Definition(match[2], tuple(_REGISTER.findall(text)), text)
        for line in lines
        if (match := _DEFINITION.match(line))
        for text in (match[3].partition(", !")[0],)
    }


def loops(lines: Sequence[str]) -> list[Loop]:
    """Clang lays a loop out in one piece, from its condition to the branch back."""
    labels = {match[1]: number for number, line in enumerate(lines) if (match := _LABEL.match(line))}
    latches = ((number, _LATCH.match(line)) for number, line in enumerate(lines))
    return [Loop(labels[match[1]], number, match[2]) for number, match in latches if match]


def comparison(lines: Sequence[str], loop: Loop) -> str | None:
    """The register of the comparison that a loop begins with, if it does."""
    for line in lines[loop.first : loop.last]:
        match = _DEFINITION.match(line)
        if match and match[2] == "icmp":
            return match[1]
        if line.startswith("  br "):
            return None
    return None


def stored(lines: Sequence[str], loop: Loop) -> set[str]:
    """The variables that a loop writes."""
    return {match[1] for line in lines[loop.first : loop.last] if (match := _STORE.match(line))}


def variables(values: Sequence[str], made: dict[str, Definition]) -> set[str]:
    """The local variables that values are worked out from."""
    found, seen, todo = set(), set(), list(values)
    while todo:
        value = todo.pop()
        if value in seen or value not in made:
            continue
        seen.add(value)
        definition = made[value]
        if definition.op == "load":
            found |= set(definition.operands)
        elif definition.op not in ("call", "alloca"):
            todo += definition.operands
    return found


def marked(ir: str, nodes: set[str], mark: str, unless: set[str] = frozenset()) -> str:
    """IR in which loops have a mark, metadata as text; not those that have metadata of `unless`."""

    def with_mark(match: re.Match) -> str:
        node, others = match.groups()
        if node not in nodes or unless & set(re.findall(r"!\d+", others)):
            return match[0]
        return f"{node} = distinct !{{{node}{others}, {mark}}}"

    return _LOOP_NODE.sub(with_mark, ir) if nodes else ir
