"""Points of a design space as columns, against a chip for each."""

import itertools

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.chips.changes import chip_with
from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.predict.bottleneck import UNITS, with_twice
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.output.prediction_screen import rows_of
from gpuprof.predict.output.prediction_tables import csv_text
from gpuprof.predict.prediction import joined_predictions, predicted
from gpuprof.predict.recorded import read_recorded
from gpuprof.predict.space.design_points import points_of
from gpuprof.sweep.sweep_parameters import parse_parameter
from tests.support.command import gpuprof

SOURCE = """\
// LAUNCH: copy<<<64, 256>>>(a: f32[16384]=random, b: f32[16384])
// LAUNCH: copy<<<64, 256>>>(a, b)
// LAUNCH: copy<<<64, 256>>>(a, b)
// LAUNCH: copy<<<64, 256>>>(a, b)
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


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Four launches of one kernel, each of which begins `launch_cycles` after the one before."""
    folder = tmp_path_factory.mktemp("points")
    (folder / "k.cu").write_text(SOURCE)
    assert gpuprof(folder, "collect", "k.cu", "-o", "k.gprec")[0] == 0
    with reading(folder / "k.gprec") as db:
        return read_recorded(db)


def test_parts_of_a_space_are_joined(recorded):
    """As a cluster predicts them: the same numbers, units and refusals as in one piece."""
    points = points_of([load_chip("a100"), load_chip("h200")], parameters("max_threads_per_block=64,128,1024"))
    whole = predicted(recorded, points)
    parts = joined_predictions([predicted(recorded, points.part(first, first + 4)) for first in (0, 4)])
    assert [len(each.refused) for each in parts.launches] == [4] * 4
    for level in ("launch", "buffer", "test"):
        assert csv_text(parts, rows_of(parts, level), None) == csv_text(whole, rows_of(whole, level), None)


def test_a_bottleneck_is_the_unit_whose_doubled_rate_saves_most(recorded):
    """At each level, over a space: the unit is that of the chip with the least time among those with one doubled."""
    space = ("grid_overhead_cycles=100:1900:300", "launch_cycles=2000,4000", "dram_cycles=500:2500:500")
    points = points_of([load_chip("a100")], parameters(*space))
    found = predicted(recorded, points)
    twice = [predicted(recorded, with_twice(points, name), with_units=False) for name in UNITS]
    times = {
        "test": (found.test, [each.test.microseconds for each in twice]),
        "buffer": (found.buffers[0], [each.buffers[0].microseconds for each in twice]),
        "launch": (found.launches[-1], [each.launches[-1].cycles for each in twice]),
    }
    for level, (named, of_units) in times.items():
        assert list(named.units) == [list(UNITS)[place] for place in np.argmin(of_units, 0).tolist()], level
    assert found.launches[-1].units != found.test.units  # what a launch takes to begin is the test's alone
