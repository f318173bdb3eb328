"""Rates beside peaks, and what limits: from numbers that are worked out by hand.

The chip is one SM of 4 partitions at 1000 MHz, so that a cycle is a nanosecond, and bytes a cycle are GB/s.
"""

import csv
import io
import json
import sqlite3
from dataclasses import replace

import pytest

from gpuprof.chips.peaks import peaks_of
from gpuprof.isa.stalls import INDEX
from gpuprof.report.model import ZEROS, ChipFacts, Launch
from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.render import csv_page, json_page
from gpuprof.report.terminal.styles import Look
from gpuprof.report.throughput import covered, limit, operations, roofline, throughput
from tests.report.test_text_pages import PIPE, lines_of
from tests.support.report_database import make_database

NUMBERS = {
    "clock_mhz": 1000.0, "sms": 1, "partitions": 4, "dispatch_units": 1, "lsu_cycles": 1.0, "dram_gbytes_per_s": 100.0,
    "l2_slices": 4, "l2_slice_nbytes_per_cycle": 32, "noc_nbytes_per_cycle": 64, "lanes": {"fma": 16, "half": 16},
    "tensor": {"f16": 64},
}  # fmt: skip
CHIP = ChipFacts("small", clock_mhz=1000.0, sms=1, partitions=4, warp_slots=16, peaks=peaks_of(NUMBERS))
# The peaks of a cycle: DRAM 100 bytes, L2 64 (the SM's link), L1 and shared 128, issue 4, f32 2 * 4 * 16 = 128, f16
# 256, tensor f16 2 * 4 * 64 = 512, 4 tensor pipes.
WORK = {
    "dram_read_nbytes": 30_000, "dram_write_nbytes": 20_000, "l2_sectors": 1_000, "l1_sectors": 2_000,
    "shared_wavefronts": 500, "issue_slots": 1_200, "tensor_busy_cycles": 100, "sm_active_cycles": 900,
}  # fmt: skip


def launch(number=0, start=0, end=1000, complete=True, operations=None, **metrics) -> Launch:
    return Launch(
        number, "k", (1, 1, 1), (32, 1, 1), 0, 0, "", start, end, end - start, 0, 0, 0, False, complete, WORK | metrics,
        operations=operations or {},
    )  # fmt: skip


def shares(*launches) -> dict[str, float]:
    return {use.resource.name: use.share for use in throughput(launches, CHIP).uses}


def test_rates_of_one_launch():
    found = throughput(
        [launch(operations={"f32": 64_000, "f16": 1_000, "bf16": 600, "tensor_f16": 51_200, "int": 9})], CHIP
    )
    assert (found.launches, found.left_out, found.cycles) == (1, 0, 1000)
    assert {use.resource.name: (use.work, use.achieved, use.peak, use.share) for use in found.uses} == {
        "dram": pytest.approx((50_000, 50, 100, 0.5)),
        "l2": pytest.approx((32_000, 32, 64, 0.5)),
        "l1": pytest.approx((64_000, 64, 128, 0.5)),
        "shared": pytest.approx((64_000, 64, 128, 0.5)),
        "issue": pytest.approx((1_200, 1.2, 4, 0.3)),
        "f32": pytest.approx((64_000, 64, 128, 0.5)),
        "f16": pytest.approx((1_600, 1.6, 256, 0.00625)),
        "tensor_f16": pytest.approx((51_200, 51.2, 512, 0.1)),
        "tensor_pipe": pytest.approx((100, 0.1, 4, 0.025)),
    }  # fmt: skip


def test_what_was_not_used_or_is_not_known_has_no_rate():
    idle = dict.fromkeys(WORK, 0)
    assert shares(launch(**idle)) == {}
    assert shares(launch(**idle, operations={"f64": 1})) == {}  # the chip has no fp64 lanes
    old = replace(launch(), metrics={"issue_slots": 400})
    assert shares(old) == {"issue": 0.1}
    assert shares(launch(), old) == pytest.approx({"issue": 1600 / 1000 / 4})


def test_several_launches_are_the_sum_of_work_over_the_sum_of_times():
    """A kernel whose second launch waits twice as long: 100,000 bytes in 3000 cycles."""
    found = throughput([launch(0, 0, 1000), launch(1, 5000, 7000)], CHIP)
    assert (found.cycles, found.uses[0].achieved) == (3000, pytest.approx(100_000 / 3000))


def test_launches_at_the_same_time_share_their_time():
    """The first 500 cycles of the second are the last 500 of the first."""
    found = throughput([launch(0, 0, 1000), launch(1, 500, 1500)], CHIP)
    assert (found.cycles, found.uses[0].achieved) == (1500, pytest.approx(100_000 / 1500))
    assert covered([(0, 10), (2, 5), (5, 12), (20, 21)]) == 13
    assert covered([]) == covered([(3, 3)]) == 0


def test_launches_that_did_not_end_are_left_out_with_their_work():
    cut_off = launch(1, 0, 0, complete=False, operations={"f32": 5})
    found = throughput([launch(operations={"f32": 64_000}), cut_off], CHIP)
    assert (found.launches, found.left_out, found.cycles) == (1, 1, 1000)
    assert found.uses[0].share == 0.5
    assert operations([launch(operations={"f32": 64_000}), cut_off]) == {"f32": 64_000}
    assert throughput([cut_off], CHIP).uses == ()


def test_a_launch_of_no_cycles_has_no_rate():
    assert throughput([launch(0, 5, 5)], CHIP).uses == ()
    assert limit(throughput([launch(0, 5, 5)], CHIP), ZEROS, 1.0) is None
    assert throughput([], CHIP).uses == ()


def of_share(share: float):
    return throughput([launch(dram_read_nbytes=0, dram_write_nbytes=share * 100_000)], CHIP)


def waits(**cycles: int) -> tuple[int, ...]:
    return tuple(cycles.get(name, 0) for name in INDEX)


@pytest.mark.parametrize(
    "share, stalls, kind, resource",
    [
        (0.8, {"long_scoreboard": 9}, "bound", "dram"),
        (0.79, {"long_scoreboard": 9}, "high", "dram"),
        (0.6, {"math_pipe_throttle": 9}, "high", "dram"),
        (0.59, {"long_scoreboard": 9, "selected": 99}, "latency", "dram"),
        (0.59, {"math_pipe_throttle": 9, "long_scoreboard": 8}, "pipe", "dram"),
        (0.59, {"lg_throttle": 9}, "pipe", "dram"),
        (0.59, {}, "latency", "dram"),
        (0.01, {"barrier": 1}, "latency", "l2"),  # of equal shares the first in the table
    ],
)
def test_what_limits(share, stalls, kind, resource):
    found = limit(of_share(share), waits(**stalls), 0.6)
    top = max((name for name in stalls if name != "selected"), key=stalls.get, default=None)
    assert (found.kind, found.use.resource.name) == (kind, resource)
    assert found.reason == (None if top is None else INDEX[top])


@pytest.mark.parametrize(
    "share, stalls, kind, reason",
    [
        (0.8, {"not_selected": 9, "math_pipe_throttle": 8}, "bound", "not_selected"),
        (0.59, {"not_selected": 9, "math_pipe_throttle": 8, "wait": 7}, "pipe", "math_pipe_throttle"),
        (0.59, {"not_selected": 9, "wait": 8}, "latency", "wait"),
        (0.59, {"not_selected": 9}, "latency", "not_selected"),
    ],
)
def test_issue_slots_that_are_left_limit_nobody(share, stalls, kind, reason):
    """Half of a full pipe's warps stand behind the one that issues, the others behind the pipe."""
    found = limit(of_share(share), waits(**stalls), 1.0)
    assert (found.kind, found.reason) == (kind, INDEX[reason])


@pytest.mark.parametrize("share, kind", [(0.8, "bound"), (0.6, "high"), (0.59, "idle")])
def test_idle_multiprocessors(share, kind):
    """A pipe that is full on one SM of many does not limit."""
    assert limit(of_share(share), waits(math_pipe_throttle=9), 0.59).kind == kind
    assert limit(of_share(0.1), waits(math_pipe_throttle=9), None).kind == "pipe"


def test_roofline():
    """51,200 operations and 50,000 bytes in 1000 cycles. The ridges: 128 / 100 and 512 / 100 operations a byte."""
    of_f32, of_tensor = roofline(throughput([launch(operations={"f32": 40_000, "tensor_f16": 400_000})], CHIP))
    assert (of_f32.use.resource.name, of_tensor.use.resource.name) == ("f32", "tensor_f16")
    assert of_f32[1:] == pytest.approx((50_000, 0.8, 1.28, 80.0))  # below the ridge: 0.8 operations of 100 GB/s
    assert of_tensor[1:] == pytest.approx((50_000, 8.0, 5.12, 512.0))  # beyond it: the pipe's rate
    without_dram = launch(dram_read_nbytes=0, dram_write_nbytes=0, operations={"f32": 40_000})
    assert roofline(throughput([without_dram], CHIP)) == ()


# The pages, from a database with two launches of 5000 cycles, one SM for 1000 MHz, and 1,000 operations of f32 in each.

SUMMARY = """\
# throughput DRAM     26.2 of  100 GB/s      26.2%
# throughput L2        111 of 64.0 GB/s     174.1%
# throughput L1        118 of  128 GB/s      92.2%
# throughput issue    4.02 of 4.00 IPC      100.5%
# throughput FMA f32  6.55 of  128 GFLOP/s    5.1%
# limits     L2 bandwidth, 174.1% of the peak
"""


def report_of(tmp_path, change="", **bend):
    words = {name: value for name, value in NUMBERS.items() if name != "tensor"}
    path = make_database(tmp_path / f"{len(list(tmp_path.iterdir()))}.gpudb", chip_words=words, **bend)
    with sqlite3.connect(path) as db:
        # IADD R30: 512 warps of 32 threads, two operations each
        db.execute("UPDATE instructions SET precision = 'f32', thread_operations = 2 WHERE text = 'IADD R30, R6, 8'")
        db.executescript(change)
        return read_report(db)


def block(report) -> str:
    lines = lines_of(report, PIPE, "summary")
    return "".join(f"{line}\n" for line in lines if line.startswith(("# throughput", "# limits")))


def test_the_summary_in_a_pipe(tmp_path):
    """Of each launch: 131,072 bytes of DRAM, 17,408 sectors of the L2, 18,432 of the L1, 20,096 slots, 32,768
    operations, in 5000 cycles. Numbers made by hand need not keep below a peak."""
    assert block(report_of(tmp_path)) == SUMMARY


def test_the_summary_on_a_terminal(tmp_path):
    lines = lines_of(report_of(tmp_path), Look(80, "", True, False), "summary")
    start = next(index for index, line in enumerate(lines) if "throughput" in line)
    assert lines[start : start + 6] == [
        "  throughput DRAM     26.2 of  100 GB/s      26.2%",
        "             L2        111 of 64.0 GB/s     174.1%",
        "             L1        118 of  128 GB/s      92.2%",
        "             issue    4.02 of 4.00 IPC      100.5%",
        "             FMA f32  6.55 of  128 GFLOP/s    5.1%",
        "  limits     L2 bandwidth, 174.1% of the peak",
    ]


def test_the_summary_of_a_narrow_page_breaks_no_rate(tmp_path):
    lines = lines_of(report_of(tmp_path), Look(44, "", True, True), "summary")
    start = next(index for index, line in enumerate(lines) if "throughput" in line)
    assert lines[start : start + 7] == [
        "# throughput DRAM 26.2%, 26.2 of 100 GB/s",
        "# throughput L2 174.1%, 111 of 64.0 GB/s",
        "# throughput L1 92.2%, 118 of 128 GB/s",
        "# throughput issue 100.5%, 4.02 of 4.00 IPC",
        "# throughput FMA f32 5.1%",
        "#            6.55 of 128 GFLOP/s",
        "# limits     L2 bandwidth, 174.1% of the",
    ]


SLOW = "UPDATE launches SET start_cycle = 100000 * launch, end_cycle = 100000 * launch + {0}, cycles = {0};"


def test_the_limits_in_words(tmp_path):
    """Ten times as many cycles: the L2 is at 17.4 %; the kernel's own reasons are those of the database."""
    (line,) = block(report_of(tmp_path, SLOW.format(50_000))).splitlines()[-1:]
    assert line == "# limits     idle: SMs active 16.0% of the time, 41.5% of the waiting is long_scoreboard"
    active = "UPDATE launch_metrics SET value = 30000 WHERE metric = 'sm_active_cycles';"
    (line,) = block(report_of(tmp_path, SLOW.format(50_000) + active)).splitlines()[-1:]
    assert line == "# limits     latency: 41.5% of the waiting is long_scoreboard, SMs active 60.0% of the time"
    throttled = active + f"UPDATE ledger SET cycles = 2 * cycles WHERE reason = {INDEX['lg_throttle']};"
    (line,) = block(report_of(tmp_path, SLOW.format(50_000) + throttled)).splitlines()[-1:]
    assert line == "# limits     a full unit: 58.7% of the waiting is lg_throttle, SMs active 60.0% of the time"
    (line,) = block(report_of(tmp_path, SLOW.format(13_000))).splitlines()[-1:]
    assert line == (
        "# limits     L2 bandwidth, 67.0% of the peak: high, and not full, 41.5% of the waiting is long_scoreboard, "
        "SMs active 61.5% of the time"
    )


def test_what_the_time_is(tmp_path):
    at_once = report_of(tmp_path, "UPDATE launches SET start_cycle = 1000, end_cycle = 6000")
    assert block(at_once).splitlines()[-1] == (
        "# limits     L2 bandwidth, 348.2% of the peak, time in which several launches ran counts once"
    )
    cut_off = report_of(tmp_path, "UPDATE launches SET complete = 0, end_cycle = 0, cycles = 0 WHERE launch = 1")
    assert block(cut_off) == SUMMARY.replace("of the peak", "of the peak, without 1 launch that did not finish")
    beside = report_of(
        tmp_path,
        "INSERT INTO functions SELECT 1, module, 'other', 'other', 1, 8192, 0, registers, 0, 0, 0 FROM functions;"
        "UPDATE launches SET function = 1, kernel = 'other', start_cycle = 2000, end_cycle = 7000 WHERE launch = 1;",
    )
    assert block(beside).count("other kernels ran at the same time, and are not in these rates") == 2


def test_a_chip_that_is_not_known_has_no_rates(tmp_path):
    report = report_of(tmp_path, "UPDATE meta SET value = 'null' WHERE key = 'chip_json'")
    assert block(report) == ""
    assert json.loads(json_page(report, Request("summary")))["kernels"][0]["limits"] is None


def test_rows_of_the_summary(tmp_path):
    rows = list(csv.reader(io.StringIO(csv_page(report_of(tmp_path), Request("summary")))))
    found = {name: value for _, name, value in rows if name.startswith(("throughput", "limits", "operations"))}
    assert found == {
        "throughput.dram.gbytes_per_s": "26.2144",
        "throughput.dram.peak_gbytes_per_s": "100.0",
        "throughput.dram.share": "0.262144",
        "throughput.l2.gbytes_per_s": "111.4112",
        "throughput.l2.peak_gbytes_per_s": "64.0",
        "throughput.l2.share": "1.7408",
        "throughput.l1.gbytes_per_s": "117.9648",
        "throughput.l1.peak_gbytes_per_s": "128.0",
        "throughput.l1.share": "0.9216",
        "throughput.issue.ipc": "4.0192",
        "throughput.issue.peak_ipc": "4.0",
        "throughput.issue.share": "1.0048",
        "throughput.f32.gflop_per_s": "6.5536",
        "throughput.f32.peak_gflop_per_s": "128.0",
        "throughput.f32.share": "0.0512",
        "limits": "bound",
        "limits.resource": "l2",
        "operations.f32": "65536",
        "operations.int": str(2 * 512 * 32 * (2 * 12 + 15)),  # 12 multiply-adds, 15 further additions
    }


def test_objects(tmp_path):
    document = json.loads(json_page(report_of(tmp_path), Request("summary")))
    assert document["chip"]["peaks"] == {
        "dram": 100.0, "l2": 64.0, "l1": 128.0, "shared": 128.0, "issue": 4.0, "f32": 128.0, "f16": 256.0,
        "tensor_pipe": 4.0, "atomics": 1.0,
    }  # fmt: skip
    (kernel,) = document["kernels"]
    assert kernel["limits"] == {"kind": "bound", "resource": "l2", "share": 1.7408, "stall_reason": "long_scoreboard"}
    both, one = kernel["throughput"], kernel["launches"][0]["throughput"]
    assert (both["cycles"], both["launches"], both["launches_left_out"]) == (10_000, 2, 0)
    assert both["resources"][0] == {
        "name": "dram", "unit": "GB/s", "work": 262_144, "achieved": 26.2144, "peak": 100.0, "share": 0.262144,
    }  # fmt: skip
    assert one["resources"][0] == both["resources"][0] | {"work": 131_072}
    assert both["operations"] == {"f32": 65_536, "int": 2 * one["operations"]["int"]}
    assert both["roofline"] == [
        {
            "precision": "f32",
            "operations": 65_536,
            "dram_nbytes": 262_144,
            "operations_per_byte": 0.25,
            "ridge_operations_per_byte": 1.28,
            "achieved_gflop_per_s": 6.5536,
            "attainable_gflop_per_s": 25.0,
        }
    ]


def test_the_launches_page(tmp_path):
    heading, first, second = lines_of(report_of(tmp_path), PIPE, "launches")[-3:]
    at = heading.index("of_peak")
    assert first[at:].split()[0] == second[at:].split()[0] == "L2:174.1%"
    rows = list(csv.reader(io.StringIO(csv_page(report_of(tmp_path), Request("launches")))))
    row = dict(zip(rows[0], rows[1], strict=True))
    assert (row["throughput.l2.share"], row["operations.f32"]) == ("1.7408", "32768")


def test_a_full_pipe_is_not_said_to_wait(tmp_path):
    """An FMA pipe of half a warp's width is full when half of the issue slots are used."""
    finding = "in the others no warp is ready"
    change = SLOW.format(5000) + "UPDATE launch_metrics SET value = 2000 WHERE metric = 'issue_slots';"
    assert finding in "\n".join(lines_of(report_of(tmp_path, change), PIPE, "summary"))
    change += "UPDATE instructions SET thread_operations = 30 WHERE precision = 'f32';"
    assert finding not in "\n".join(lines_of(report_of(tmp_path, change), PIPE, "summary"))
