"""The kernels of cases/device_wide.py compute what numpy computes, for arrays of any length."""

import numpy as np
import pytest

from gpuprof.chips import load_chip
from tests.silicon.cards import FOLDER as CARDS
from tests.silicon.cases.device_wide import (
    EVENTS_US,
    SCANS,
    SHORTEST,
    SHORTEST_US,
    scan,
    sort,
    sum_by_atomics,
    sum_of_bytes,
)
from tests.silicon.run import KERNELS
from tests.support.running import run_file

LENGTHS = [1, 100, 4096, 9728, 30001]


def given(folder, n: int, dtype) -> np.ndarray:
    low, high = (-1000, 1000) if dtype == np.int32 else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    numbers = np.random.default_rng(n).integers(low, high, n).astype(dtype)
    np.save(folder / "given.npy", numbers)
    return numbers


def array(folder, file: str, launches: tuple[str, ...], name: str, chip: str) -> np.ndarray:
    arrays, _ = run_file(KERNELS / file, *launches, chip_name=chip)
    return arrays[name].copy_to_host()


@pytest.mark.parametrize("n", LENGTHS)
def test_a_sum_by_atomics(n, tmp_path):
    numbers = given(tmp_path, n, np.int32)
    found = array(tmp_path, "device_sums.cu", sum_by_atomics(n, 1, f"{tmp_path}/given.npy"), "sum", "h200")
    assert found.tolist() == [numbers.sum(), 0, 0, 0]


@pytest.mark.parametrize("n", [*LENGTHS, 400_001])
def test_a_sum_of_bytes(n, tmp_path):
    """On a chip of one SM 40 blocks take 49 tiles in turn."""
    numbers = given(tmp_path, n, np.int8)
    found = array(tmp_path, "device_sums.cu", sum_of_bytes(n, 1, f"{tmp_path}/given.npy"), "sum", "b200")
    assert found.tolist() == [numbers.sum().astype(np.int8)]


@pytest.mark.parametrize("card", SCANS)
@pytest.mark.parametrize("n", [*LENGTHS, 320 * 12 * 40 + 1])
def test_a_scan(n, card, tmp_path):
    """The longest has more tiles than a look back sees at a time."""
    numbers = given(tmp_path, n, np.int8)
    chip = {"a100-pcie-80": "a100", "b200": "b200"}[card]
    found = array(tmp_path, "device_scans.cu", scan(n, card, f"{tmp_path}/given.npy"), "to", chip)
    np.testing.assert_array_equal(found, (numbers.cumsum(dtype=np.int64) - numbers).astype(np.int8))


@pytest.mark.parametrize("n", LENGTHS)
def test_a_sort(n, tmp_path):
    numbers = given(tmp_path, n, np.int8)
    np.save(tmp_path / "given.npy", numbers.view(np.uint8))
    found = array(tmp_path, "device_sorts.cu", sort(n, 2, f"{tmp_path}/given.npy"), "to", "b200")
    np.testing.assert_array_equal(found.view(np.int8), np.sort(numbers))


def test_a_sort_of_tiles_of_one_key(tmp_path):
    """Whole tiles of one key are copied."""
    numbers = np.repeat(np.array([5, -7, 5], np.int8), 9728)
    np.save(tmp_path / "given.npy", numbers.view(np.uint8))
    found = array(tmp_path, "device_sorts.cu", sort(len(numbers), 2, f"{tmp_path}/given.npy"), "to", "b200")
    np.testing.assert_array_equal(found.view(np.int8), np.sort(numbers))


@pytest.mark.parametrize(
    ("card", "measured"), [("a100-pcie-80", "a100-pcie-80"), ("h200-nvl", "h200"), ("b200", "b200")]
)
def test_events_add_what_is_left_of_the_shortest_kernel(card, measured):
    """The kernel was measured on an H200 SXM, which has the events of the NVL card here."""
    chip = load_chip(CARDS / f"{measured}.toml")
    _, results = run_file(KERNELS / "device_sums.cu", "clear<<<1, 32>>>(u32[4], 1)", SHORTEST, chip=chip)
    before, shortest = (result.timing.end_cycle for result in results.launches)
    assert EVENTS_US[card] == pytest.approx(SHORTEST_US[measured] - (shortest - before) / chip.clock_mhz, abs=0.2)
