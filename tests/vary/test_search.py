"""The choice of variants for the next round, and the comparison of results; nothing is run."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.sweep.run_sweep import Brought, Measured, Outcome
from gpuprof.sweep.sweep_plan import Plan
from gpuprof.vary.judged import DIFFERS, FAILED, SAME, Tried, judged
from gpuprof.vary.parameters import parse_varied
from gpuprof.vary.search import Rung, better_half, rungs
from gpuprof.vary.variants import VaryPlan, search_of


def launch(cycles: int, error: float | None = None) -> Measured:
    return Measured(0, "k", "1,1,1", "32,1,1", {"cycles": cycles}, error)


def brought(name: str, *values: float) -> Brought:
    data = np.array(values, np.float32).tobytes()
    return Brought(name, name, "f32", hashlib.sha256(data).hexdigest(), data)


def plan(**fields) -> VaryPlan:
    return VaryPlan(Plan(Path("k.cu")), (parse_varied("D.N=1,2"),), **fields)


def said(outcomes: list[Outcome], **fields) -> list[tuple]:
    return [(each.number, each.results, each.text) for each in judged(plan(**fields), outcomes, 1, True)]


OUTCOMES = [
    Outcome(1, (launch(5),), results=(brought("y", 1, 2), brought("z", 3))),
    Outcome(0, (launch(9),), results=(brought("y", 1, 2), brought("z", 4))),
    Outcome(2, (launch(7),), results=(brought("y", 1.00001, 2), brought("z", 4))),
    Outcome(3, (), "does not compile"),
    Outcome(4, (), "results differ: y == 0", is_wrong=True),
    Outcome(5, (launch(4),), results=(brought("y", 1, 2, 3), brought("z", 4))),
]


def test_results_are_compared_byte_for_byte():
    assert said(OUTCOMES) == [
        (1, DIFFERS, "z"),  # it waited for the original
        (0, SAME, ""),
        (2, DIFFERS, "y"),
        (3, FAILED, "does not compile"),
        (4, DIFFERS, "results differ: y == 0"),
        (5, DIFFERS, "y"),
    ]


def test_results_are_compared_with_a_tolerance():
    assert said(OUTCOMES, tolerance=1e-4)[:3] == [(1, DIFFERS, "z (relative error 0.25)"), (0, SAME, ""), (2, SAME, "")]
    assert said(OUTCOMES, tolerance=1e-7)[2] == (2, DIFFERS, "y (relative error 1e-05)")


def test_only_some_arrays_are_compared():
    assert said(OUTCOMES, compared=("y",))[:2] == [(1, SAME, ""), (0, SAME, "")]
    with pytest.raises(UsageError, match="--compare x: no launch has such an array; there are: y, z"):
        said(OUTCOMES, compared=("x",))


def test_bytes_of_one_value_may_differ():
    zeros = [Outcome(0, (launch(1),), results=(brought("y", 0.0),)), Outcome(1, (), results=(brought("y", -0.0),))]
    assert said(zeros)[1] == (1, DIFFERS, "y")


def test_without_the_original_there_is_nothing_to_compare_with():
    with pytest.raises(GpuprofError) as caught:
        said([Outcome(0, (), "k.cu does not compile")])
    assert str(caught.value) == (
        "the original fails, so there is nothing to compare with (if it needs a macro, give the original's value: -D "
        "N=1): k.cu does not compile"
    )


def test_the_better_half_goes_on():
    cycles = {0: 50, 1: 40, 2: 10, 3: 30, 4: 20, 5: 30, 6: 5}
    found = {number: Tried(number, 1, (launch(n),), SAME, "", True) for number, n in cycles.items()}
    found[6] = found[6]._replace(results=DIFFERS)
    found[7] = Tried(7, 1, (), FAILED, "no such block", True)
    assert better_half(found) == [0, 2, 3, 4]  # 10, 20 and the first of the two with 30
    assert better_half({0: found[0]}) == [0]


def test_a_grid_is_one_round_and_halving_more():
    assert rungs([], "grid", False) == [Rung(None, False)]
    assert rungs([], "halving", False) == [Rung(None, True), Rung(None, False)]
    assert rungs([], "halving", True) == [Rung(None, True)]
    assert [search_of(plan(), count) for count in (16, 17)] == ["grid", "halving"]
    assert search_of(plan(search="halving"), 2) == "halving"


@pytest.mark.parametrize("error, is_whole", [(None, True), (0.02, False)])
def test_a_launch_that_was_timed_in_part_is_an_estimate(error, is_whole):
    [tried] = judged(plan(), [Outcome(0, (launch(9, error),))], 1, True)
    assert tried.is_whole == is_whole
