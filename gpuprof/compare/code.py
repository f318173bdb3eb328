"""Instructions of two versions of a kernel, next to each other: of one line and one opcode, in their order."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from gpuprof.compare.alignment import ABSENT, aligned

MOST_COMPARED = 200_000  # pairs of instructions of a gap that are looked at: a second


class Code(NamedTuple):
    """An instruction. `text`: branches have the distance to their target; `line`: its line's number among the
    line pairs of both versions; `cost`: in warp-cycles.
    """

    text: str
    line: int
    cost: int

    @property
    def opcode(self) -> str:
        """With its modifiers, without guard and operands: "LDG.32"."""
        return opcode_of(self.text)


def opcode_of(text: str) -> str:
    first, *rest = text.split(maxsplit=2) or [""]
    return rest[0] if first.startswith("@") and rest else first


def aligned_code(old: Sequence[Code], new: Sequence[Code]) -> list[tuple[int, int]]:
    """Pairs of indices in the order of both; ABSENT where a side has no such instruction."""
    found: list[tuple[int, int]] = []
    names = [[f"{code.line} {code.opcode}" for code in side] for side in (old, new)]
    for is_match, run in groupby(aligned(*names), key=lambda pair: ABSENT not in pair):
        pairs = list(run)
        found += pairs if is_match else _by_opcode(old, new, pairs)
    return found


def _by_opcode(old: Sequence[Code], new: Sequence[Code], gap: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pairs of a gap: as many equal opcodes as keep their order."""
    olds = [place for place, _ in gap if place != ABSENT]
    news = [place for _, place in gap if place != ABSENT]
    if not olds or not news or len(olds) * len(news) > MOST_COMPARED:
        yield from gap
        return
    names = [old[place].opcode for place in olds], [new[place].opcode for place in news]
    for tag, first, last, start, end in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(olds[first:last], news[start:end], strict=True)
        else:
            yield from ((place, ABSENT) for place in olds[first:last])
            yield from ((ABSENT, place) for place in news[start:end])
