"""Aligns two versions of a text by its lines: patience diff (Bram Cohen), so that lines put in or taken out leave the
others paired.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

ABSENT = -1


def aligned(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (position before, position after) in the order of both; ABSENT where a side has no such line."""
    pairs: list[tuple[int, int]] = []
    stretches = [(0, len(before), 0, len(after))]
    while stretches:
        first, last, start, end = stretches.pop()
        while first < last and start < end and before[first] == after[start]:
            pairs.append((first, start))
            first, start = first + 1, start + 1
        while first < last and start < end and before[last - 1] == after[end - 1]:
            last, end = last - 1, end - 1
            pairs.append((last, end))
        anchors = _anchors(before, after, range(first, last), range(start, end))
        if not anchors:
            pairs += [(old, ABSENT) for old in range(first, last)]
            pairs += [(ABSENT, new) for new in range(start, end)]
        pairs += anchors
        edges = [(first - 1, start - 1), *anchors, (last, end)] if anchors else []
        for (old, new), (next_old, next_new) in pairwise(edges):
            stretches.append((old + 1, next_old, new + 1, next_new))
    return in_order(pairs)


def _anchors(before: Sequence[str], after: Sequence[str], olds: range, news: range) -> list[tuple[int, int]]:
    """Lines that are there once on either side, as many as keep their order."""
    positions: dict[str, tuple[list[int], list[int]]] = {}
    for side, (texts, numbers) in enumerate(((before, olds), (after, news))):
        for number in numbers:
            positions.setdefault(texts[number], ([], []))[side].append(number)
    unique = [(old[0], new[0]) for old, new in positions.values() if len(old) == len(new) == 1]
    return _longest_ascending(sorted(unique))


def _longest_ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second numbers ascend."""
    ends: list[int] = []  # of subsequences of each length, the smallest last number
    last: list[int] = []  # the positions in `pairs` of these
    before: list[int] = []
    for position, (_, number) in enumerate(pairs):
        length = bisect_left(ends, number)
        before.append(last[length - 1] if length else ABSENT)
        ends[length:], last[length:] = [number, *ends[length + 1 :]], [position, *last[length + 1 :]]
    chosen = []
    position = last[-1] if last else ABSENT
    while position != ABSENT:
        chosen.append(pairs[position])
        position = before[position]
    return chosen[::-1]


def in_order(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of both sides ascend; a line of one side comes before the next pair, old lines before new ones."""
    matches = sorted(pair for pair in pairs if ABSENT not in pair)
    olds = sorted(old for old, new in pairs if new == ABSENT)
    news = sorted(new for old, new in pairs if old == ABSENT)
    ordered, old_at, new_at = [], 0, 0
    for match in [*matches, None]:
        while old_at < len(olds) and (match is None or olds[old_at] < match[0]):
            ordered.append((olds[old_at], ABSENT))
            old_at += 1
        while new_at < len(news) and (match is None or news[new_at] < match[1]):
            ordered.append((ABSENT, news[new_at]))
            new_at += 1
        ordered += [match] if match else []
    return ordered
