"""The blocks of a function and how they follow one another."""

import re
from collections.abc import Sequence
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
