"""`--sample-blocks`: extrapolated cycles against those of the full run, on the ladder of samples; what is exact stays
exact; the report says it.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES
from gpuprof.tables.launch import CAUSES
from gpuprof.timing.extrapolate import (
    COLD_CYCLES,
    FAR_SHIFT,
    LEAST_OFF,
    LEAST_WAVES,
    UNSEEN,
    UNSEEN_WAVES,
    Settling,
    extrapolated,
    fill_l2,
    settled,
    wave_cycles,
)
from gpuprof.timing.state.activity_bins import Activity
from gpuprof.timing.state.extrapolation import Extrapolation, Filling, Rate
from gpuprof.timing.state.layout import L2_LINE, QUANTUM, WRITE_QUEUE
from gpuprof.timing.state.machine_tables import MACHINE
from tests.bench.few_waves import CHIP as EIGHT_SMS, compared
from tests.paths import SAMPLES
from tests.support.command import gpuprof as command
from tests.support.running import run_file

# A chip of which these launches are many waves, as larger ones are of a whole one: 8 blocks of 256 threads run on each
# SM. Two of 108 SMs have one of 40 channels: what 16 blocks have in flight would leave most of 40 idle, by chance.
CHIP = 'inherits = "a100"\nsms = 2\ndram_channels = 1\n'
# 484 blocks of 16 x 16: eight batches of 16, the least that is timed, are 27 % of them.
MATMUL = "{}<<<({}, {}), ({})>>>(a: f32[352,352]=random, b: f32[352,352]=random, c: f32[352,352], 352)"
TRANSPOSE = "{}<<<(32, 32), (32, 8)>>>(out: f32[1024,1024], in: f32[1024,1024]=random, 1024)"
MOST_STATED = UNSEEN / (1 - UNSEEN)  # of a full run that takes so much less than was estimated
LADDER = {
    "saxpy": ("saxpy.cu", "saxpy<<<8192, 256>>>(2097152, 2.0, f32[2097152]=random, f32[2097152])", 0.25),
    "naive transpose": ("transpose.cu", TRANSPOSE.format("naive"), 0.4),
    "coalesced transpose": ("transpose.cu", TRANSPOSE.format("coalesced"), 0.45),
    "padded transpose": ("transpose.cu", TRANSPOSE.format("padded"), 0.85),
    "naive matmul": ("matmul.cu", MATMUL.format("naive", 22, 22, "16, 16"), 0.4),
    "tiled matmul": ("matmul.cu", MATMUL.format("tiled", 22, 22, "16, 16"), 0.45),
}


def chip_of(folder, text):
    path = folder / "small.toml"
    path.write_text(text)
    return load_chip(path)


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    return chip_of(tmp_path_factory.mktemp("chips"), CHIP)


@pytest.mark.long
@pytest.mark.parametrize("name", LADDER)
def test_cycles_of_the_ladder(chip, name, tmp_path):
    source, launch, share = LADDER[name]
    if name == "saxpy":  # the rate of one channel varies for as long as half of a launch that the DRAM binds
        chip = chip_of(tmp_path, EIGHT_SMS)
    _, results = run_file(SAMPLES / source, launch, chip=chip)
    sampled_arrays, sampled = run_file(SAMPLES / source, launch, chip=chip, sample_blocks=True)
    full, part = results.launches[0], sampled.launches[0]
    assert part.timing.extrapolation.simulated <= share * part.timing.extrapolation.blocks
    assert abs(part.timing.cycles / full.timing.cycles - 1) <= min(0.03, part.timing.extrapolation.error)
    assert part.timing.extrapolation.error <= MOST_STATED
    # What the emulator knows is not extrapolated.
    if name.endswith("transpose"):
        np.testing.assert_array_equal(sampled_arrays["out"].copy_to_host(), sampled_arrays["in"].copy_to_host().T)
    for counter in COUNTER_NAMES:
        np.testing.assert_array_equal(getattr(full.counters, counter), getattr(part.counters, counter))
    for exact in ("issue_slots", "blocks_launched", "warps_launched"):
        assert getattr(part.timing, exact) == getattr(full.timing, exact)
    assert int(part.timing.ledger.sum()) == part.timing.resident_warp_cycles
    # How many warps are resident at a time is not settled when the rate is: the ledger's sum is rougher than the
    # cycles.
    assert abs(part.timing.resident_warp_cycles / full.timing.resident_warp_cycles - 1) < 0.15


def test_the_time_until_the_l2_is_full_is_left_out(tmp_path):
    """Of an L2 of 1 MB, which takes some 30 of 256 waves to fill: from then on the DRAM has half as much again to
    move.
    """
    path = tmp_path / "small.toml"
    path.write_text(CHIP + "l2_nbytes = 1048576\ndram_gbytes_per_s = 33.0\n")
    launch = "saxpy<<<4096, 256>>>(1048576, 2.0, f32[1048576]=random, f32[1048576])"
    full, part = (
        run_file(SAMPLES / "saxpy.cu", launch, chip=load_chip(path), sample_blocks=flag)[1].launches[0].timing
        for flag in (False, True)
    )
    known = part.extrapolation
    # A block brings 16 lines, so 512 of 4,096 blocks fill it; 6 waves of 16 blocks and more are timed before, and 6 or
    # more left out.
    assert 6 * 16 / 4096 < known.filling.slots / full.issue_slots < (512 - 7 * 16) / 4096
    assert known.filling.rate.slots_per_cycle > 1.05 * known.rate.slots_per_cycle
    assert known.simulated < 0.3 * known.blocks
    assert abs(part.cycles / full.cycles - 1) <= min(0.03, known.error)
    assert known.error <= MOST_STATED


# One way: the L2 is filled at once when three in five sets have no line to copy. These stay empty, and write later.
@pytest.mark.parametrize(("ways", "most_off"), [pytest.param(1, 0.2, marks=pytest.mark.long), (4, 0.05)])
def test_changed_lines_are_written_before_the_l2_is_full(tmp_path, ways, most_off):
    """The L2 keeps 2.5 MB or 10 MB of 16 that are written; from then on the DRAM has half as much again to do."""
    full, part = run_both(chip_of(tmp_path, EIGHT_SMS + f"l2_dirty_ways = {ways}\n"), 16384)
    assert full.dram_write_nbytes > 0.3 * 16384 * 256 * 4
    assert part.extrapolation.simulated < 0.6 * part.extrapolation.blocks
    assert abs(part.cycles / full.cycles - 1) <= part.extrapolation.error < MOST_STATED
    assert part.dram_write_nbytes == pytest.approx(full.dram_write_nbytes, rel=most_off)


def run_both(chip, n_blocks: int):
    """A launch of saxpy, timed whole and with --sample-blocks; 16 blocks are a wave of two SMs."""
    n = 256 * n_blocks
    launch = f"saxpy<<<{n_blocks}, 256>>>({n}, 2.0, f32[{n}]=random, f32[{n}])"
    return (
        run_file(SAMPLES / "saxpy.cu", launch, chip=chip, sample_blocks=flag)[1].launches[0].timing
        for flag in (False, True)
    )


def test_a_launch_of_fewer_than_four_waves_is_timed_whole(chip):
    assert LEAST_WAVES == 4
    full, part = run_both(chip, 63)
    assert part.extrapolation is None
    assert part.cycles == full.cycles


def test_of_few_waves_a_quarter_is_timed(chip):
    """Ten waves and a half: two are timed, from the first block on, and no block of the third."""
    full, part = run_both(chip, 168)
    assert (part.extrapolation.simulated, part.extrapolation.blocks) == (32, 168)
    assert part.issue_slots == full.issue_slots
    assert abs(part.cycles / full.cycles - 1) <= part.extrapolation.error


def test_few_waves_write_what_the_l2_does_not_keep(tmp_path):
    """The L2 keeps 256 of 1,280 KB that are written; a quarter of the waves, which is timed, writes hardly any."""
    full, part = run_both(chip_of(tmp_path, EIGHT_SMS + "l2_nbytes = 1048576\nl2_dirty_ways = 4\n"), 1280)
    assert part.extrapolation.simulated == 1280 // 4
    assert full.dram_write_nbytes > 0.6 * 1280 * 1024
    assert part.dram_write_nbytes == pytest.approx(full.dram_write_nbytes, rel=0.1)


def test_waves_counted_by_hand():
    """The first instruction issues after cycle 100. Of one wave, the tenths at its begin and its end are slower."""
    one = np.array([(0, 0), (100, 0), (400, 100), (1200, 900), (1700, 1000)])
    cycles, off = wave_cycles(one, 1)
    assert cycles == pytest.approx(np.sqrt(1000 * 1600))  # 800 cycles for 800 slots; 1600 with both
    assert off == pytest.approx(np.sqrt(1.6) - 1 + UNSEEN_WAVES + COLD_CYCLES / cycles)
    # Of two, from the midst of the first to that of the second is a wave: 900 cycles; both take 2,000.
    two = np.array([(0, 0), (100, 0), (600, 500), (1500, 1500), (2100, 2000)])
    cycles, off = wave_cycles(two, 2)
    assert cycles == pytest.approx(np.sqrt(900 * 1000))
    assert off == pytest.approx(1000 / cycles - 1 + UNSEEN_WAVES + COLD_CYCLES / cycles)


@pytest.mark.long
def test_the_stated_error_holds_on_launches_that_were_fixed_before():
    """Quick ones of the twenty; `python -m tests.bench.few_waves` compares all."""
    found = list(compared((9, 12, 15)))
    assert len(found) == 3
    assert [each for each in found if abs(each.error) > each.stated] == []
    assert [each for each in found if 4 * each.timed > each.blocks] == []


def test_a_rate_counted_by_hand():
    """Batches of 100 slots, which write 50 bytes from the third one on. Seven marks are six batches: the last four of
    them are the quarters, and the last two give the rate.
    """

    def marks(*cycles):
        return np.array([(sum(cycles[:k]), 100 * k, 50 * max(0, k - 2)) for k in range(len(cycles) + 1)])

    assert settled(marks(50, 50, 50, 50, 50)) is None
    assert settled(marks(90, 70, 50, 50, 50, 50)) == Rate(2.0, LEAST_OFF, 0.5)
    # Costs 0.48, 0.50, 0.52, 0.50: mean 0.5, deviations of 0, 0.02 twice: sqrt(0.0008 / 3) = 3.27 % of it; 0.49 to 0.51
    # is a drift of 3.92 %.
    rate = settled(marks(90, 70, 48, 50, 52, 50))
    assert rate.slots_per_cycle == pytest.approx(200 / 102)
    assert rate.off == pytest.approx(1.6 * np.sqrt(0.0008 / 3) / 0.5 + 2 * (1 - 0.49 / 0.51))
    # Ten batches: the last eight, two to a quarter. Those that give the rate vary little, and ...
    assert settled(marks(9, 9, 48, 52, 49, 51, 48, 52, 51, 49)) == Rate(2.0, LEAST_OFF, 0.5)
    # ... where quarters agree by chance, batches of 0.4, 0.6, 0.5, 0.5 say by how much they might not: sqrt(0.02 / 3) /
    # sqrt(4).
    rate = settled(marks(9, 9, 48, 52, 49, 51, 40, 60, 50, 50))
    assert (rate.slots_per_cycle, rate.off) == (2.0, pytest.approx(np.sqrt(0.02 / 3) / 2 / 0.5))


def test_an_l2_filled_at_once():
    """Two sets of four ways: one line in the first, two in the second. What is put in has never been used as late as
    any of them.
    """
    tag = np.array([0, 11, 0, 0, 21, 0, 22, 0])
    use = np.array([0, 7, 0, 0, 9, 0, 8, 0])
    line = np.zeros(8, L2_LINE)
    line["valid"], line["dirty"] = [0, 15, 0, 0, 15, 0, 3, 0], [0, 1, 0, 0, 0, 0, 3, 0]
    line["pending_until"][1] = 500
    machine = np.zeros(1, MACHINE)
    machine["l2_ways"], machine["l2_uses"] = 4, 10
    fill_l2(SimpleNamespace(machine=machine, memory=SimpleNamespace(l2_tag=tag, l2_use=use, l2_line=line)))
    far = 1 << FAR_SHIFT
    assert tag.tolist() == [11 + far, 11, 11 + 2 * far, 11 + 3 * far, 21, 21 + far, 22, 22 + far]
    assert use.tolist() == [-3, 7, -13, -23, 9, -1, 8, -2]
    assert line["dirty"].tolist() == [1, 1, 1, 1, 0, 0, 3, 3]
    assert line["valid"].tolist() == [15, 15, 15, 15, 15, 15, 3, 3]
    assert line["pending_until"].tolist() == [0, 500, 0, 0, 0, 0, 0, 0]


def test_an_l2_filled_at_once_keeps_as_many_dirty_lines_as_sets_do():
    """A set of six ways with a line that is changed and one that is not; it keeps two changed ones."""
    tag, use = np.array([0, 11, 0, 0, 22, 0]), np.array([0, 7, 0, 0, 8, 0])
    line = np.zeros(6, L2_LINE)
    line["valid"], line["dirty"] = [0, 15, 0, 0, 15, 0], [0, 15, 0, 0, 0, 0]
    machine = np.zeros(1, MACHINE)
    machine["l2_ways"], machine["l2_uses"], machine["l2_dirty_ways"] = 6, 10, 2
    fill_l2(SimpleNamespace(machine=machine, memory=SimpleNamespace(l2_tag=tag, l2_use=use, l2_line=line)))
    far = 1 << FAR_SHIFT
    assert tag.tolist() == [11 + far, 11, 22 + far, 11 + 2 * far, 22, 22 + 2 * far]
    assert use.tolist() == [-3, 7, -2, -13, 8, -12]
    assert line["dirty"].tolist() == [15, 15, 0, 0, 0, 0]


def test_when_the_l2_is_filled():
    """Of 1,000 blocks, 16 at a time; a batch takes 100 slots and 50 cycles, and brings 400 lines, or none."""

    def look(lines_of_batch, n_batches, slower=0, changed_of_batch=0):
        grid = SimpleNamespace(
            n_blocks=1000,
            fit=SimpleNamespace(blocks_per_sm=8),
            grid=SimpleNamespace(launch=SimpleNamespace(blocks_of_cluster=1)),
        )
        settling = Settling(grid, SimpleNamespace(sms=2))
        machine = np.zeros(1, MACHINE)
        machine["l2_ways"], machine["l2_dirty_ways"] = 4, 1
        tables = SimpleNamespace(
            l2_tag=np.zeros(10_000, np.int64),
            l2_use=np.zeros(10_000, np.int64),
            l2_line=np.zeros(10_000, L2_LINE),
            write_queue=np.zeros(1, WRITE_QUEUE),
        )
        found = None
        for batch in range(1, n_batches + 1):
            record = {
                "done_blocks": 16 * batch,
                "next_block": 16 * batch + 16,
                "start_cycle": 0,
                "dram_write_sectors": 0,
            }
            machine["now"] = 50 * batch + slower * max(0, batch - 7) ** 2 - QUANTUM
            tables.l2_tag[: min(10_000, lines_of_batch * batch)] = 1
            tables.l2_line["dirty"][: min(2_500, changed_of_batch * batch)] = 15
            presence = {"issue_slots": np.array([[60 * batch, 40 * batch]])}  # of two SMs
            core = SimpleNamespace(grid=[record], presence=presence)
            state = SimpleNamespace(machine=machine, core=core, memory=tables)
            found = found or settling.look(state)
        return settling, found

    # Nothing comes to the L2: the rate is known after seven batches, and 1,000 - 128 blocks are 54 batches and 8
    # blocks.
    _, found = look(0, 7)
    assert found == Extrapolation(1000 - 54 * 16, 1000, Rate(2.0, LEAST_OFF))
    # 7 x 400 of 10,000 lines: 7,200 more are 18 batches, 1,800 slots. It is filled, and the rate looked at anew.
    settling, found = look(400, 7)
    assert (found, settling.filling) == (None, Filling(1800.0, Rate(2.0, LEAST_OFF)))
    settling, found = look(400, 14)
    assert found == Extrapolation(1000 - 47 * 16, 1000, Rate(2.0, LEAST_OFF), settling.filling)
    # Behind that each batch is slower than the one before it: nothing is ever known to 3 %. When what is left, 18
    # batches behind the 16 blocks in flight, takes no more than 1,800 slots, it is left out all the same, for the L2
    # was not filled by blocks.
    assert look(400, 42, slower=5)[1] is None
    _, found = look(400, 43, slower=5)
    assert found.simulated == 1000 - 18 * 16 and found.rate.off > 0.5
    assert found.filling == Filling(1800.0, Rate(2.0, LEAST_OFF))
    # 7 x 100 of the 2,500 changed lines that it keeps: 1,800 more are 18 batches, too.
    settling, found = look(300, 7, changed_of_batch=100)
    assert (found, settling.filling) == (None, Filling(1800.0, Rate(2.0, LEAST_OFF)))
    # 2,400 of them are a full L2.
    settling, found = look(300, 7, changed_of_batch=600)
    assert (found, settling.filling, settling.is_full, len(settling.marks)) == (None, None, True, 4)
    # 7 x 1,000: three more batches will fill it, sooner than anything could be known of a full one.
    settling, found = look(1000, 9)
    assert (found, settling.filling, settling.is_full, len(settling.marks)) == (None, None, True, 1)


def test_extrapolation_counted_by_hand(chip):
    """100 of 300 slots were seen, the settled rate is 4 slots a cycle: 50 cycles more, and three times the ledger."""
    launch = "saxpy<<<1, 256>>>(256, 2.0, f32[256]=random, f32[256])"
    timing = run_file(SAMPLES / "saxpy.cu", launch, chip=chip)[1].launches[0].timing
    ledger = np.zeros((2, 3), np.uint64)
    ledger[1] = 10, 0, 7
    causes = np.zeros(3, CAUSES.dtype)  # of (1, reason 2): 7 cycles of three causes
    causes["pc"], causes["reason"], causes["kind"], causes["cycles"], causes["stalls"] = (
        0x510,
        2,
        (1, 2, 3),
        (3, 3, 1),
        (2, 3, 1),
    )
    timed = np.array([[10, 0, 3, 16], [0, 0, 4, 16], [0, 0, 0, 16], [0, 0, 0, 12]], np.uint64)
    seen = replace(
        timing, activity=Activity(16, timed),
        start_cycle=1000, end_cycle=1060, cycles=60, issue_slots=100, ledger=ledger, resident_warp_cycles=17,
        causes=causes,
        warps_launched=16, blocks_launched=2, l1_sectors=11, active_cycles_of_sm=np.array([60, 0], np.uint64),
        dram_write_nbytes=500, extrapolation=Extrapolation(2, 6, Rate(4.0, 0.04, 9.0)),
    )  # fmt: skip
    whole = extrapolated(seen, 300, 0x500)
    assert (whole.start_cycle, whole.end_cycle, whole.cycles) == (1000, 1110, 110)
    assert whole.ledger.tolist() == [[0, 0, 0], [30, 0, 21]]
    assert whole.causes[["kind", "cycles", "stalls"]].tolist() == [(1, 9, 6), (2, 9, 9), (3, 3, 3)]
    assert (whole.resident_warp_cycles, whole.issue_slots, whole.l1_sectors) == (51, 300, 33)
    assert (whole.warps_launched, whole.blocks_launched, whole.dram_write_nbytes) == (48, 6, 500 + 9 * 200)
    assert whole.active_cycles_of_sm.tolist() == [110, 0]
    assert whole.activity.bin_cycles == 16
    assert whole.activity.cycles.tolist() == [*timed.tolist(), [7, 0, 5, 17], [6, 0, 4, 16], [7, 0, 5, 17]]
    assert whole.extrapolation.error == pytest.approx(4 / 106)  # 0.08 of 50 is more than 0.04 of them; 110 may be 106
    assert str(whole.extrapolation) == "timed 2 of 6 blocks, cycles within 3.8 %"
    # The first 120 slots at 6 a cycle, while the L2 became full: 20 cycles, and 20 more.
    filling = Filling(120, Rate(6.0, 0.05, 1.0))
    whole = extrapolated(replace(seen, extrapolation=Extrapolation(2, 6, Rate(4.0, 0.14, 9.0), filling)), 300, 0x500)
    assert (whole.cycles, whole.dram_write_nbytes) == (100, 500 + 120 + 9 * 80)
    assert whole.extrapolation.error == pytest.approx(3.8 / (100 - 3.8))  # 0.05 and 0.14 of 20 cycles each
    # All that is left is less than what the L2 would have taken in.
    filling = Filling(300, Rate(8.0, 0.05))
    assert (
        extrapolated(replace(seen, extrapolation=Extrapolation(2, 6, Rate(4.0, 0.04), filling)), 300, 0x500).cycles
        == 85
    )


def test_the_report_says_what_was_timed(tmp_path):
    (tmp_path / "small.toml").write_text(CHIP)
    launch = "saxpy<<<1024, 256>>>(262144, 2.0, f32[262144]=random, f32[262144])"
    for flag, noted in ((["--sample-blocks"], True), ([], False)):
        code, said, error = command(
            tmp_path,
            "collect",
            str(SAMPLES / "saxpy.cu"),
            "--launch",
            launch,
            "--chip",
            "small.toml",
            *flag,
            "-o",
            "it.gprec",
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
    assert (code, error) == (
        0,
        "gpuprof: saxpy: --sample-blocks timed all 4 blocks: too few blocks, or no steady rate\n",
    )
