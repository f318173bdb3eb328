"""The fit of constants, on sensitivities made up; and that a trace is timed as a session times it."""

import math

import pytest

from tests.silicon.cards import card
from tests.silicon.cases import all_cases
from tests.silicon.constants import CONSTANTS, with_factor
from tests.silicon.published import by_id
from tests.silicon.refit import Sensitivity, chosen, error, fit, left_out, report
from tests.silicon.run import chip_of_case, launches, steps
from tests.silicon.traces import timings, traces

NONE = ((1.0, 1.0),) * len(CONSTANTS)
SAME = (1.0,) * len(CONSTANTS)


def made(id, family, card, ratio, *ends) -> Sensitivity:
    return Sensitivity(id, family, card, ratio, (*ends, *NONE[len(ends) :]))


def test_a_ratio_between_the_ends():
    """dram_cycles goes to 1.15 times, which makes this case 1.2 times as long; a third of the way is its cube root."""
    one = made("a", "f", "c", 0.5, (0.9, 1.2))
    assert one.at(SAME) == 0.5
    assert one.at((1.15, *SAME[1:])) == pytest.approx(0.6)
    assert one.at((1.05, *SAME[1:])) == pytest.approx(0.5 * math.cbrt(1.2))
    assert one.at((0.95, *SAME[1:])) == pytest.approx(0.45)


def test_the_fit_finds_what_was_wrong():
    """Two families 1.2 times too fast, both made right by the first constant's high end; the others do nothing."""
    found = [made("a", "f", "c", 1 / 1.2, (0.9, 1.2)), made("b", "g", "d", 1 / 1.2, (0.9, 1.2))]
    assert error(found, SAME) == pytest.approx(1 / 6)
    factors = fit(found)
    assert factors == pytest.approx((1.15, *SAME[1:]))
    assert error(found, factors) == pytest.approx(0)
    assert left_out(found, lambda each: each.family) == {
        name: (pytest.approx(1 / 6), pytest.approx(0)) for name in ("f", "g")
    }
    assert report(found)[0] == "2 rows; error 16.7 %, fitted 0.0 %"
    assert report(found)[-1] == "leave one card out: 0.0 %"


def test_every_constant_can_be_at_its_ends_on_every_card():
    cards = {(case.card, by_id()[case.id].clock_mhz) for cases in all_cases().values() for case in cases}
    for constant in CONSTANTS:
        assert constant.low <= 1 <= constant.high
        for factor in constant[1:3]:
            for name, clock_mhz in cards:
                chip = card(name, clock_mhz)
                changed = with_factor(chip, constant, factor)
                for field in constant.fields.split():
                    assert getattr(changed, field) == pytest.approx(getattr(chip, field) * factor, abs=0.5)


def test_rows_are_chosen_by_family_and_card():
    cases = [case for cases in all_cases().values() for case in cases]
    found = chosen(cases, 1)
    assert len({(case.family, case.card) for case in found}) == len(found) > 10
    assert not any(case.group for case in found)


@pytest.mark.long
def test_a_kept_trace_is_timed_as_a_session_times_it():
    (case,) = [case for case in all_cases()["sib"] if case.id == "sib-a100-k2"]
    chip = chip_of_case(case)
    step = steps(case, case.runs[0], "clang")[0]
    of_session = [result.timing.cycles for result in launches(case, step, "clang")]
    assert [timing.cycles for timing in timings(traces(case, step, "clang", chip), chip)] == of_session
