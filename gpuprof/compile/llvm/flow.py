"""The blocks of a function and how they follow one another."""

import re
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

NAME = r'(?:"[^"]*"|[\w.$-]+)'  # of a value or block of LLVM IR, without its sign
_LABEL = re.compile(rf"^({NAME}):")
_TARGET = re.compile(rf"\blabel %({NAME})")
ENDS = ("  br ", "  ret ", "  switch ", "  unreachable", "  indirectbr ")


class IrBlock(NamedTuple):
    """Lines [first, end) of a function of LLVM IR, a label among them; `following`: blocks that may be next."""

    first: int
    end: int
    following: tuple[int, ...]


def ir_blocks(lines: Sequence[str]) -> list[IrBlock]:
    """The blocks of a function in their order. `lines`: those between its braces."""
    starts = [0] + [number for number, line in enumerate(lines) if number and _LABEL.match(line)]
    ends = [*starts[1:], len(lines)]
    number_of = {match[1]: number for number, at in enumerate(starts) if (match := _LABEL.match(lines[at]))}
    blocks = []
    for first, end in zip(starts, ends, strict=True):
        last = next((at for at in range(first, end) if lines[at].startswith(ENDS)), end)
        targets = _TARGET.findall("\n".join(lines[last:end]))  # those of a `switch` are in the lines after it
        blocks.append(IrBlock(first, end, tuple(sorted({number_of[each] for each in targets}))))
    return blocks


def dominators(following: Sequence[Sequence[int]]) -> dict[int, int]:
    """The nearest block that every way from the first to a block goes through, by block; the first has itself. What
    cannot be reached has none. Cooper, Harvey and Kennedy's iteration.
    """
    order = postorder(following)
    rank = {block: index for index, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for successor in following[block]:
            before[successor].append(block)
    above = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [other for other in before[block] if other in above]
            nearest = reduce(lambda one, other: _common(one, other, above, rank), known)
            changed |= above.get(block) != nearest
            above[block] = nearest
    return above


def _common(one: int, other: int, above: dict[int, int], rank: dict[int, int]) -> int:
    while one != other:
        if rank[one] < rank[other]:
            one = above[one]
        else:
            other = above[other]
    return one


def postorder(following: Sequence[Sequence[int]]) -> list[int]:
    """Blocks that the first leads to, each after all that follow it, except for the heads of loops."""
    order, seen, todo = [], {0}, [(0, iter(following[0]))]
    while todo:
        rest = todo[-1][1]
        successor = next((each for each in rest if each not in seen), None)
        if successor is None:
            order.append(todo.pop()[0])
        else:
            seen.add(successor)
            todo.append((successor, iter(following[successor])))
    return order
