"""Calibration of one recording by recordings of the same launches on other chips."""

from dataclasses import replace

import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.correlate.database import reading
from gpuprof.predict.calibrate import calibrated
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.mapping import IDENTITIES
from gpuprof.predict.prediction import predicted
from gpuprof.predict.recorded import read_recorded
from tests.support.command import gpuprof

SOURCE = """\
// LAUNCH: add<<<64, 256>>>(a: f32[16384])
__global__ void add(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrate")
    (folder / "k.cu").write_text(SOURCE)
    assert gpuprof(folder, "collect", "k.cu", "-o", "k.gprec")[0] == 0
    with reading(folder / "k.gprec") as db:
        return read_recorded(db)


def on(recorded, sms: int, factor: float):
    """A recording on a chip of so many SMs, on which the launch takes `factor` times as long as predicted."""
    chip = replace(altered(load_chip("a100"), {"sms": sms}, "test"), name=f"a100 of {sms}")
    us = float(predicted(recorded, numbers_of([chip]), with_units=False).test.microseconds[0])
    [launch] = recorded.launches
    end = launch.start_cycle - chip.launch_cycles + factor * us * chip.clock_mhz
    return replace(recorded, reference=chip, launches=(replace(launch, end_cycle=end),))


def test_what_all_chips_take_longer_is_fitted(recorded):
    """1.25 times as long on each: of the four errors, the identity's alone is a fifth; without the only test nothing is
    left to fit.
    """
    others = [on(recorded, sms, 1.25) for sms in (8, 16, 32, 64)]
    found = calibrated({"k": (recorded, others)})
    assert found.mappings.test == pytest.approx((1.25, 1.0))
    errors = {(level, mapping): (pairs, round(error, 9)) for level, mapping, pairs, error in found.table()}
    for level in ("command buffer", "test"):
        assert errors[level, "identity"] == errors[level, "leave one test out"] == (4, 0.2)
        assert errors[level, "fitted"] == errors[level, "leave one chip out"] == (4, 0.0)


def test_too_few_chips_fit_nothing(recorded):
    others = [on(recorded, sms, 1.25) for sms in (8, 16)]
    assert calibrated({"k": (recorded, others)}).mappings == IDENTITIES
