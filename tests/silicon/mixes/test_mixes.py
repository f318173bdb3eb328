"""The stall mixes of public reports: their table, and one launch."""

import pytest

from gpuprof.isa.stalls import NAMES
from tests.silicon.cards import card
from tests.silicon.mixes.__main__ import by_reason, line
from tests.silicon.mixes.cases import CASES
from tests.silicon.mixes.measure import Mix, measure, reports


def test_every_case_is_a_report_and_a_part_of_its_card():
    assert [case.id for case in CASES] == list(reports())
    for case in CASES:
        report = reports()[case.id]
        assert abs(sum(float(report[name]) for name in NAMES) - 1) < 0.002, case.id
        assert card(report["card"], float(report["clock_mhz"]), case.parts).sms >= 2


def test_the_distance_is_half_the_sum_of_the_differences():
    published = dict.fromkeys(NAMES, 0.0) | {"wait": 0.5, "barrier": 0.3, "selected": 0.2}
    model = dict.fromkeys(NAMES, 0.0) | {"wait": 0.3, "barrier": 0.4, "selected": 0.2, "drain": 0.1}
    mix = Mix(published, model, 1234)
    assert mix.distance == pytest.approx(0.2)
    assert not mix.same_largest
    assert " ".join(line("a launch", mix).split()) == (
        "a launch 0.200 other wait/barrier 1234 cycles wait 50.0->30.0 barrier 30.0->40.0 drain 0.0->10.0 "
        "selected 20.0->20.0 not_selected 0.0->0.0 long_scoreboard 0.0->0.0"
    )


def test_reasons_stand_by_their_mean_difference():
    none = dict.fromkeys(NAMES, 0.0)
    mixes = [
        Mix(none | {"wait": 0.5, "barrier": 0.5}, none | {"wait": 0.4, "barrier": 0.6}, 1),
        Mix(none | {"wait": 1.0}, none | {"wait": 0.7, "drain": 0.3}, 1),
    ]
    assert [" ".join(text.split()) for text in by_reason(mixes)] == [
        "reason model card difference",
        "wait 55.0 75.0 20.00",
        "drain 15.0 0.0 15.00",
        "barrier 30.0 25.0 5.00",
    ]


@pytest.mark.long
def test_a_stream_waits_for_memory():
    (case,) = [case for case in CASES if case.id == "ayush_os_a100_vectoradd_0"]
    mix = measure(case)
    assert mix.same_largest
    assert mix.distance < 0.12
