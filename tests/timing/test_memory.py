"""DRAM rows and sectors written in part, against cycles and bytes worked out by hand, on the chip of test_timing."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.timing.state.layout import TICKS
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.units.dram import channel_of
from gpuprof.timing.units.set_associative import fold_bits
from tests.support.timing_support import COUNTED, access, make, run, warp
from tests.timing.test_timing import A64, ffma, rows

CG = A64 | 2 << 7  # past the L1
CHANNELS, BANKS, LINES_OF_ROW = 40, 32, 8  # of a100


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = Path(tmp_path_factory.mktemp("chip")) / "quick.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n'
        "l2_fetch_nbytes = 32\n" + COUNTED
    )
    return load_chip(path)


def place(line):
    """(channel, bank, row) of a line: 16 neighbouring lines lie in one channel, and each channel has a row of any 320
    lines.
    """
    row = line // (CHANNELS * LINES_OF_ROW)
    return channel_of.py_func(line >> 4) % CHANNELS, fold_bits.py_func(row) % BANKS, row


def line_with(wanted, start=1):
    """The first line from `start` on whose place meets `wanted`."""
    return next(line for line in range(start, 1 << 20) if wanted(*place(line)))


def latencies(chip, lines, waiting=True):
    """Cycles that a multiply-add waits for each load of a line, in the order of the loads; `waiting`: each load comes
    after the last one's.
    """
    if waiting:
        code = [
            step
            for k in range(len(lines))
            for step in (make("LDG.32", dst=k, a=20, mods=CG), ffma(k + 8, k), make("MEMBAR"))
        ]
        places = range(1, len(code), 3)
    else:
        code = [make("LDG.32", dst=k, a=20, mods=CG) for k in range(len(lines))] + [ffma(9, len(lines) - 1)]
        places = [len(lines)]
    timing, _ = run(chip, [*code, make("EXIT")], [warp([0], [access([4 * line]) for line in lines])])
    return [rows(timing)[k].get("long_scoreboard", 0) + 1 for k in places]


def test_a_row_that_is_open_saves_its_opening(chip):
    """tRP + tRCD are 28 ns, 39.48 cycles at 1410 MHz: the data comes in the cycle that 512.52 lies in."""
    same = line_with(lambda channel, bank, row: (channel, row) == (0, 0))
    other = line_with(lambda channel, bank, row: channel == 0 and bank != 0)
    assert latencies(chip, [0, same, other]) == [552, 512, 552]


def test_two_rows_of_one_bank_follow_each_other_a_row_cycle_apart(chip):
    """The loads leave at 102 and 106. The second row opens 48 ns, 67.68 cycles, after the first did, that of
    another bank 3.75 ns, 5.29 cycles; the wait begins at 104.
    """
    other = line_with(lambda channel, bank, row: (channel, bank) == (0, 0) and row > 0)
    assert latencies(chip, [0, other], waiting=False) == [102 + 67 + 552 - 103]
    elsewhere = line_with(lambda channel, bank, row: channel == 0 and bank == 1)
    assert latencies(chip, [0, elsewhere], waiting=False) == [102 + 5 + 552 - 103]


def test_a_controller_serves_requests_to_one_row_together(chip):
    """Rows A and B of one bank, A again: all of it waits in the queue, so that A need not be opened twice. Later it
    must.
    """
    b = line_with(lambda channel, bank, row: (channel, bank) == (0, 0) and row > 0)
    near = line_with(lambda channel, bank, row: (channel, row) == (0, 0))
    # A opens at 102, B 67.68 cycles later. A's second load comes with the first one's data, but not before B's, which
    # was asked for earlier. It would be 102 + 2 * 67.68 otherwise. The wait begins at 105.
    assert latencies(chip, [0, b, near], waiting=False) == [102 + 67 + 552 - 104]
    assert latencies(chip, [0, b, near]) == [552, 552, 552]


def test_what_an_l1_missed_comes_back_in_the_order_in_which_it_was_asked_for(chip):
    """The first load brings line 0 to the L2. Asked for once more, alone, it takes 206 cycles; behind a load of a line
    that the L2 misses it comes with that, which was asked for one cycle earlier.
    """
    far = line_with(lambda channel, bank, row: channel == 1)
    load = [make("LDG.32", dst=k, a=20, mods=CG) for k in range(3)]
    first = [load[0], ffma(8, 0), make("MEMBAR")]
    for order, waits, wanted in (([0], 1, 206), ([far, 0], 2, 552 - 1)):
        code = [*first, *load[1 : 1 + len(order)], ffma(9, waits), make("EXIT")]
        timing, _ = run(chip, code, [warp([0], [access([4 * line]) for line in (0, *order)])])
        assert rows(timing)[len(code) - 2]["long_scoreboard"] + 1 == wanted


@pytest.mark.parametrize("spread, second", [(0, 552), (88, 552 - 34), (117, 552 - 45)])
def test_sms_are_more_or_less_far_from_the_l2(tmp_path, spread, second):
    """SM 0 is as far as SMs are on average. SM 1 is at 0.618 - 1 of the spread: -33.6 and -44.7 cycles."""
    path = tmp_path / "spread.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n'
        f"l2_spread_cycles = {spread}\n" + COUNTED
    )
    elsewhere = line_with(lambda channel, bank, row: channel == 1)
    warps = [warp([0], [access([4 * line])]) for line in (0, elsewhere)]
    code = [make("LDG.32", dst=1, a=20, mods=CG), ffma(2, 1), make("EXIT")]
    timing, _ = run(load_chip(path), code, warps)
    assert rows(timing)[1]["long_scoreboard"] + 2 == 552 + second


STORE, LOAD = make("STG.32", a=20, b=0, mods=A64), make("LDG.32", dst=1, a=20, mods=CG)


@pytest.mark.parametrize("what, left_out, sectors_read", [
    ("a whole sector needs no fetch", [0], 0),
    ("half a sector does", [0xF0], 1),
    ("two halves are a whole", [0xF0, 0x0F], 0),
    ("three parts with a gap are not", [0xFC, 0xF3, 0x1F], 1),
    ("nothing but pieces of words", [0xFF, 0xFF], 1),
])  # fmt: skip
def test_a_read_fetches_what_stores_have_left_out(chip, what, left_out, sectors_read):
    machine = power_on(chip)
    code = [*[STORE] * len(left_out), make("MEMBAR"), LOAD, ffma(2, 1), LOAD, make("EXIT")]
    accesses = [access([5], missing={5: words}) for words in left_out] + [access([5])] * 2
    timing, _ = run(chip, code, [warp([0], accesses)], machine=machine)
    assert timing.dram_read_nbytes == 32 * sectors_read  # the second read finds it, in any case
    assert timing.l2_hits == len(left_out) + 2 - sectors_read
    assert machine.l2_line["dirty"].sum() == 0b10  # sector 1 of its line, once


def test_a_half_of_the_l2_keeps_copies_of_the_other_until_they_are_written(tmp_path):
    path = tmp_path / "halves.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_fetch_nbytes = 32\n' + COUNTED
    )
    chip = load_chip(path)
    read = [LOAD, ffma(2, 1), make("MEMBAR")]
    code = [*read, *read, STORE, make("MEMBAR"), *read, *read, make("EXIT")]
    reads = (1, 4, 9, 12)
    # slices 0 and 41 of 80: the second is far, and its half's channels are 95 cycles further than those on average
    for line, wanted in ((0, (457, 206, 206, 206)), (80, (647, 206, 397, 206))):
        timing, _ = run(chip, code, [warp([0], [access([4 * line])] * 5)])
        assert tuple(rows(timing)[k]["long_scoreboard"] + 1 for k in reads) == wanted
    sectors = [access([320]), access([321]), access([320, 321]), access([320, 321]), access([320, 321])]
    timing, _ = run(
        chip, code, [warp([0], sectors)]
    )  # sector 321 comes from the DRAM, of an open row; both are there until both are written
    assert [rows(timing)[k]["long_scoreboard"] + 1 for k in reads] == [647, 607, 397, 206]


def test_a_partial_store_spoils_nothing_that_was_there(chip):
    code = [LOAD, ffma(2, 1), STORE, make("MEMBAR"), LOAD, make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access([5]), access([5], missing={5: 0x7F}), access([5])])])
    assert timing.dram_read_nbytes == 32


def test_an_atomic_fetches_what_a_store_has_left_out(chip):
    code = [STORE, make("MEMBAR"), make("ATOMG.ADD.U32", dst=0, a=1, b=2, mods=A64), ffma(1, 0), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access([5], missing={5: 1}), access([5])])])
    assert timing.dram_read_nbytes == 32
    assert rows(timing)[3]["long_scoreboard"] > chip.dram_cycles


def test_atomics_of_a_sector_and_compare_and_swap(chip):
    """At the L2, 2.4 cycles a sector or one a lane on the same word, twice that for a compare-and-swap. 4 sectors: 9.6,
    or 19.2.
    """
    for name, sectors, conflicts, cycles in (
        ("ADD.U32", 4, 1, 9),
        ("ADD.U32", 4, 16, 16),
        ("CAS.B32", 4, 1, 19),
        ("CAS.B32", 1, 32, 64),
    ):
        code = [
            make("LDG.32", dst=0, a=20, mods=CG),
            make("MEMBAR"),
            ffma(1, 0),
            make(f"ATOMG.{name}", dst=4, a=20, b=8, c=9, mods=A64),
            ffma(5, 4),
        ]
        timing, _ = run(
            chip, [*code, make("EXIT")], [warp([0], [access(range(4)), access(range(sectors), conflicts=conflicts)])]
        )
        assert rows(timing)[4]["long_scoreboard"] == chip.latency["atomic"] + cycles - 1, name


@pytest.mark.parametrize("name, cycles", [
    ("REDG.ADD.U32", [32, 16, 9.6, 9.6, 9.6, 9.6, 19.2]),
    ("REDG.ADD.F32", [100.2, 50.1, 25, 12.5, 9.6, 9.6, 19.2]),
])  # fmt: skip
def test_lanes_that_share_words_and_sectors(chip, name, cycles):
    """A warp's 32 lanes add to 1, 2, 4, ... 64 words, 64 of them in two lines of one slice: cycles of the slice for a
    warp's addition. A sector takes as long for four lanes as for eight.
    """
    found = []
    for words in (1, 2, 4, 8, 16, 32, 64):
        one = access(range(-(-words // 8)), conflicts=max(1, 32 // words))
        free = [slices_are_free(chip, make(name, a=20, b=8, mods=A64), one, n) for n in (64, 128)]
        found.append((free[1] - free[0]) / 64)
    assert found == pytest.approx(cycles, abs=0.3)


def slices_are_free(chip, instruction, one, count):
    """From when on the slice of lines 0 and 1 is free."""
    machine = power_on(chip)
    run(chip, [*[instruction] * count, make("EXIT")], [warp([0], [one] * count)], machine=machine)
    return int(machine.slice_tick[fold_bits.py_func(0) % chip.l2_slices]) / TICKS


def test_compare_and_swap_in_shared_memory_has_half_the_rate(chip):
    for name, passes in (("ADD.U32", 4), ("CAS.B32", 8)):
        code = [make(f"ATOMS.{name}", dst=0, a=20, b=8, c=9), ffma(1, 0), make("EXIT")]
        timing, _ = run(chip, code, [warp([0], [access((), conflicts=4)])])
        assert timing.shared_wavefronts == passes
        assert rows(timing)[1]["short_scoreboard"] == chip.latency["atomic_shared"] + 2 * (passes - 1) - 1


@pytest.mark.parametrize(("arch", "passes"), [("sm_75", [32, 32]), ("sm_80", [1, 4]), ("sm_90", [1, 4])])
def test_counted_lanes_take_no_turns(chip, arch, passes):
    """32 lanes add 1 to one word, and to words of which four lie in a bank: passes through the banks."""
    code = [make("REDS.POPC.INC.U32", a=20), make("EXIT")]
    found = [
        run(
            replace(chip, values=chip.values | {"arch": arch}),
            code,
            [warp([0], [access((), wavefronts=n, conflicts=32)])],
        )[0].shared_wavefronts
        for n in (1, 4)
    ]
    assert found == passes


def test_wide_shared_loads(chip):
    """Two passes that 8 bytes a lane take cost no latency, the four of 16 bytes two cycles; a conflict costs two a pass
    beside that.
    """
    for name, wavefronts, extra in (
        ("LDS.32", 1, 0),
        ("LDS.V2.32", 2, 0),
        ("LDS.V4.32", 4, 2),
        ("LDS.32", 2, 2),
        ("LDS.V2.32", 4, 4),
        ("LDS.V4.32", 8, 10),
    ):
        code = [make(name, dst=0, a=20), ffma(8, 0), make("EXIT")]
        timing, _ = run(chip, code, [warp([0], [access((), wavefronts=wavefronts)])])
        assert rows(timing)[1]["short_scoreboard"] == chip.latency["shared"] + extra - 1, name


@pytest.mark.parametrize("what, with_loads, turns", [("stores alone", False, 0), ("loads between them", True, 6)])
def test_a_bus_turns_once_a_full_queue_of_sectors_that_are_written_among_reads(tmp_path, what, with_loads, turns):
    """Lines of one set that keeps four changed ones, one channel that is always busy: 104 lines are written whole and
    as many asked for in turn, so 100 written ones are queued, 400 sectors: six times 64. A turn takes 100 ns, 141
    cycles.
    """

    def busy(turn_ns):
        path = tmp_path / f"turns{turn_ns}.toml"
        path.write_text(
            'inherits = "a100"\nsms = 2\nl2_nbytes = 16384\nl2_ways = 64\ndram_channels = 1\ndram_gbytes_per_s = 1.0\n'
            f"l2_far_cycles = 206\ndram_turn_ns = {turn_ns}\n" + COUNTED
        )
        chip = load_chip(path)
        machine = power_on(chip)
        loads = [make("LDG.32", dst=30 + k, a=20, mods=CG) if with_loads else STORE for k in range(104)]
        code = [step for load in loads for step in (STORE, load)]
        lines = [line for line in range(1000) if fold_bits.py_func(line) % 2 == 0][:208]
        accesses = [access([4 * line + k for k in range(4)]) for line in lines]
        run(chip, [*code, make("EXIT")], [warp([0], accesses)], machine=machine)
        queue = machine.write_queue[0]
        return int(machine.channel_tick[0] + queue["queued"] - queue["written"])

    assert busy(100) - busy(0) == turns * 141 * TICKS
