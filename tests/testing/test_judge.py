"""Judgements on runs, from small synthetic recordings."""

import pytest

from gpuprof.testing.collector import write_database
from gpuprof.testing.judge import Row, baseline_of, judge
from gpuprof.testing.mark import parse_mark
from gpuprof.testing.run import Run
from tests.check.test_check import SOURCE, write_blur
from tests.support.recordings import CHIP, gpuprof

HINT = "pytest test_blur.py::test --gpuprof-update"


def a_run(folder, name="now", **how) -> Run:
    """Of a kernel of 200 cycles whose lines 3, 5 and 6 have 40, 900 and 60 warp-cycles, if `how` has no others."""
    run = Run(write_blur(folder / f"{name}.gprec", **how))
    write_database(run)
    return run


@pytest.fixture
def old(tmp_path):
    """The baseline of `a_run`, written by `gpuprof check`."""
    write_blur(tmp_path / "old.gprec")
    code, *_ = gpuprof(tmp_path, "check", "old.gprec", "--baseline", "blur.toml", "--update")
    assert code == 0
    return baseline_of(tmp_path / "blur.toml", "blur.toml", HINT)


USUAL = parse_mark({"baseline": "blur"})


def test_same(tmp_path, old):
    judgement = judge([a_run(tmp_path)], USUAL, old)
    assert (judgement.rows, judgement.failure, judgement.baseline) == ([Row("blur", 200, 200, "same")], [], "")


def test_regressed(tmp_path, old):
    judgement = judge([a_run(tmp_path, cycles=(240,), lines=(40, 1100, 60))], parse_mark({"cycles": "1%"}), old)
    assert judgement.rows == [Row("blur", 240, 200, "regressed")]
    assert judgement.failure == [
        "regressed  blur<<<(8, 8), 64>>>: cycles 200 -> 240 (+40, +20.0 %), limit 1%, only its data changed",
        "             blur.cu:5  900 -> 1100 warp-cycles (+200)  x[1] = a;",
        "1 launch compared (cycles=1%): 1 regressed",
        "against blur.toml",
        f"if this is intended: {HINT}",
    ]


def test_improved(tmp_path, old):
    judgement = judge([a_run(tmp_path, cycles=(150,))], parse_mark({"cycles": "1%"}), old)
    assert (judgement.rows, judgement.failure) == ([Row("blur", 150, 200, "improved")], [])


def test_a_missing_baseline_says_how_to_write_it(tmp_path):
    judgement = judge([a_run(tmp_path)], USUAL, baseline_of(tmp_path / "b.toml", "gpuprof-baselines/b.toml", HINT))
    assert judgement.rows == [Row("blur", 200, None, "not comparable")]
    assert judgement.failure == [
        "gpuprof-baselines/b.toml: there is no baseline yet",
        f"write it with: {HINT}",
    ]


def test_another_chip(tmp_path, old):
    judgement = judge([a_run(tmp_path, chip=CHIP | {"sms": 1})], USUAL, old)
    assert judgement.rows == [Row("blur", 200, None, "not comparable")]
    assert judgement.failure[0].startswith("the baseline is not comparable: chip_sha256 '")
    assert judgement.failure[0].endswith(
        "; `pytest --gpuprof-against REV` compares both states with this gpuprof, or write a new one with "
        "--gpuprof-update"
    )
    assert judgement.failure[1:] == [f"write it with: {HINT}"]


def test_a_launch_of_the_baseline_is_missing(tmp_path, old):
    run = a_run(tmp_path, launch={"kernel": "other"})
    assert judge([run], USUAL, old).rows == [Row("other", 200, None, "new"), Row("blur", 0, None, "missing")]
    assert judge([run], USUAL, old).failure == [
        "missing    blur<<<(8, 8), 64>>>: in the baseline, but not in this profile",
        "new        other<<<(8, 8), 64>>>: not in the baseline; --gpuprof-update adds it",
        "0 launches compared (cycles=1%|200): 1 missing, 1 new",
        "against blur.toml",
        f"if this is intended: {HINT}",
    ]


def test_update_writes_what_check_writes(tmp_path, old):
    judgement = judge([a_run(tmp_path)], USUAL, old, update=True)
    assert judgement.rows == [Row("blur", 200, None, "written")]
    assert judgement.baseline == (tmp_path / "blur.toml").read_text()


def test_several_runs_are_launches_in_order(tmp_path):
    """The third launch of two runs is the second of its run."""
    runs = [a_run(tmp_path, "one"), a_run(tmp_path, "two", cycles=(210, 220))]
    text = judge(runs, USUAL, baseline_of(tmp_path / "b.toml", "", ""), update=True).baseline
    lines = [line for line in text.splitlines() if line.startswith(("kernel", "ordinal", "cycles"))]
    assert lines == [
        'kernel = "blur<<<(8, 8), 64>>>"', "ordinal = 1", "cycles = 200",
        'kernel = "blur<<<(8, 8), 64>>>"', "ordinal = 2", "cycles = 210",
        'kernel = "blur<<<(8, 8), 64>>>"', "ordinal = 3", "cycles = 220",
    ]  # fmt: skip
    (tmp_path / "b.toml").write_text(text)
    runs[1] = a_run(tmp_path, "three", cycles=(210, 300))
    judgement = judge(runs, parse_mark({"cycles": "1%"}), baseline_of(tmp_path / "b.toml", "b.toml", ""))
    assert judgement.rows == [Row("blur", 710, 630, "regressed")]
    assert judgement.failure[0].startswith("regressed  blur<<<(8, 8), 64>>> #3: cycles 220 -> 300 (+80, +36.4 %)")


def test_chips_of_one_test_must_agree(tmp_path):
    runs = [a_run(tmp_path, "one"), a_run(tmp_path, "two", chip=CHIP | {"sms": 1})]
    assert judge(runs, USUAL, None).failure == [
        "the runs of the test have several chips (a100, a100); a test is judged on one, so write one test for each, "
        "as with @pytest.mark.parametrize"
    ]


def test_budgets_hold_without_a_baseline(tmp_path):
    run = a_run(tmp_path, cycles=(200, 200))
    expected = parse_mark({"registers": "<=11", "cycles": "<=200", "inst_executed": "<=10"})
    judgement = judge([run], expected, None)
    assert judgement.rows == [Row("blur", 400, None, "over budget")]
    assert judgement.failure == [
        "budget     blur<<<(8, 8), 64>>>: registers 12, budget <=11",
        "budget     blur<<<(8, 8), 64>>> #2: registers 12, budget <=11",
        "budget     blur<<<(8, 8), 64>>>: inst_executed 24 instructions, budget <=10, most at blur.cu:3",
        "budget     blur<<<(8, 8), 64>>> #2: inst_executed 24 instructions, budget <=10, most at blur.cu:3",
    ]


def test_findings_need_something_that_watches(tmp_path):
    judgement = judge([a_run(tmp_path)], parse_mark({"findings": 0}), None)
    assert judgement.rows == [Row("", 0, None, "not comparable")]
    assert judgement.failure == [
        "--require 'findings<=0': no trace generator has watched; collect with --trace, as in `gpuprof list traces`"
    ]


def test_nothing_was_collected():
    assert judge([], USUAL, None).failure == ["the test collected nothing, so there is nothing to judge"]


def test_an_incomplete_recording(tmp_path):
    run = a_run(tmp_path, complete=False)
    assert judge([run], USUAL, None).failure == [
        f"{run.recording}: the recording is not complete (interrupted); collect again"
    ]


def test_the_source_is_the_baselines():
    assert SOURCE[4].strip() == "x[1] = a;"  # line 5, to which the regressed test refers
