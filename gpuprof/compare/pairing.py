"""Pairs the items of two profiles, such as launches or kernels, by groups that get wider."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)
Key = TypeVar("Key", bound=Hashable)
Group = Callable[[Item], Hashable]
Pairs = list[tuple[Item, Item]]


class Pairing(NamedTuple):
    """`pairs`: (old, new) in the order of the new items; `old` and `new`: the items without a partner, in order."""

    pairs: Pairs
    old: list
    new: list


def paired(old: Sequence[Item], new: Sequence[Item], *groups: tuple[Group, Group]) -> Pairing:
    """Pair the n-th item of each group with the n-th item of the same group on the other side.

    A group is a function for each side, from an item to a key. The groups are applied in order, each to the items that
    the ones before have left over. Items of one side are distinct.
    """
    pairs: Pairs = []
    left_old, left_new = list(old), list(new)
    for of_old, of_new in groups:
        pairs += _in_group(left_old, left_new, of_old, of_new)
        partners, own = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        left_old = [item for item in old if item not in partners]
        left_new = [item for item in new if item not in own]
    order = {item: number for number, item in enumerate(new)}
    return Pairing(sorted(pairs, key=lambda pair: order[pair[1]]), left_old, left_new)


def _in_group(old: Iterable[Item], new: Iterable[Item], of_old: Group, of_new: Group) -> Iterator[tuple[Item, Item]]:
    candidates = by_group(old, of_old)
    for key, items in by_group(new, of_new).items():
        yield from zip(candidates.get(key, ()), items, strict=False)


def by_group(items: Iterable[Item], group: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items of each group, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(group(item), []).append(item)
    return groups


def alike(
    old: Sequence[Item],
    new: Sequence[Item],
    words_of_old: Callable[[Item], Iterable[Hashable]],
    words_of_new: Callable[[Item], Iterable[Hashable]],
    least: float,
) -> Pairs:
    """Pairs of the items whose words are the most alike, at least `least` (1: the same words, in any order), in the
    order of the new items.
    """
    counted_old = {item: Counter(words_of_old(item)) for item in old}
    counted_new = {item: Counter(words_of_new(item)) for item in new}
    candidates = sorted(
        (-likeness, b, a)
        for a, one in enumerate(old)
        for b, two in enumerate(new)
        if (likeness := _likeness(counted_old[one], counted_new[two])) >= least
    )
    partner: dict[int, int] = {}
    for _, b, a in candidates:
        if b not in partner and a not in partner.values():
            partner[b] = a
    return [(old[partner[b]], new[b]) for b in sorted(partner)]


def _likeness(one: Counter, two: Counter) -> float:
    """Twice the words that both have, of all: 0 to 1."""
    n_words = one.total() + two.total()
    return 2 * (one & two).total() / n_words if n_words else 0.0
