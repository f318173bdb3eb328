"""Points of a design space as columns, against a chip for each."""

import itertools

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.chips.changes import chip_with
from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.predict.numbers import numbers_of
from gpuprof.predict.prediction import joined_predictions, predicted
from gpuprof.predict.recorded import read_recorded
from gpuprof.predict.shown.screen import rows_of
from gpuprof.predict.shown.tables import csv_text
from gpuprof.predict.space.points import points_of
from gpuprof.sweep.parameters import parse_parameter
from tests.support.command import gpuprof

SOURCE = """\
// LAUNCH: copy<<<64, 256>>>(a: f32[16384]=random, b: f32[16384])
__global__ void copy(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
}
"""


def parameters(*texts):
    return [parse_parameter("chip", text, "--param") for text in texts]


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("sms=54,108",),
        ("sms=54:60:3", "l2_mb=20,40", "latency.shared=20,30"),
        ("clock_mhz=1000,1410,2000", "dram_gbytes_per_s=900:1800:450"),
        ("dram_cycles=600,700", "clock_mhz=1000,2000"),
    ],
)
def test_each_point_is_the_chip_that_has_its_numbers(texts):
    chips, swept = [load_chip("a100"), load_chip("t4")], parameters(*texts)
    found = points_of(chips, swept)
    values = list(itertools.product(*(parameter.values for parameter in swept)))
    names = [parameter.name for parameter in swept]
    expected = numbers_of([chip_with(chip, dict(zip(names, row, strict=True))) for chip in chips for row in values])
    assert found.archs == expected.archs
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(found[name], column, name)


def test_names_say_the_values():
    assert points_of([load_chip("a100")], parameters("sms=54,108", "l2_mb=40")).names == (
        "a100 (sms=54, l2_mb=40)",
        "a100 (sms=108, l2_mb=40)",
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("sms=0,10", "sms is 0"),
        ("wheels=4", "unknown key 'wheels'"),
        ("sms=8:4:1", "expected FIRST:LAST:STEP, ascending"),
        ("sms=4:8:0", "expected FIRST:LAST:STEP, ascending"),
        ("sms=1:1000000:1", "at most 100,000"),
    ],
)
def test_what_no_chip_can_have_is_refused(text, message):
    with pytest.raises(UsageError) as caught:
        points_of([load_chip("a100")], parameters(text))
    assert message in str(caught.value)


def test_more_points_than_memory_holds_are_refused():
    with pytest.raises(UsageError, match=r"3,001,000 points; at most 2,000,000"):
        points_of([load_chip("a100")], parameters("sms=1:1000:1", "clock_mhz=1000:4000:1"))


def test_ranges_have_their_last_value():
    [ints], [floats] = (parameters(text) for text in ("sms=80:140:20", "lsu_cycles=1:2:0.25"))
    assert ints.values == (80, 100, 120, 140)
    assert floats.values == (1, 1.25, 1.5, 1.75, 2)


def test_as_many_values_as_are_allowed_are_read_at_once():
    """Comparing each with all others would take minutes."""
    [parameter] = parameters("clock_mhz=1:100000:1")
    assert len(parameter.values) == 100_000


def test_parts_of_a_space_are_joined(tmp_path):
    """As a cluster predicts them: the same numbers, units and refusals as in one piece."""
    (tmp_path / "k.cu").write_text(SOURCE)
    assert gpuprof(tmp_path, "collect", "k.cu", "-o", "k.gprec")[0] == 0
    with reading(tmp_path / "k.gprec") as db:
        recorded = read_recorded(db)
    points = points_of([load_chip("a100"), load_chip("h200")], parameters("max_threads_per_block=64,128,1024"))
    whole = predicted(recorded, points)
    parts = joined_predictions([predicted(recorded, points.part(first, first + 4)) for first in (0, 4)])
    assert csv_text(parts, rows_of(parts, "launch"), None) == csv_text(whole, rows_of(whole, "launch"), None)
    assert [len(each.refused) for each in parts.launches] == [4]
    assert csv_text(parts, rows_of(parts, "test"), None) == csv_text(whole, rows_of(whole, "test"), None)
    assert csv_text(parts, rows_of(parts, "buffer"), None) == csv_text(whole, rows_of(whole, "buffer"), None)
