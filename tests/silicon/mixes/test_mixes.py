"""The stall mixes of public reports: their table, and one launch."""

from types import SimpleNamespace

import pytest

from gpuprof.isa.program import Location
from gpuprof.isa.stalls import NAMES
from tests.silicon.cards import card
from tests.silicon.mixes.__main__ import by_reason, line
from tests.silicon.mixes.cases import CASES
from tests.silicon.mixes.lines import Lines, first_line, line_of, lines_of_reports, ranks
from tests.silicon.mixes.measure import FOLDER, Mix, measure, reports


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
    lines = Lines({4: 10, 5: 2}, {5: 9, 4: 3, 7: 1})
    assert " ".join(line("a launch", mix, lines).split()) == (
        "a launch 0.200 other wait/barrier line other 4/5 0.50 1234 cycles wait 50.0->30.0 barrier 30.0->40.0 "
        "drain 0.0->10.0 selected 20.0->20.0 not_selected 0.0->0.0 long_scoreboard 0.0->0.0"
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


@pytest.mark.parametrize(
    ("published", "model", "same", "correlation"),
    [
        ({1: 5, 2: 3, 3: 1}, {1: 50, 2: 20, 3: 10}, True, 1.0),
        ({1: 5, 2: 3, 3: 1}, {1: 1, 2: 2, 3: 3}, False, -1.0),
        # ranks 4, 3, 1.5, 1.5 and 3, 1.5, 1.5, 4: covariance -0.25 over a variance of 4.5 each
        ({1: 4, 2: 2}, {1: 4, 2: 2, 3: 2, 4: 9}, False, -0.25 / 4.5),
        ({1: 4}, {1: 7}, True, 1.0),
        ({1: 4, 2: 2}, {1: 3, 2: 3}, True, 0.0),  # all equal: no order
    ],
)
def test_lines_are_compared_by_their_ranks(published, model, same, correlation):
    lines = Lines(published, model)
    assert lines.same_hottest == same
    assert lines.rank_correlation == pytest.approx(correlation)


def test_equal_numbers_share_their_places():
    assert ranks([7, 1, 7, 0, 7]).tolist() == [4, 2, 4, 1, 4]


def test_every_report_has_lines_of_its_kernel():
    assert list(lines_of_reports()) == list(reports())
    for case in CASES:
        text = (FOLDER / case.file).read_text()
        kernel = case.launch.partition("<<<")[0]
        body = text[text.index(f"__global__ void {kernel.partition('<')[0]}(") :]
        length = body.index("\n}") + 1  # from its first line
        n_lines = body.count("\n", 0, length) + 1
        lines = lines_of_reports()[case.id]
        assert max(lines) <= n_lines, case.id
        assert min(lines) >= 1
        # Instructions of a few lines may be the toolkit's.
        assert 0.98 * int(reports()[case.id]["samples"]) <= sum(lines.values()) <= int(reports()[case.id]["samples"])


def test_a_kernels_first_line_is_found_by_its_name():
    text = "// a\n__global__ void sum(int n)\n{\n}\ntemplate <int N>\n__global__ void sum_of(int n)\n{\n}\n"
    assert first_line(text, "sum") == 2
    assert first_line(text, "sum_of<3>") == 6


def test_a_sample_stands_where_a_card_shows_it():
    inlined = Location("mma.h", 90, inlined_at=Location("k.cu", 12))
    places = (Location("k.cu", 10), Location("k.cu", 11), inlined, Location("k.cu", 13))
    launch = SimpleNamespace(
        module=SimpleNamespace(program=SimpleNamespace(locations=places), load_base=0x1000),
        function=SimpleNamespace(first=0, count=4),
    )
    shown = {
        (pc, reason): line_of(launch, "k.cu", 0x1000 + 16 * pc, NAMES.index(reason))
        for pc, reason in [(1, "wait"), (1, "barrier"), (2, "long_scoreboard"), (3, "drain")]
    }
    assert shown == {(1, "wait"): 11, (1, "barrier"): 12, (2, "long_scoreboard"): 12, (3, "drain"): 13}


@pytest.mark.long
def test_a_stream_waits_for_memory():
    (case,) = [case for case in CASES if case.id == "ayush_os_a100_vectoradd_0"]
    mix, lines = measure(case)
    assert mix.same_largest
    assert mix.distance < 0.12
    assert lines.same_hottest
    assert lines.rank_correlation > 0.7
