"""The difference of two profiles, split over lines, reasons and causes to the last warp-cycle."""

import pytest
from hypothesis import given, strategies as st

from gpuprof.compare.changes import Change
from gpuprof.compare.difference import (
    Cause,
    Difference,
    FindingSide,
    KernelSide,
    LaunchSide,
    Part,
    Where,
    difference_of,
)
from gpuprof.compare.kernels import NAME, KernelName, KernelPair
from gpuprof.compare.lines import Line, Passage, Spot

PAIR = KernelPair(KernelName(0, "k", "k", "a.cu"), KernelName(0, "k", "k", "a.cu"), NAME)
LONG, BARRIER = 3, 5  # numbers of stall reasons
DRAM = Cause("dram", at=Spot(0, 0))


def side(lines: str, costs=None, launches=(), **others) -> KernelSide:
    """A kernel whose lines are these, apart by /."""
    passage = Passage("k", "a.cu", tuple(Line(n, text) for n, text in enumerate(lines.split("/"), 1)), True)
    return KernelSide((passage,), costs or {}, launches, **others)


def launch(cycles: int, cost: int, number: int = 0) -> LaunchSide:
    return LaunchSide(number, "k<<<1, 32>>>", "<<<1, 32>>>", cycles, cost)


def test_the_split_of_a_hand_made_kernel():
    """a = x[0]; waits 100 more for DRAM, of which none is the L2's any more; the line that is put in waits 40."""
    old = side(
        "a = x[0];/y[0] = a;",
        {
            Where(Spot(0, 1), LONG, DRAM): 300,
            Where(Spot(0, 1), LONG, Cause("l2", at=Spot(0, 0))): 50,
            Where(Spot(0, 0), 0): 8,
        },
        [launch(500, 358)],
    )
    new = side(
        "a = x[0];/sync();/y[0] = a;",
        {
            Where(Spot(0, 2), LONG, DRAM): 450,
            Where(Spot(0, 1), BARRIER, Cause("barrier", other_warp=True, at=Spot(0, 1))): 40,
            Where(Spot(0, 0), 0): 8,
        },
        [launch(560, 498)],
    )
    found = difference_of(PAIR, old, new)
    assert [pair.kind for pair in found.lines] == ["same", "new", "same"]
    no_flags = {"other_warp": False, "other_launch": False, "conflict": False}
    assert set(found.parts) == {
        Change(Part(2, LONG, "dram", **no_flags, cause_line=0), 300, 450),
        Change(Part(2, LONG, "l2", **no_flags, cause_line=0), 50, None),
        Change(Part(1, BARRIER, "barrier", **no_flags | {"other_warp": True}, cause_line=1), None, 40),
        Change(Part(0, 0, "", **no_flags, cause_line=-1), 8, 8),
    }
    assert found.by_line == (Change(2, 350, 450), Change(1, None, 40), Change(0, 8, 8))
    assert found.by_reason == (Change(LONG, 350, 450), Change(BARRIER, None, 40), Change(0, 8, 8))
    assert (found.cycles, found.cost) == (Change("cycles", 500, 560), Change("cost", 358, 498))
    assert found.is_changed


def test_the_same_kernel_twice():
    once = side("a = x[0];", {Where(Spot(0, 0), LONG, DRAM): 300}, [launch(500, 300)], numbers={"registers": 8})
    found = difference_of(PAIR, once, once)
    assert not found.is_changed and not found.is_code_changed
    assert not Difference((found,), total=Change("cost", 300, 300)).is_changed


def test_all_launches_add_up():
    once = side("a = x[0];", {Where(Spot(0, 0), LONG): 300}, [launch(500, 300)])
    found = difference_of(PAIR, once, once)
    whole = Difference((found,), (launch(70, 30, 1),), (launch(90, 60, 2),), Change("cost", 330, 360))
    assert whole.cycles == Change("cycles", 570, 590)
    assert whole.is_changed
    with pytest.raises(AssertionError, match="the kernels are not the whole"):
        Difference((found,), (launch(70, 30, 1),), (), Change("cost", 330, 360))


def test_findings_that_came_and_went_whatever_their_numbers():
    def finding(kind: str, line: int, text: str) -> FindingSide:
        return FindingSide(kind, "advice", text, f"a.cu:{line + 1}", Spot(0, line), None)

    old = side("a;/b;", findings=(finding("uncoalesced", 1, "9 times the ideal"), finding("conflicts", 0, "32 ways")))
    new = side("n;/a;/b;", findings=(finding("uncoalesced", 2, "3 times"), finding("uncoalesced", 0, "2 times")))
    found = difference_of(PAIR, old, new)
    assert [(each.kind, each.place) for each in found.went] == [("conflicts", "a.cu:1")]
    assert [(each.kind, each.place) for each in found.came] == [("uncoalesced", "a.cu:1")]


texts = st.lists(st.sampled_from(["a = x[0];", "a = x[1];", "sync();", "}"]), min_size=1, max_size=6)
causes = st.builds(Cause, st.sampled_from(["", "dram", "l2"]), st.booleans(), st.booleans(), st.booleans())


@st.composite
def sides(draw):
    lines = draw(texts)
    spots = st.integers(0, len(lines) - 1).map(lambda line: Spot(0, line))
    at = draw(st.none() | spots)
    wheres = st.builds(Where, spots, st.integers(0, 18), causes.map(lambda cause: cause._replace(at=at)))
    return side("/".join(lines), draw(st.dictionaries(wheres, st.integers(1, 1 << 60), max_size=20)))


@given(sides(), sides())
def test_the_parts_are_the_whole(old, new):
    found = difference_of(PAIR, old, new)
    whole = sum(new.costs.values()) - sum(old.costs.values())
    for level in (found.parts, found.by_line, found.by_reason):
        assert sum(change.delta for change in level) == whole
        assert sum(change.old or 0 for change in level) == sum(old.costs.values())
    deltas = [abs(change.delta) for change in found.by_line]
    assert deltas == sorted(deltas, reverse=True)
