"""`--sample-blocks`: extrapolated cycles against those of the full run, on the ladder of samples; what is exact stays exact; the report says it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.emulate.counters import COUNTER_NAMES
from gpuprof.records.schema import CAUSES_DTYPE
from gpuprof.timing.extrapolate import LEAST_BATCHES, Extrapolation, Settling, extrapolated
from tests.command import gpuprof as command
from tests.running import SAMPLES, run_file

# A chip of which these launches are many waves, as larger ones are of a whole one: 8 blocks of 256 threads run on each SM.
CHIP = 'inherits = "a100"\nsms = 2\n'
MATMUL = "{}<<<({}, {}), ({})>>>(a: f32[320,320]=random, b: f32[320,320]=random, c: f32[320,320], 320)"
TRANSPOSE = "{}<<<(32, 32), (32, 8)>>>(out: f32[1024,1024], in: f32[1024,1024]=random, 1024)"
LADDER = {
    "saxpy": ("saxpy.cu", "saxpy<<<4096, 256>>>(1048576, 2.0, f32[1048576]=random, f32[1048576])", 0.12),
    "naive transpose": ("transpose.cu", TRANSPOSE.format("naive"), 0.3),
    "coalesced transpose": ("transpose.cu", TRANSPOSE.format("coalesced"), 0.3),
    "padded transpose": ("transpose.cu", TRANSPOSE.format("padded"), 0.3),
    "naive matmul": ("matmul.cu", MATMUL.format("naive", 20, 20, "16, 16"), 0.4),
    "tiled matmul": ("matmul.cu", MATMUL.format("tiled", 20, 20, "16, 16"), 0.4),
}


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = tmp_path_factory.mktemp("chips") / "small.toml"
    path.write_text(CHIP)
    return load_chip(path)


@pytest.mark.parametrize("name", LADDER)
def test_cycles_of_the_ladder(chip, name):
    source, launch, share = LADDER[name]
    _, results = run_file(SAMPLES / source, launch, chip=chip)
    sampled_arrays, sampled = run_file(SAMPLES / source, launch, chip=chip, sample_blocks=True)
    full, part = results.launches[0], sampled.launches[0]
    assert part.timing.extrapolation.simulated <= share * part.timing.extrapolation.blocks
    assert abs(part.timing.cycles / full.timing.cycles - 1) <= part.timing.extrapolation.error <= 0.03
    # What the emulator knows is not extrapolated.
    if name.endswith("transpose"):
        np.testing.assert_array_equal(sampled_arrays["out"].copy_to_host(), sampled_arrays["in"].copy_to_host().T)
    for counter in COUNTER_NAMES:
        np.testing.assert_array_equal(getattr(full.counters, counter), getattr(part.counters, counter))
    for exact in ("issue_slots", "blocks_launched", "warps_launched"):
        assert getattr(part.timing, exact) == getattr(full.timing, exact)
    assert int(part.timing.ledger.sum()) == part.timing.resident_warp_cycles
    # How many warps are resident at a time is not settled when the rate is: the ledger's sum is rougher than the cycles.
    assert abs(part.timing.resident_warp_cycles / full.timing.resident_warp_cycles - 1) < 0.3


def test_a_launch_of_few_waves_is_timed_whole(chip):
    """Four waves of 16 blocks: two stretches of two batches have to agree after the first."""
    assert LEAST_BATCHES == 2
    launch = "saxpy<<<64, 256>>>(16384, 2.0, f32[16384]=random, f32[16384])"
    full, part = (run_file(SAMPLES / "saxpy.cu", launch, chip=chip, sample_blocks=flag)[1].launches[0].timing for flag in (False, True))
    assert part.extrapolation is None
    assert part.cycles == full.cycles


def test_the_l2_is_full_before_a_rate_counts(chip):
    """40 MB are 1,310,720 sectors. After half of 1,000 blocks: so many have missed; one fewer, and the rest will fill it; a third, and nothing will."""
    grid = SimpleNamespace(
        n_blocks=1000, fit=SimpleNamespace(blocks_per_sm=8), grid=SimpleNamespace(launch=SimpleNamespace(blocks_of_cluster=1))
    )
    settling = Settling(grid, chip)
    sectors = chip.l2_nbytes // 32
    assert (sectors, settling.batch) == (1_310_720, 16)
    assert [settling.is_warm(misses, 500) for misses in (sectors, sectors - 1, sectors // 3)] == [True, False, True]


def test_extrapolation_counted_by_hand(chip):
    """100 of 300 slots were seen, the settled rate is 4 slots a cycle: 50 cycles more, and three times the ledger."""
    launch = "saxpy<<<1, 256>>>(256, 2.0, f32[256]=random, f32[256])"
    timing = run_file(SAMPLES / "saxpy.cu", launch, chip=chip)[1].launches[0].timing
    ledger = np.zeros((2, 3), np.uint64)
    ledger[1] = 10, 0, 7
    causes = np.zeros(3, CAUSES_DTYPE)  # of (1, reason 2): 7 cycles of three causes
    causes["pc"], causes["reason"], causes["kind"], causes["cycles"], causes["stalls"] = 0x510, 2, (1, 2, 3), (3, 3, 1), (2, 3, 1)
    seen = replace(
        timing, start_cycle=1000, end_cycle=1060, cycles=60, issue_slots=100, ledger=ledger, resident_warp_cycles=17, causes=causes,
        warps_launched=16, blocks_launched=2, l1_sectors=11, active_cycles_of_sm=np.array([60, 0], np.uint64),
        extrapolation=Extrapolation(2, 6, 4.0, 0.01),
    )  # fmt: skip
    whole = extrapolated(seen, 300, 0x500)
    assert (whole.start_cycle, whole.end_cycle, whole.cycles) == (1000, 1110, 110)
    assert whole.ledger.tolist() == [[0, 0, 0], [30, 0, 21]]
    assert whole.causes[["kind", "cycles", "stalls"]].tolist() == [(1, 9, 6), (2, 9, 9), (3, 3, 3)]
    assert (whole.resident_warp_cycles, whole.issue_slots, whole.l1_sectors) == (51, 300, 33)
    assert (whole.warps_launched, whole.blocks_launched) == (48, 6)
    assert whole.active_cycles_of_sm.tolist() == [110, 0]
    # The stretches differ by 1 %, less than what passes as settled, 1.5 %: twice that, of 50 cycles in 110.
    assert whole.extrapolation.error == pytest.approx(2 * 0.015 * 50 / 110)
    assert str(whole.extrapolation) == "timed 2 of 6 blocks, cycles within 1.4 %"


def test_the_report_says_what_was_timed(tmp_path):
    (tmp_path / "small.toml").write_text(CHIP)
    launch = "saxpy<<<1024, 256>>>(262144, 2.0, f32[262144]=random, f32[262144])"
    for flag, noted in ((["--sample-blocks"], True), ([], False)):
        code, said, error = command(
            tmp_path, "collect", str(SAMPLES / "saxpy.cu"), "--launch", launch, "--chip", "small.toml", *flag, "-o", "it.gprec"
        )
        assert code == 0, error
        assert ("of 1,024 blocks, cycles within" in said) == noted
        code, page, error = command(tmp_path, "report", "it.gprec")
        assert code == 0, error
        assert ("of 1,024 blocks and extrapolated the rest" in " ".join(page.split())) == noted
        assert "NOT COMPLETE" not in page


def test_collect_says_when_all_was_timed(tmp_path):
    launch = "saxpy<<<4, 256>>>(1000, 2.0, f32[1000]=random, f32[1000])"
    code, _, error = command(tmp_path, "collect", str(SAMPLES / "saxpy.cu"), "--launch", launch, "--sample-blocks")
    assert (code, error) == (0, "gpuprof: saxpy: --sample-blocks timed all 4 blocks: too few to leave some out, or no steady rate\n")
