"""The rate at which `--explain` says that another unit limits a launch, held against simulations beside it."""

from dataclasses import replace

import pytest

from gpuprof.chips import Chip, altered
from gpuprof.correlate.database import reading
from gpuprof.predict.bottleneck import UNITS
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.recorded import read_recorded
from gpuprof.predict.space.explain_space import explained
from tests.prediction.chips import chip_named
from tests.prediction.judge import collected
from tests.prediction.simulate import CARRIED_OUT
from tests.prediction.truth import timed, traced
from tests.prediction.units import doubled, value_of, within

BESIDE = 1.5  # times below and above the rate that is named: the rates that are simulated


def with_rate(chip: Chip, unit: str, factor: float) -> Chip:
    changes = {name: within(name, value_of(chip, name) * factor) for name in UNITS[unit].rates}
    changes |= {name: within(name, value_of(chip, name) / factor) for name in UNITS[unit].times}
    return replace(altered(chip, changes, unit), name=f"{chip.name}, {unit} by {factor:.2f}")


@pytest.mark.long
@pytest.mark.parametrize(
    "name, on, unit",
    [("saxpy-long", "rtx4090", "dram"), ("bins-global", "a100", "atomic"), ("transpose-naive", "a100", "slice")],
)
def test_another_unit_limits_from_the_rate_that_is_named(tmp_path, name, on, unit):
    chip = chip_named(on)
    with reading(collected(tmp_path / "r.gprec", name)) as db:
        row = list(explained(read_recorded(db), numbers_of([chip])))[-1]
    assert row.unit == unit and row.then
    batches = traced(CARRIED_OUT[name], chip)
    best = []
    for factor in (row.until / BESIDE, row.until * BESIDE):
        scaled = with_rate(chip, row.unit, factor)
        cycles = {each: timed(batches, doubled(scaled, each))[0][-1].cycles for each in (row.unit, row.then)}
        best.append(min(cycles, key=cycles.get))
    assert best == [row.unit, row.then]
