"""The frames of the comparison, the truth that is stored of them, and how their predictions are judged."""

from collections import Counter

import pytest

from gpuprof.chips import load_chip
from gpuprof.predict.draws.draw_bottleneck import UNITS
from tests.prediction.draws.chips import KEPT_FRAMES, MADE_UP, PREDICTED, REFERENCE, chip_named
from tests.prediction.draws.judge import DrawPoint, judge_draws
from tests.prediction.draws.simulate import CHIPS, DRAWN, WITH_UNITS, simulate
from tests.prediction.draws.stored import ALONE, BUFFER, DRAW, FRAME, TRUTH, DrawRow, merged, row_of
from tests.prediction.draws.units import doubled
from tests.prediction.stored import read

older = pytest.mark.xfail(strict=True, reason="truth.csv is of version 3.0 of the model, recordings are of 4.0")


def test_frames_and_chips_of_the_comparison():
    assert (len(DRAWN) >= 12, len(PREDICTED) >= 8, REFERENCE in PREDICTED) == (True, True, False)
    assert set(KEPT_FRAMES) < set(DRAWN)
    reference = load_chip(REFERENCE)
    for name, changes in MADE_UP.items():
        chip = chip_named(name)
        different = {f"graphics.{key}" for key, value in chip.graphics.items() if value != reference.graphics[key]}
        different |= {key for key, value in chip.values.items() if value != reference.values[key]}
        assert different == set(changes)


def test_truth_is_there_for_twelve_frames_on_every_chip():
    """Each has as many draws and command buffers as on the reference chip, and one frame."""
    parts: dict[str, dict[str, Counter]] = {}
    for row in read(TRUTH, DrawRow):
        parts.setdefault(row.frame, {}).setdefault(row.chip, Counter())[row.level] += 1
        shares = row.shares()
        assert row.cycles > 0 and (shares is not None) == (row.chip in WITH_UNITS and row.level != ALONE)
        assert (
            set(shares or ()) <= set(UNITS) and list((shares or {}).values()) == sorted((shares or {}).values())[::-1]
        )
    assert len(parts) >= 12 and set(parts) <= set(DRAWN)
    for frame, found in parts.items():
        assert list(found) == list(CHIPS), frame
        assert all(each == found[REFERENCE] for each in found.values()), frame
        assert found[REFERENCE][FRAME] == 1 and found[REFERENCE][DRAW] >= found[REFERENCE][BUFFER] >= 1
        assert found[REFERENCE][ALONE] == found[REFERENCE][DRAW]


@pytest.mark.long
@older
def test_a_slice_of_the_truth_again(tmp_path):
    stored = [row for row in read(TRUTH, DrawRow) if (row.frame, row.chip) == ("pixel_bound", "t4")]
    assert list(simulate("pixel_bound", ["t4"], tmp_path)) == stored


@pytest.mark.long
@older
def test_judged(tmp_path):
    """A frame from its recording on the reference chip."""
    points = judge_draws(["pixel_bound"], read(TRUTH, DrawRow), tmp_path)
    levels = Counter(point.level for point in points)
    n = len(PREDICTED)
    assert levels == {DRAW: 2 * n, BUFFER: 2 * n, FRAME: n, ALONE: 2 * n}
    same = [point for point in points if point.chip == "rtx3090-half-front"]  # which this frame never waits for
    assert max(point.error for point in same) < 0.02
    assert max(point.rule_error for point in same if not point.rule) < 0.02


def test_twice_a_unit():
    """Shaders are all that shaders wait for, but memory that others use, too; a launch of a grid stays as it is."""
    chip = load_chip(REFERENCE)
    assert doubled(chip, "fetch").graphics == chip.graphics | {"indices_per_cycle": 14.0}
    assert doubled(chip, "command").graphics == chip.graphics | {"draw_cycles": 20.0, "state_cycles": 10.0}
    shaders = doubled(chip, "shaders")
    assert (shaders.graphics, shaders.launch_cycles) == (chip.graphics, chip.launch_cycles)
    assert (shaders.lanes["fma"], shaders.dram_gbytes_per_s) == (2 * chip.lanes["fma"], chip.dram_gbytes_per_s)
    assert doubled(chip, "dram").dram_gbytes_per_s == 2 * chip.dram_gbytes_per_s


def test_a_row_of_truth():
    row = row_of("f", "c", (DRAW, 3), 1000.0, {"fetch": 998.0, "scan": 700.0, "shaders": 850.0})
    assert row == DrawRow("f", "c", DRAW, 3, 1000.0, "scan:0.3000 shaders:0.1500")
    assert row.shares() == {"scan": 0.3, "shaders": 0.15}
    assert row_of("f", "c", (DRAW, 3), 1000.0, {}).shares() is None  # as no unit was doubled


def test_merged_rows():
    a_x, b_x = DrawRow("a", "x", FRAME, 0, 1.0, ""), DrawRow("b", "x", FRAME, 0, 1.0, "")
    new = [b_x._replace(cycles=5.0), a_x._replace(chip="y")]
    assert merged([a_x, b_x], new, ["b", "a"], ["x", "y"]) == [new[0], a_x, new[1]]


def point(unit, shares, frame="pixel_bound"):
    return DrawPoint(DRAW, frame, 0, "t4", 10.0, 11.0, 12.0, 13.0, "1, of it", 20.0, unit, shares)


def test_a_point_is_judged():
    """A tenth off, by the rules a fifth, scaled three tenths; the naive method twice as slow. Stages are right where
    shaders save most.
    """
    one = point("pixel", {"shaders": 0.2, "scan": 0.195})
    errors = (one.error, one.rule_error, one.scaled_rule_error, one.naive_error)
    assert [round(error, 6) for error in errors] == [0.1, 0.2, 0.3, 1.0]
    assert [one._replace(unit=unit).is_right for unit in ("pixel", "vertex", "scan", "setup")] == [
        True,
        True,
        True,
        False,
    ]
    assert (one.is_kept, point("pixel", {}, KEPT_FRAMES[0]).is_kept) == (False, True)
