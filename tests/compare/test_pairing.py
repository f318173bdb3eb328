"""Pairs of items by groups that get wider, and the changes of their numbers."""

from gpuprof.compare.changes import Change, changes, distance, largest_growth_first
from gpuprof.compare.pairing import Pairing, paired


def name(item):
    return item


def letter(item):
    return item[0]


def test_exact_names_come_before_the_wider_group():
    assert paired(["a1", "a2", "b1"], ["a2", "a3", "c1"], (name, name), (letter, letter)) == Pairing(
        [("a2", "a2"), ("a1", "a3")], ["b1"], ["c1"]
    )


def test_the_nth_of_a_group_belongs_to_the_nth():
    assert paired(["a1", "a2", "a3"], ["a8", "a9"], (letter, letter)) == Pairing(
        [("a1", "a8"), ("a2", "a9")], ["a3"], []
    )


def test_sides_may_have_groups_of_their_own():
    assert paired([1, 2], ["2", "1"], (str, str)) == Pairing([(2, "2"), (1, "1")], [], [])


def test_changes():
    found = changes({"cycles": 100, "gone": 5, "same": 1}, {"cycles": 150, "same": 1, "new": 7})
    assert found == [Change("cycles", 100, 150), Change("gone", 5, None), Change("same", 1, 1), Change("new", None, 7)]
    assert [(change.delta, change.percent) for change in found] == [(50, 50), (-5, -100), (0, 0), (7, None)]
    assert [change.name for change in largest_growth_first(found)] == ["cycles", "new", "gone"]


def test_distance_of_shares():
    assert distance({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}) == 0
    assert distance({"a": 1.0}, {"b": 1.0}) == 1
    assert distance({"a": 0.75, "b": 0.25}, {"a": 0.25, "b": 0.75}) == 0.5
