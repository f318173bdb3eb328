"""gpuprof quality: longer periods are thinned recordings, shorter ones follow the formula; and what the intervals hold
over seeds.
"""

import csv
import io
import json

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import ensure_database
from gpuprof.correlate.profile import common_registers, read_profile
from gpuprof.correlate.sample_counts import LaunchCounts
from gpuprof.correlate.thinning import (
    NOTHING,
    Row,
    Samples,
    Truth,
    error_of,
    in_order,
    largest,
    measured,
    predicted,
    rows_of,
)
from gpuprof.errors import NotComparable
from gpuprof.report.estimates import Scale
from gpuprof.report.quality import hottest_share
from gpuprof.report.queries import read_report
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.recordings import gpuprof
from tests.support.timing_support import run
from tests.timing.test_timing import random_kernel

SOURCE = """\
// LAUNCH: mixed<<<24, 96>>>(f32[4096]=random, f32[4096], 40)
__global__ void mixed(const float* in, float* out, int n) {
    __shared__ float tile[96];
    float sum = 0;
    int i = blockIdx.x * 96 + threadIdx.x;
    for (int k = 0; k < n + (int)blockIdx.x * 4; k++) {
        float x = in[(i * 7 + k * 61) & 4095];
        tile[threadIdx.x] = x;
        __syncthreads();
        sum += sqrtf(x) * tile[95 - threadIdx.x];
        __syncthreads();
    }
    out[i & 4095] = sum;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quality")
    (folder / "mixed.cu").write_text(SOURCE)
    (folder / "chip.toml").write_text('inherits = "a100"\nsms = 4\n')
    for period in (64, 128):
        collect(folder, f"{period}.gprec", "--period", str(period))
    collect(folder, "compact.gprec", "--period", "64", "--record", "compact")
    return folder


def collect(folder, name, *flags):
    code, _, error = gpuprof(folder, "collect", "mixed.cu", "--chip", "chip.toml", "-o", name, *flags)
    assert code == 0, error


def periods(folder, name, *flags):
    code, out, error = gpuprof(folder, "quality", name, "--format", "json", *flags)
    assert code == 0, error
    return {row["period_cycles"]: row for row in json.loads(out)["periods"]}


def report_of(folder, name):
    return read_report(ensure_database(folder / name))


@pytest.mark.long
def test_a_thinned_recording_is_the_one_of_the_longer_period(folder):
    """Of the two phases of 64-cycle samples the first is what 128 cycles record; the row of 128 is the mean of both."""
    thin, thick = (
        read_profile(folder / name, ensure_database(folder / name), [0]) for name in ("128.gprec", "64.gprec")
    )
    first, second = measured(thick[0], thick[1], 2)
    assert measured(thin[0], thin[1], 1) == [first]
    row = periods(folder, "64.gprec")[128]
    assert row["mix_error"] == round((first.mix + second.mix) / 2, 6) and row["how"] == "thinned"
    assert periods(folder, "128.gprec")[128]["mix_error"] == round(first.mix, 6)


def test_the_row_of_the_recorded_period_is_what_the_report_says(folder):
    (kernel,) = report_of(folder, "64.gprec").kernels
    row, cost = periods(folder, "64.gprec")[64], kernel.cost
    exact, sampled, counted = (np.array(each) / sum(each) for each in (cost.cycles, cost.weights, cost.samples))
    assert row["mix_error"] == round(np.abs(sampled - exact).sum() / 2, 6)
    assert row["mix_error_counted"] == round(np.abs(counted - exact).sum() / 2, 6)
    assert (row["samples"], row["how"]) == (cost.n_samples, "recorded")


def test_table_in_a_pipe_and_csv_say_what_json_says(folder):
    rows = list(periods(folder, "64.gprec").values())
    assert [row["period_cycles"] for row in rows] == [1 << k for k in range(5, 21)]
    assert [row["how"] for row in rows] == ["predicted", "recorded"] + ["thinned"] * 14
    code, out, _ = gpuprof(folder, "quality", "64.gprec")
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["period"])
    assert code == 0 and [line.split()[0] for line in lines[start + 1 : start + 17]] == [
        str(row["period_cycles"]) for row in rows
    ]
    assert lines[-1].endswith("gpuprof explain mix, and so on, explains the columns")
    table = list(csv.DictReader(io.StringIO(gpuprof(folder, "quality", "64.gprec", "--format", "csv")[1])))
    assert table == [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    assert rows[-1]["samples"] < 1 and rows[-1]["mix_error"] is not None  # one phase in many has a sample


def test_compact_records_predict_longer_periods_too(folder):
    rows = periods(folder, "compact.gprec")
    assert {row["how"] for period, row in rows.items() if period != 64} == {"predicted"}
    assert rows[64]["mix_error"] == periods(folder, "64.gprec")[64]["mix_error_counted"]
    assert "compact records have no cycle and no weight" in gpuprof(folder, "quality", "compact.gprec")[1]


def test_what_cannot_be_judged(folder):
    collect(folder, "other.gprec", "--period", "0")
    code, _, error = gpuprof(folder, "quality", "other.gprec")
    assert code == 4 and "no samples" in error
    time = {"mode": "random", "period_cycles": 64}
    for registers, said in [
        ([time | {"mode": "stalled"}], "does not sample the warps' time"),
        ([time | {"trigger": "l1_miss"}], "does not sample the warps' time"),
        ([time | {"filter": "block=0"}], "only samples of block=0 were recorded"),
        ([time | {"partition": 2}], "only partition 2 of the SMs was sampled"),
        ([time, time | {"period_cycles": 128}], "period_cycles 128 and 64: choose one"),
        ([time | {"period_cycles": 0, "auto_period": 1}], "ends before --period auto found its period"),
    ]:
        with pytest.raises(NotComparable, match=said):
            common_registers("a.gprec", registers)
    assert common_registers("a.gprec", [time, time]) == time


def test_a_database_has_no_samples(folder):
    assert gpuprof(folder, "correlate", "64.gprec", "-o", "a.gpudb")[0] == 0
    code, _, error = gpuprof(folder, "quality", "a.gpudb")
    assert code == 2 and "quality needs the samples of a recording (.gprec)" in error


# By hand.

TRUTH = Truth(np.array([0.5, 0.3, 0.2]), np.array([0.75, 0.25]))


def test_error_by_hand():
    """Lines 0.4, 0.5, 0.1 of the weight: worst 0.2; only the third is at its place. Reasons 0.5, 0.5 by weight, and
    0.8, 0.2 by count.
    """
    found = error_of(np.array([4, 5, 1]), np.array([5, 5]), np.array([4, 1]), TRUTH)
    assert found == (0.25, pytest.approx(0.05), pytest.approx(0.2), pytest.approx(1 / 3), 0.0)


def test_lines_that_no_sample_saw_are_not_in_order_by_chance():
    """One sample, of the first line: it is at its place; the other two share the places 2 and 3, so each is right half
    the time. Of no two lines that tie for the first place is one known to be the hottest."""
    found = error_of(np.array([1, 0, 0]), np.array([1, 0]), np.array([1, 0]), TRUTH)
    assert (found.ranked, found.hottest) == (pytest.approx((1 + 1 / 2 + 1 / 2) / 3), 1.0)
    found = error_of(np.array([2, 2, 0]), np.array([1, 0]), np.array([1, 0]), TRUTH)
    assert (found.ranked, found.hottest) == (pytest.approx((1 / 2 + 1 / 2 + 1) / 3), 0.5)


def test_formula_against_many_draws():
    rng, n = np.random.default_rng(0), 200
    lines, reasons = (rng.multinomial(n, shares, 20_000) / n for shares in TRUTH)
    found = predicted(TRUTH, n)
    assert found.mix == pytest.approx(np.abs(reasons - TRUTH.reasons).sum(1).mean() / 2, rel=0.03)
    # errors are not independent
    assert found.worst_line == pytest.approx(np.abs(lines - TRUTH.lines).max(1).mean(), rel=0.15)
    assert found.hottest == pytest.approx((lines.argmax(1) == 0).mean(), abs=0.01)
    assert in_order(0.3, 0.2, n) == pytest.approx((lines[:, 1] > lines[:, 2]).mean(), abs=0.02)
    assert largest(np.array([1.0])) == pytest.approx(np.sqrt(2 / np.pi), rel=1e-3)


def test_a_period_that_is_no_power_of_two_has_its_own_row():
    samples = Samples(*(np.zeros(4, np.int64),) * 2, np.arange(4), np.ones(4, np.int64))
    rows = rows_of(samples, TRUTH, 100, 4, True)
    assert [(row.period_cycles, row.how) for row in rows][:4] == [
        (50, "predicted"),
        (100, "recorded"),
        (200, "thinned"),
        (400, "thinned"),
    ]


# Over seeds.


def shares_held(chip, kernel, seed: int, period: int) -> list[bool]:
    """For each instruction of 1 % and more of the ledger: does its interval hold its share?"""
    code, warps, per_block = kernel
    timing, records = run(
        chip,
        code,
        warps,
        warps_per_block=per_block,
        sampling=Sampling(period, seed=seed, phase_cycles=37 * seed % period),
    )
    counts = LaunchCounts({"mode": "random"})
    counts.add(records)
    keys, sums = counts.merge()
    weight = np.zeros(len(timing.ledger), np.int64)
    np.add.at(weight, ((keys >> np.uint64(5)).astype(np.int64) - 0x1000) // 16, sums[:, 2])
    scale = Scale(True, int(weight.sum()), counts.effective(), timing.resident_warp_cycles)
    pairs = zip(weight.tolist(), timing.ledger.sum(axis=1).tolist(), strict=True)
    return [scale.of(part, cycles).holds for part, cycles in pairs if cycles >= 0.01 * timing.resident_warp_cycles]


def test_the_interval_holds_the_truth_about_95_times_in_100(tmp_path):
    """Sixty seeds and phases. Those of one recording hang together, so the bounds are those of sixty independent
    trials: 95 in 100 of them hold on the average, and fewer than 0.95 - 2.33 sqrt(0.95 * 0.05 / 60) = 0.885 once in a
    hundred."""
    (tmp_path / "chip.toml").write_text('inherits = "a100"\nsms = 4\n')
    chip = load_chip(tmp_path / "chip.toml")
    kernel = random_kernel(5, 200, 4)
    held = [shares_held(chip, kernel, seed, 128) for seed in range(60)]
    assert sum(map(len, held)) > 600
    assert np.mean([np.mean(each) for each in held]) > 0.885


def test_sampled_shares_converge_to_the_ledger(folder):
    """Sixteen times the samples, a quarter of the error: the mean over the phases of a period, so that chance is
    small.
    """
    rows = periods(folder, "64.gprec")
    errors = [rows[64 << k]["mix_error"] for k in (6, 4, 2)]
    assert errors == sorted(errors, reverse=True) and 1.7**2 < errors[0] / errors[2] < 2.3**2


@pytest.mark.parametrize(
    "recordings, counted, by_formula, share",
    [(1, 1.0, 0.85, 0.85), (19, 1.0, 0.6, 0.6), (20, 1.0, 0.6, 1.0), (0, 0.85, 0.85, 0.85)],
)
def test_few_recordings_do_not_show_a_share(recordings, counted, by_formula, share):
    """One recording that finds the hottest line says nothing of 95 % of them."""
    row = Row(256, "recorded", 100, NOTHING._replace(hottest=counted), None, recordings, by_formula)
    assert hottest_share(row) == share
