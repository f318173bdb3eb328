"""Numbers of two profiles, and by how much they differ."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

Name = TypeVar("Name", bound=Hashable)
Number = TypeVar("Number", int, float)


class Change(NamedTuple, Generic[Name, Number]):
    """A number in both profiles. None: a profile does not have it."""

    name: Name
    old: Number | None
    new: Number | None

    @property
    def delta(self) -> Number:
        """The growth; a number that a profile does not have counts as 0."""
        old, new = 0 if self.old is None else self.old, 0 if self.new is None else self.new
        return new - old

    @property
    def percent(self) -> float | None:
        """The growth in percent of the old number; None where that is 0 or unknown."""
        return 100 * self.delta / self.old if self.old else None


def changes(
    old: Mapping[Name, Number], new: Mapping[Name, Number], names: Iterable[Name] | None = None
) -> list[Change[Name, Number]]:
    """A change for each name, by default all names of `old`, then those that only `new` has."""
    return [Change(name, old.get(name), new.get(name)) for name in (names if names is not None else {**old, **new})]


def largest_growth_first(all_changes: Iterable[Change[Name, Number]]) -> list[Change[Name, Number]]:
    """The changes whose numbers differ: the largest growth first, the largest saving last; equal ones by name."""
    return sorted((change for change in all_changes if change.delta), key=lambda change: (-change.delta, change.name))


def distance(old: Mapping[Name, float], new: Mapping[Name, float]) -> float:
    """Half the sum of all differences: for shares, 0 where they are equal and 1 where they have nothing in common."""
    return sum(abs(change.delta) for change in changes(old, new)) / 2
