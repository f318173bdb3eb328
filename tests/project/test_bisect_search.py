"""The binary search of `gpuprof bisect`, against a search one by one."""

import pytest
from hypothesis import given, strategies as st

from gpuprof.check.rules import parse_rule
from gpuprof.errors import NotComparable
from gpuprof.project.bisect import Found, Step, search

RULE = parse_rule("cycles=10")


def searched(values, good=100):
    """`values`: of the commits after the good one, None where one cannot be measured. What was found, and measured."""
    commits = [f"c{number}" for number in range(len(values))]
    asked = []

    def measure(commit):
        asked.append(commit)
        return Step(commit, values[int(commit[1:])])

    return search(commits, Step("good", good), Step(commits[-1], values[-1]), RULE, measure), asked


def test_the_first_commit_over_the_limit_is_found_in_log2_steps():
    found, asked = searched([100] * 11 + [150] * 9)
    assert found == Found(Step("c10", 100), Step("c11", 150), (), 6)
    assert asked == ["c9", "c14", "c11", "c10"]


def test_a_commit_that_cannot_be_measured_is_passed_over_for_the_nearest():
    found, asked = searched([100, 100, None, 100, 150, 150])
    assert found == Found(Step("c3", 100), Step("c4", 150), (), 6)
    assert asked == ["c2", "c1", "c3", "c4"]


def test_a_commit_that_may_be_the_one_is_named():
    found, _ = searched([100, None, None, 150])
    assert found == Found(Step("c0", 100), Step("c3", 150), ("c1", "c2"), 5)


def test_the_first_commit_after_good_may_be_it():
    found, asked = searched([111])
    assert (found, asked) == (Found(Step("good", 100), Step("c0", 111), (), 2), [])


def test_what_did_not_grow_has_no_commit():
    with pytest.raises(
        NotComparable, match="cycles is 100 at the good revision and 110 at the bad one: within cycles=10"
    ):
        searched([100, 110])


@given(st.lists(st.sampled_from([True, True, True, False]), min_size=1, max_size=60), st.data())
def test_it_finds_what_a_search_one_by_one_finds(can_be_measured, data):
    jump = data.draw(st.integers(0, len(can_be_measured) - 1))
    values = [(150 if at >= jump else 100) if is_so else None for at, is_so in enumerate(can_be_measured)]
    values[-1] = 150
    found, asked = searched(values)
    measured = [at for at, value in enumerate(values) if value is not None]
    first = next(at for at in measured if at >= jump)
    last = max((at for at in measured if at < jump), default=-1)
    assert found.after == Step(f"c{first}", 150)
    assert found.before == (Step(f"c{last}", 100) if last >= 0 else Step("good", 100))
    assert found.skipped == tuple(f"c{at}" for at in range(last + 1, first))
    assert len(asked) == len(set(asked)) <= len(values).bit_length() + can_be_measured.count(False)
