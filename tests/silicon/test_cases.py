"""The cases are what they say: published, runnable, and their kernels compute what their names promise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gpuprof.device.launching.launch_text import kernel_names, parse_launch
from tests.silicon.cards import FOLDER as CARDS, card, part_of
from tests.silicon.case import FAMILIES
from tests.silicon.cases import SETS, all_cases, cases_of
from tests.silicon.cases.fau import ladder_runs
from tests.silicon.published import RATES, SECONDS, TRUST, by_id, published_cycles
from tests.silicon.run import KERNELS, image, modelled
from tests.silicon.whole import pairs
from tests.support.running import run_file

CASES = [case for cases in all_cases().values() for case in cases]


def test_every_case_is_published_and_none_is_run_twice():
    ids = [case.id for case in CASES]
    assert set(ids) <= set(by_id())
    assert len(ids) == len(set(ids))


def test_every_family_and_card_is_known():
    cards = {path.stem for path in CARDS.glob("*.toml")}
    assert {case.family for case in CASES} <= set(FAMILIES)
    assert {case.card for case in CASES} <= cards


def test_there_are_enough():
    """Two hundred rows, ten families, seven models of cards."""
    assert len(CASES) >= 200
    assert len({case.family for case in CASES}) >= 10
    assert len({case.card for case in CASES}) >= 7


def test_every_published_row_can_be_read():
    rows = by_id().values()
    assert {row.trust for row in rows} <= set(TRUST)
    assert {row.unit for row in rows} <= {"cycles", *RATES, *SECONDS}
    assert all(500 <= row.clock_mhz <= 3000 and row.value > 0 for row in rows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_can_be_launched(case):
    """Its launches parse, its file is there, its part of the chip exists, its published cycles make sense."""
    chip = card(case.card, by_id()[case.id].clock_mhz, case.parts)
    assert (KERNELS / case.file).is_file()
    assert chip.sms >= 1
    assert published_cycles(case) > 1000
    assert len(case.runs) in (1, 2)
    for run in case.runs:
        assert all(parse_launch(text) for text in run.launches)
        assert len(run.launches) > 1 or not case.period
    if len(case.runs) == 2:
        few, many = case.runs
        assert 0 < few.size < min(many.size, case.whole_size)


def test_a_rate_becomes_cycles():
    """2 * 4096^3 FLOP at 292.1 GFLOP/s take 0.47052 s, 663.4 million cycles of 1410 MHz."""
    (naive,) = [case for case in CASES if case.id == "sib-a100-k1"]
    assert published_cycles(naive) == pytest.approx(2 * 4096**3 / 292.1e9 * 1410e6)
    assert round(published_cycles(naive) / 1e5) == 6634


def test_a_part_has_its_share():
    """A twelfth of an A100: 9 of 108 SMs, 7 of 80 slices, each 80 / 84 as fast, 3 of 40 channels, and a block each 12
    cycles for a block each cycle; 100 is the most that a chip may have.
    """
    whole, part = card("a100-80", 1410), card("a100-80", 1410, 12)
    assert (whole.sms, whole.l2_slices, whole.dram_channels) == (108, 80, 40)
    assert (part.sms, part.l2_slices, part.dram_channels) == (9, 7, 3)
    assert part.l2_slices * part.l2_slice_nbytes_per_cycle == pytest.approx(80 * 48 / 12)
    assert part.dram_gbytes_per_s == pytest.approx(1776 / 12)
    assert (whole.distributor_cycles, part.distributor_cycles) == (1, 12)
    assert part_of(whole, 108).distributor_cycles == 100
    assert card("rtx3090", 1695, Fraction(41, 4)).sms == 8
    with pytest.raises(ValueError, match="108 SMs do not make 5 equal parts"):
        part_of(whole, 5)


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_the_kernels_of_a_set_compile(name):
    for case in cases_of(name):
        requests = [parse_launch(text) for run in case.runs for text in run.launches]
        assert image(KERNELS / case.file, tuple(kernel_names(requests)), card(case.card, 1500.0).arch, "clang")


PRODUCTS = [
    ("products.cu", "naive", "(2, 2), (32, 32)", 64, False),
    ("products.cu", "coalesced<32>", "(2, 2), 1024", 64, False),
    ("products.cu", "tiled<32>", "(2, 2), 1024", 64, False),
    ("products.cu", "column_a_thread<64,64,8,8>", "1, 512", 64, False),
    ("products.cu", "square_a_thread<64,64,8,8,8>", "1, 64", 64, False),
    ("products.cu", "wide_loads<128,128,8,8,8>", "1, 256", 128, False),
    ("products.cu", "by_element<128,128,8,8,8>", "1, 256", 128, False),
    ("products.cu", "padded<128,128,8,8,8>", "1, 256", 128, False),
    ("products.cu", "autotuned<128,128,16,8,8>", "1, 256", 128, False),
    ("products.cu", "warp_tiles<128,128,16,64,64,4,8,4,128>", "1, 128", 128, False),
    ("products64.cu", "naive", "(2, 2), (32, 32)", 64, True),
    ("products64.cu", "coalesced", "(2, 2), (32, 32)", 64, True),
    ("products64.cu", "tiled<16,false>", "(4, 4), (16, 16)", 64, True),
    ("products64.cu", "tiled<16,true>", "(4, 4), (16, 16)", 64, True),
    ("products64.cu", "column_a_thread<64,64,8,8>", "1, 512", 64, True),
    ("products64.cu", "square_a_thread<64,64,16,8,8,false,false>", "1, 64", 64, True),
    ("products64.cu", "square_a_thread<64,64,16,8,8,false,true>", "1, 64", 64, True),
    ("products64.cu", "square_a_thread<64,64,16,8,8,true,false>", "1, 64", 64, True),
    ("products64.cu", "square_a_thread<64,64,16,8,8,true,true>", "1, 64", 64, True),
    ("products64.cu", "warp_tiles<128,128,16,32,64,8,8>", "1, 256", 128, True),
    ("products_buffered.cu", "coalesced", "(2, 2), (32, 32)", 64, False),
    ("products_buffered.cu", "tiled<32>", "(2, 2), 1024", 64, False),
    ("products_buffered.cu", "column_a_thread<64,64,8,8>", "1, 512", 64, False),
    ("products_buffered.cu", "square_a_thread<64,64,8,8,8,false>", "1, 64", 64, False),
    ("products_buffered.cu", "square_a_thread<64,64,8,8,8,true>", "1, 64", 64, False),
    ("products_buffered.cu", "wide_loads<128,128,8,8,8>", "1, 256", 128, False),
    ("products_buffered.cu", "two_buffers<128,128,8,8,8>", "1, 256", 128, False),
]


@pytest.mark.long
@pytest.mark.parametrize(("file", "kernel", "shape", "n", "pitches"), PRODUCTS, ids=lambda value: str(value))
def test_a_product_is_a_product(file, kernel, shape, n, pitches, tmp_path):
    """C = 0.5 A B + 3 C, in numpy."""
    generator = np.random.default_rng(1)
    a, b, c = (generator.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(3))
    for name, matrix in zip("abc", (a, b, c), strict=True):
        np.save(tmp_path / f"{name}.npy", matrix)
    pitch = f", {n}" if pitches else ""
    of_a, of_b, of_c = (f"{name}: f32[{n}, {n}]={tmp_path / name}.npy{pitch}" for name in "abc")
    arrays, _ = run_file(
        KERNELS / file, f"{kernel}<<<{shape}>>>({n}, {n}, {n}, 0.5, {of_a}, {of_b}, 3.0, {of_c})", chip_name="a100"
    )
    np.testing.assert_array_equal(arrays["c"].copy_to_host().reshape(n, n), 0.5 * (a @ b) + 3 * c)


@pytest.mark.long
@pytest.mark.parametrize(("scaled", "whole"), pairs(), ids=lambda case: f"{case.id}-{case.parts}")
def test_a_part_of_the_chip_takes_the_cycles_of_the_whole(scaled, whole):
    assert modelled(scaled, "clang").cycles == pytest.approx(modelled(whole, "clang").cycles, rel=0.1)


def test_a_line_through_two_codes_is_refused():
    """Of 256 and of 512 multiply-adds clang makes no loop: the longer code has 256 instructions more."""
    (case,) = [case for case in cases_of("fau") if case.id == "fau-a40-fma-float-64"]
    launch = "dependent<float, {trips}><<<1, 256>>>(f32[64]=random, 64)"
    with pytest.raises(ValueError) as refused:
        modelled(replace(case, runs=ladder_runs(launch, 256)), "clang")
    assert str(refused.value) == (
        "fau-a40-fma-float-64: dependent<float, 256> and dependent<float, 512> have different instructions; take "
        "sizes whose code is the same"
    )
