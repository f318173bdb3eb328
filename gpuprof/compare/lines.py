"""Lines of source of two versions of a kernel, aligned by content: across edits, and across names of files and
functions.

    passages of both sides ─ line_pairs ─> LinePair: same, changed, moved, gone or new

1. Passages belong together by function and file, then by function, then by what their lines say.
2. In two that belong together, equal lines are paired in their order (patience).
3. A line that is left over, and whose text is once among those that are left on either side, has moved.
4. Similar lines between two that are paired are one line, which has changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.compare.alignment import ABSENT, aligned, in_order
from gpuprof.compare.pairing import alike, paired

SAME, CHANGED, MOVED, GONE, NEW = "same", "changed", "moved", "gone", "new"
# Ours: `a[i] * 2` and `a[i] * 4` are one line that was edited; `x = a[i];` and `return;` are two.
LEAST_LIKENESS = 0.6
MOST_PASSAGES = 64  # of a side whose likeness is worked out, the costliest of those that are left: 64 x 64 counts
MOST_COMPARED = 2_500  # pairs of lines of a gap whose likeness is worked out: a second


class Line(NamedTuple):
    number: int  # 0: code without a line
    text: str


class Passage(NamedTuple):
    """Consecutive lines of one function in one file. `is_own`: of the kernel, not of a function that it calls."""

    function: str
    path: str
    lines: tuple[Line, ...]
    is_own: bool = False


class Spot(NamedTuple):
    """A line of a kernel, by the indices of its passage, and in it."""

    passage: int
    line: int


class LinePair(NamedTuple):
    """A line in both versions, or None where one does not have it. `kind`: SAME (as it says, wherever it is in its
    function), CHANGED, MOVED (to another place or file), GONE or NEW.
    """

    old: Spot | None
    new: Spot | None
    kind: str


def words_of(line: Line) -> str:
    """The text of a line, whatever its indentation. One without a text is known by its number."""
    return " ".join(line.text.split()) or f"line {line.number}"


def line_pairs(old: Sequence[Passage], new: Sequence[Passage]) -> list[LinePair]:
    """Each line of both sides, in one pair: the passages in the order of the new side, then those that are gone."""
    equal = [(both, aligned(_texts(old, both[0]), _texts(new, both[1]))) for both in paired_passages(old, new)]
    gone = (Spot(before, a) for (before, _), pairs in equal for a, b in pairs if b == ABSENT)
    come = (Spot(after, b) for (_, after), pairs in equal for a, b in pairs if a == ABSENT)
    moved = _moved(_once(gone, old), _once(come, new))
    return [pair for both, pairs in equal for pair in _of_passages(old, new, both, pairs, moved)]


def _texts(side: Sequence[Passage], number: int) -> list[str]:
    return [] if number == ABSENT else list(map(words_of, side[number].lines))


def paired_passages(old: Sequence[Passage], new: Sequence[Passage]) -> list[tuple[int, int]]:
    """Indices of passages that belong together; ABSENT where a side has none."""

    def function(passage: Passage) -> str | None:
        return None if passage.is_own else passage.function  # kernels may have other names

    def by(key):
        return (lambda number: key(old[number]), lambda number: key(new[number]))

    pairing = paired(
        range(len(old)),
        range(len(new)),
        by(lambda passage: (function(passage), base_name(passage.path))),
        by(function),
    )
    texts = [{number: list(map(words_of, side[number].lines)) for number in range(len(side))} for side in (old, new)]
    left = pairing.old[:MOST_PASSAGES], pairing.new[:MOST_PASSAGES]
    more = alike(*left, texts[0].__getitem__, texts[1].__getitem__, LEAST_LIKENESS)
    found = sorted([*pairing.pairs, *more], key=lambda pair: pair[1])
    lonely_old = [number for number in pairing.old if number not in {pair[0] for pair in more}]
    lonely_new = [number for number in pairing.new if number not in {pair[1] for pair in more}]
    return [*found, *((ABSENT, number) for number in lonely_new), *((number, ABSENT) for number in lonely_old)]


def _of_passages(
    old: Sequence[Passage],
    new: Sequence[Passage],
    numbers: tuple[int, int],
    equal: Sequence[tuple[int, int]],
    moved: Mapping[Spot, Spot],
) -> Iterator[LinePair]:
    """`equal`: the pairs of `aligned`; `moved`: old lines with their new places."""
    before, after = numbers
    taken = set(moved.values())
    for is_match, run in groupby(equal, key=lambda pair: ABSENT not in pair):
        if is_match:
            yield from (LinePair(Spot(before, a), Spot(after, b), SAME) for a, b in run)
            continue
        gap = list(run)
        olds = [Spot(before, a) for a, _ in gap if a != ABSENT]
        news = [Spot(after, b) for _, b in gap if b != ABSENT]
        yield from (LinePair(spot, moved[spot], MOVED) for spot in olds if spot in moved)
        was = {spot.line: old[before].lines[spot.line].text for spot in olds if spot not in moved}
        now = {spot.line: new[after].lines[spot.line].text for spot in news if spot not in taken}
        for a, b in _similar(was, now):
            yield LinePair(
                None if a == ABSENT else Spot(before, a),
                None if b == ABSENT else Spot(after, b),
                GONE if b == ABSENT else NEW if a == ABSENT else CHANGED,
            )


def _similar(before: Mapping[int, str], after: Mapping[int, str]) -> list[tuple[int, int]]:
    """The lines of a gap, by their numbers: the most alike are paired first, and no later pair crosses one."""
    chosen: list[tuple[int, int]] = []
    if len(before) * len(after) <= MOST_COMPARED:
        candidates = [
            (-likeness, old, new)
            for old, was in before.items()
            for new, now in after.items()
            if (likeness := _likeness(" ".join(was.split()), " ".join(now.split()))) >= LEAST_LIKENESS
        ]
        for _, old, new in sorted(candidates):
            if all((old < other[0]) == (new < other[1]) and old != other[0] and new != other[1] for other in chosen):
                chosen.append((old, new))
    paired_olds, paired_news = {old for old, _ in chosen}, {new for _, new in chosen}
    return in_order(
        [
            *chosen,
            *((old, ABSENT) for old in before if old not in paired_olds),
            *((ABSENT, new) for new in after if new not in paired_news),
        ]
    )


def _likeness(one: str, two: str) -> float:
    """0 to 1; 0 where a line has no word."""
    if not (any(map(str.isalnum, one)) and any(map(str.isalnum, two))):
        return 0.0
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if matcher.real_quick_ratio() < LEAST_LIKENESS or matcher.quick_ratio() < LEAST_LIKENESS:
        return 0.0
    return matcher.ratio()


def _once(spots: Iterable[Spot], side: Sequence[Passage]) -> dict[str, Spot]:
    """The lines whose text is there once, by their text; those without a word are left out."""
    by_text: dict[str, list[Spot]] = {}
    for spot in spots:
        line = side[spot.passage].lines[spot.line]
        if any(map(str.isalnum, line.text)):
            by_text.setdefault(words_of(line), []).append(spot)
    return {text: found[0] for text, found in by_text.items() if len(found) == 1}


def _moved(gone: Mapping[str, Spot], come: Mapping[str, Spot]) -> dict[Spot, Spot]:
    """The new place of each old line that has moved."""
    return {spot: come[text] for text, spot in gone.items() if text in come}
