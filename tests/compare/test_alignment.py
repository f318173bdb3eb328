"""Lines of two versions of a text, aligned."""

import pytest
from hypothesis import given, strategies as st

from gpuprof.compare.alignment import ABSENT, aligned

GONE = NEW = ABSENT


@pytest.mark.parametrize(
    "before, after, pairs",
    [
        ("", "", []),
        ("a", "", [(0, GONE)]),
        ("", "a", [(NEW, 0)]),
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)]),
        ("abc", "axbc", [(0, 0), (NEW, 1), (1, 2), (2, 3)]),
        ("abxc", "abc", [(0, 0), (1, 1), (2, GONE), (3, 2)]),
        ("ab", "xy", [(0, GONE), (1, GONE), (NEW, 0), (NEW, 1)]),
        # once the equal ends are paired, each brace of the rest is there once
        ("f{}g{}", "g{}f{}", [(0, GONE), (NEW, 0), (1, 1), (2, 2), (3, GONE), (NEW, 3), (4, 4), (5, 5)]),
    ],
)
def test_alignment(before, after, pairs):
    assert aligned(before, after) == pairs


lines = st.lists(st.sampled_from("abcdefghij"), max_size=30)


@given(lines, lines)
def test_each_line_is_in_one_pair_and_pairs_are_equal_lines(before, after):
    pairs = aligned(before, after)
    assert sorted(old for old, _ in pairs if old != ABSENT) == list(range(len(before)))
    assert sorted(new for _, new in pairs if new != ABSENT) == list(range(len(after)))
    matches = [pair for pair in pairs if ABSENT not in pair]
    assert all(before[old] == after[new] for old, new in matches)
    assert matches == sorted(matches, key=lambda pair: pair[1])


@given(st.lists(st.integers(), unique=True, max_size=30), st.lists(st.integers(), unique=True, max_size=30))
def test_of_distinct_lines_as_many_agree_as_in_the_longest_common_subsequence(before, after):
    matches = [pair for pair in aligned(before, after) if ABSENT not in pair]
    assert len(matches) == longest_common(before, after)


def longest_common(before, after):
    lengths = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, old in enumerate(before):
        for j, new in enumerate(after):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if old == new else max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]
