"""The samples page, which lines can be ranked, and periods in step with a loop."""

import csv
import io
import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.report.estimates import Estimate, Scale, scale_of, wilson
from gpuprof.report.model import Cost
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.render import csv_page, json_page, text_page
from gpuprof.report.terminal.styles import Look
from gpuprof.report.triage.kernel_rules import findings
from gpuprof.report.triage.ranking import enough_period, overlaps
from gpuprof.report.triage.resonance import beyond_chance, uneven
from tests.paths import SAMPLES
from tests.support.recordings import gpuprof
from tests.support.report_database import make_database

PIPE = Look(None, "", False, True)


@pytest.fixture
def report(tmp_path):
    with sqlite3.connect(make_database(tmp_path / "t.gpudb")) as db:
        return read_report(db)


def with_sizes(kernel, *sizes):
    """The kernel with these (weight, effective) of its launches' samples."""
    pairs = zip(kernel.launches, sizes, strict=True)
    return replace(
        kernel, launches=tuple(replace(launch, sample_weight=w, effective_samples=e) for launch, (w, e) in pairs)
    )


def test_launches_together_are_as_sure_as_their_weights_say(report):
    """Shares 3/4 and 1/4 of the weight, 30 and 10 samples: variances 9/16 / 30 + 1/16 / 10 = 1/40."""
    scale = scale_of(with_sizes(report.kernels[0], (300, 30), (100, 10)))
    assert (scale.weighted, scale.effective) == (True, 40)
    assert scale_of(with_sizes(report.kernels[0], (300, 30), (None, None)))[:3] == (False, 1832, 1832)


def test_estimate_weighs():
    """Ten samples of weight 1 and ten of weight 3: the second place has 3/4, as sure as 16 samples by (10 + 30)^2 / (10
    + 90).
    """
    scale = Scale(True, 40, 16, 1000)
    cost = Cost(samples=(10,), weights=(30,), cycles=(700,))
    assert scale.estimate(cost) == Estimate(0.75, *wilson(12, 16), 0.7)
    assert scale.estimate(cost).error == pytest.approx(0.05) and scale.estimate(cost).holds


def test_page_in_a_pipe(report):
    lines = [line.plain for line in text_page(report, PIPE, Request("samples"))]
    start = next(i for i, line in enumerate(lines) if line.startswith("line"))
    assert lines[start - 1] == "# transpose_naive, the samples are as sure as 1,832 independent ones"
    low, high = wilson(600, 1832)
    assert lines[start].split() == ["line", "exact", "sampled", "interval", "error", "samples", "cycles", "reason"]
    assert lines[start + 1].split() == [
        *("transpose.cu:14", f"{60_000 / 1847.2:.1f}%", f"{600 / 18.32:.1f}%", f"{100 * low:.1f}-{100 * high:.1f}"),
        *(f"{600 / 18.32 - 60_000 / 1847.2:+.1f}", "600", "60000", "lg_throttle"),
    ]


def test_csv_and_json_have_each_instruction_and_reason_once(report):
    (name,), heading, *rows = [
        row[1:] if row[0] == "Kernel Name" else row
        for row in csv.reader(io.StringIO(csv_page(report, Request("samples"))))
    ]
    assert name == "transpose_naive" and len({(row[0], row[3]) for row in rows}) == len(rows)
    place = {title: index for index, title in enumerate(heading)}
    assert sum(int(row[place["Warp Cycles (Exact)"]]) for row in rows) == 184_720
    assert sum(int(row[place["# Samples"]]) for row in rows) == 1832
    (kernel,) = json.loads(json_page(report, Request("samples")))["kernels"]
    assert (kernel["weighted"], kernel["effective_samples"]) == (True, 1832)
    assert [(each["address"], each["reason"], each["error"]) for each in kernel["estimates"]] == [
        (row[0], row[3], float(row[place["Error"]])) for row in rows
    ]


def test_period_that_is_enough():
    """Shares 0.5 and 0.1: 1.96 (0.5 + 0.3) / sqrt(n) < 0.4 from n = 15.4 on, so 256 samples at 64 cycles allow 16 times
    the period.
    """
    one, other = (Estimate(share, *wilson(share * 256, 256), share) for share in (0.5, 0.1))
    assert overlaps([("a", other), ("b", one)], 256, 64) == []
    one, other = (Estimate(share, *wilson(share * 8, 8), share) for share in (0.5, 0.1))
    assert enough_period(one, other, 8, 256) == 128  # 8 / 15.4 * 256 = 133
    assert [(each.upper, each.lower, each.enough_cycles) for each in overlaps([("a", other), ("b", one)], 8, 256)] == [
        ("b", "a", 128)
    ]
    assert enough_period(one, other, 8, 32) is None  # the sampler's shortest is 32
    assert enough_period(one, one, 8, 256) is None
    whole, none = (Estimate(share, 0.0, 1.0, share) for share in (1.0, 0.0))
    assert enough_period(whole, none, 8, 256) == 128  # shares that do not spread: any period parts them


def test_too_thin(report):
    found = {
        f.rule: f.text
        for f in findings(with_sizes(report.kernels[0], (14656, 40), (14656, 40)), report.chip, report.header)
    }
    low = wilson(80 * 1176 / 1832, 80).low
    assert f"transpose.cu:14 ({100 * low:.0f}" not in found["too_thin"]  # the hottest line stands alone
    assert found["too_thin"].startswith("The samples are too few to rank ") and found["too_thin"].endswith(
        "The exact column ranks them."
    )
    sure = with_sizes(report.kernels[0], (14656, 10**7), (14656, 10**7))
    assert "too_thin" not in {f.rule for f in findings(sure, report.chip, report.header)}


@pytest.mark.parametrize(
    "register", [("mode", "stalled"), ("trigger", "branch"), ("partition", "0"), ("filter", "block=0")]
)
@pytest.mark.parametrize("of_launch", [False, True])
def test_samples_that_are_not_of_all_time_are_not_ranked(tmp_path, register, of_launch):
    """Also where it is so of the last launch alone."""
    with sqlite3.connect(make_database(tmp_path / "t.gpudb")) as db:
        if of_launch:
            db.execute("INSERT INTO samplers VALUES (1, ?, ?)", register)
        else:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", register)
        report = read_report(db)
    assert not report.header.samples_time
    assert "too_thin" not in {
        f.rule for f in findings(with_sizes(report.kernels[0], (14656, 40), (14656, 40)), report.chip, report.header)
    }
    assert "not of all warps' time" in "".join(line.plain for line in text_page(report, PIPE, Request("samples")))


@pytest.mark.parametrize("shares, n, expected", [
    ([(0.5, 0.5), (0.5, 0.5)], 10_000, False),
    ([(0.6, 0.5), (0.4, 0.5)], 200, False),  # chi-square 8.0; 10.83 is the 99.9 % quantile of one degree of freedom
    ([(0.6, 0.5), (0.4, 0.5)], 300, True),  # 12.0
    ([(1.0, 0.25), (0.0, 0.25), (0.0, 0.25), (0.0, 0.25)], 20, True),  # 60; 16.27 of three
    # too few for the statistic: 2.5 expected at each
    ([(1.0, 0.25), (0.0, 0.25), (0.0, 0.25), (0.0, 0.25)], 10, False),
])  # fmt: skip
def test_beyond_chance(shares, n, expected):
    assert beyond_chance(shares, n) == expected


def test_a_better_period_moves_on_by_the_golden_section():
    assert uneven(128, 64) == round(2.618034 * 64) and uneven(40, 100) == round(1.618034 * 100)


LOOP = """\
// LAUNCH: spin<<<4, 32>>>(f32[128], 200)
__global__ void spin(float* out, int n) {
    float a = threadIdx.x, b = 1.0f;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        a = a * 1.0001f + b;
        b = b * 0.9999f + a;
        a = a / b;
        b = __fsqrt_rn(b);
    }
    out[blockIdx.x * 32 + threadIdx.x] = a + b;
}
"""


@pytest.fixture(scope="module")
def loop_cycles(tmp_path_factory):
    """A loop in which nothing varies, and how long an iteration is: (folder, cycles)."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "loop.cu").write_text(LOOP)
    (folder / "chip.toml").write_text('inherits = "a100"\nsms = 4\n')
    cycles = [in_step(folder, 0, n)[1] for n in (100, 200)]
    return folder, (cycles[1] - cycles[0]) / 100


def in_step(folder: Path, period: int, n: int = 200):
    """The kernel's findings about its loop at a sampling period, and its cycles."""
    launch = f"spin<<<4, 32>>>(f32[128], {n})"
    assert (
        gpuprof(
            folder,
            "collect",
            "loop.cu",
            "--chip",
            "chip.toml",
            "--launch",
            launch,
            "--period",
            str(period),
            "-o",
            "a.gprec",
        )[0]
        == 0
    )
    found = read_report(ensure_database(folder / "a.gprec"))
    return [f for f in findings(found.kernels[0], found.chip, found.header) if f.rule == "in_step"], found.kernels[
        0
    ].cycles


@pytest.mark.long
def test_a_period_in_step_with_a_loop_is_found_and_the_better_one_is_better(loop_cycles):
    folder, iteration = loop_cycles
    assert iteration == int(iteration) > 40
    for times in (1, 2):
        (finding,), _ = in_step(folder, times * int(iteration))
        assert finding.text.startswith("The samples in the loop at loop.cu:5-9 are off by ") and finding.line == 5
        better = int(finding.text.split("a period of ")[1].split()[0])
        assert in_step(folder, better)[0] == []
    assert in_step(folder, int(1.382 * iteration))[0] == []


@pytest.mark.parametrize(
    "set_by_script, says",
    [
        ({"mode": "all", "period_cycles": 64}, "period 64 cycles (all)"),
        ({"mode": "stalled"}, "period 256 cycles (stalled)"),
        ({"trigger": "l1_miss", "every": 5, "mode": "trigger", "period_cycles": 0}, "trigger l1_miss:5 (trigger)"),
        ({"partition": 0}, "period 256 cycles (random), partition 0 of each SM"),
    ],
)
def test_registers_that_a_script_has_set_throughout_are_those_of_the_header(tmp_path, set_by_script, says):
    """And decide whether the ledger is a measure of the samples."""
    (tmp_path / "saxpy.cu").write_text((SAMPLES / "saxpy.cu").read_text())
    (tmp_path / "s.py").write_text(f"""
import numpy as np, gpuprof
gpu = gpuprof.Device()
saxpy = gpu.load("saxpy.cu").saxpy
gpu.sampler.set(**{set_by_script})
saxpy[4, 64](256, 2.0, np.ones(256, np.float32), np.ones(256, np.float32))
""")
    assert gpuprof(tmp_path, "collect", "s.py")[0] == 0
    _, out, _ = gpuprof(tmp_path, "report", "s.gprec", "--page", "samples")
    assert f", {says}, dropped" in re.sub(r"\n# *", " ", out) and "the sampler's" not in out
    assert ("do not compare" in out) == (set_by_script.get("mode") != "all")
    assert bool(re.search(r" [+-]\d+\.\d ", out)) == (set_by_script.get("mode") == "all")  # errors of shares
