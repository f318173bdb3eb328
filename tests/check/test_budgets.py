"""Budgets of kernels: what they limit, measured in a database whose numbers are known."""

import pytest

from gpuprof.check.budgets import QUANTITIES, measure_budgets, parse_budgets, unmatched
from gpuprof.check.facts import measure
from gpuprof.correlate.database import reading
from gpuprof.errors import NotComparable
from tests.check.test_check import write_blur


@pytest.fixture
def profile(tmp_path):
    return write_blur(tmp_path / "blur.gprec", cycles=(200, 300))


def outcomes(profile, table):
    with reading(profile) as db:
        facts = measure(db, profile)
        return [
            (str(each.launch), each.budget.text, each.value_text, each.is_met, each.place)
            for each in measure_budgets(db, parse_budgets(table), facts.launches)
        ]


LAUNCH = "blur<<<(8, 8), 64>>>"


def test_each_launch_is_measured(profile):
    assert outcomes(profile, {"blur": {"cycles": "<=250"}}) == [
        (LAUNCH, "cycles <=250", "200", True, "blur.cu:5"),
        (f"{LAUNCH} #2", "cycles <=250", "300", False, "blur.cu:5"),
    ]


def test_shares_and_counts(profile):
    table = {"*": {"stall": {"long_scoreboard": "<=99%"}, "registers": 12, "spills": 0, "findings": 0}}
    assert [row[1:] for row in outcomes(profile, table)[::2]] == [
        ("stall.long_scoreboard <=99%", "100.0 %", False, "blur.cu:5"),
        ("registers <=12", "12", True, ""),
        ("spills <=0", "0 bytes", True, ""),
        ("findings <=0", "0", True, ""),
    ]


@pytest.mark.parametrize("pattern, n", [("blur", 2), ("bl*", 2), ("*#2", 1), ("blur<<<(8, 8)*", 2), ("other", 0)])
def test_patterns_name_kernels_and_launches(profile, pattern, n):
    assert len(outcomes(profile, {pattern: {"registers": 1}})) == n
    with reading(profile) as db:
        launches = measure(db, profile).launches
    assert unmatched(parse_budgets({pattern: {"registers": 1}}), launches) == ([] if n else [pattern])


def test_what_was_not_measured_is_not_comparable(profile):
    with pytest.raises(NotComparable, match=r"draw_cycles was not measured, so the budget 'draw_cycles <=1' cannot be"):
        outcomes(profile, {"*": {"draw_cycles": 1}})


def test_quantities_have_the_names_of_metrics_and_a_few_of_their_own():
    own = [name for name in QUANTITIES if not name.startswith("stall.")][:5]
    assert own == ["spills", "occupancy", "time_us", "bank_conflicts", "excess_sectors"]
    assert {"cycles", "registers", "shared_nbytes", "stall.long_scoreboard"} <= QUANTITIES.keys()
