"""How long stalls are: by hand on small kernels, and what holds of every launch. The twin's tests compare with the
readable model.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import stall_rows
from gpuprof.tables.launch import STALL_LENGTHS, STALLS
from gpuprof.timing.extrapolate import extrapolated
from gpuprof.timing.state.extrapolation import Extrapolation, Rate
from gpuprof.timing.state.stall_tables import N_BINS, STALLS_DTYPE
from tests.readable.timing import recorded_stalls
from tests.support.recordings import META, launch_fields
from tests.support.timing_support import COUNTED, access, make, run, warp
from tests.timing.test_timing import LOADS, ffma, random_kernel


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    """a100 with fetch of 1 + 1 cycles and no far half of the L2, as tests/timing/test_timing.py counts with."""
    path = Path(tmp_path_factory.mktemp("chip")) / "quick.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n' + COUNTED
    )
    return load_chip(path)


def test_a_chain_waits_three_cycles_each_time(chip):
    """Warps alone in their partitions: the first instruction waits 2 cycles for its fetch, each that follows 3 for the
    one before it.
    """
    timing, _ = run(chip, [*[ffma(0, 0)] * 3, make("EXIT")], [warp([0])] * 4, warps_per_block=4)
    # Four warps, so four stalls of 2 cycles, and of 3: both are in the bin of 2 to 3.
    assert recorded_stalls(timing) == {
        (0, "no_instructions"): (2, {2: 4}),
        (1, "wait"): (3, {2: 4}),
        (2, "wait"): (3, {2: 4}),
    }


def test_one_long_and_one_short_stall_for_the_same_reason(chip):
    """The first load misses to DRAM, the next one, in a loop, finds its line in the L1: 551 cycles, then 32."""
    code = [LOADS[0], ffma(1, 0), make("BRA", guard=0, imm=-48), make("EXIT")]
    timing, _ = run(chip, code, [warp([0, 0, 1], [access(range(4))] * 2)])
    assert recorded_stalls(timing)[1, "long_scoreboard"] == (551, {512: 1, 32: 1})


def test_a_wide_instruction_stalls_before_each_slot(chip):
    """MEMBAR has three slots, two cycles apart: one stall of a cycle before the second and one before the third. Then
    it holds its warp for its own way to the L2 and back, which is longer than the store's.
    """
    code = [make("STG.32", a=1, b=0, mods=1 << 6), make("MEMBAR"), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4))])])
    held = chip.membar_l2_cycles - 1
    assert recorded_stalls(timing)[1, "wait"] == (1, {1: 2})
    assert recorded_stalls(timing)[1, "membar"] == (held, {1 << held.bit_length() - 1: 1})


def test_what_alternates_before_an_issue_is_one_stall_of_each_kind(chip):
    """Nine warps, of which three are in partition 0, where each FFMA keeps the pipe for two cycles. They are ready in
    cycle 102.

    The youngest issues at 102, and EXIT at 103. The pipe is free again at 104: the next issues there, and EXIT at 105.
    So it was not selected in 102 and throttled in 103. The oldest was not selected in 102, throttled in 103, not
    selected in 104, throttled in 105, issues at 106: two cycles of each, which are one stall of each.
    """
    timing, _ = run(chip, [ffma(0, 4), make("EXIT")], [warp([0])] * 9, warps_per_block=9)
    # Partitions 1 to 3 have two warps: the older of each waits as the second one above.
    assert recorded_stalls(timing) == {
        (0, "no_instructions"): (2, {2: 9}),
        (0, "not_selected"): (2, {1: 4, 2: 1}),
        (0, "math_pipe_throttle"): (2, {1: 4, 2: 1}),
    }


def test_barriers_and_the_drain(chip):
    """As in test_timing: warp 0 arrives at 108 and warp 1 at 131, both go on at 136: held for 27 cycles, and for 4.
    Then a store drains.
    """
    code = [
        *[make("BRA", guard=0, imm=32), make("LDS.32", dst=0, a=1), ffma(1, 0), make("BAR.SYNC")],
        *[make("STG.32", a=1, b=2, mods=1 << 6), make("EXIT")],
    ]
    store = access(range(4))
    timing, _ = run(chip, code, [warp([0, 2, 3], [store]), warp([0, 1, 2, 3], [access(()), store])], warps_per_block=2)
    found = recorded_stalls(timing)
    assert found[3, "barrier"] == (136 - 109, {16: 1, 4: 1})
    longest, bins = found[5, "drain"]
    assert sum(bins.values()) == 2 and longest >= chip.store_drain_cycles - 2


@pytest.mark.parametrize("seed", range(3))
def test_stalls_and_the_ledger_say_the_same(chip, seed):
    """For each (instruction, reason): as many cycles as stalls of these lengths can have, the longest in the last bin,
    none of issues.
    """
    code, warps, per_block = random_kernel(40 + seed, 48, 4)
    timing, _ = run(chip, code, warps, warps_per_block=per_block)
    stalls = timing.stalls
    ledger = timing.ledger.copy()
    ledger[:, INDEX["selected"]] = 0
    assert np.array([stalls["instruction"], stalls["reason"]]).tolist() == np.array(np.nonzero(ledger)).tolist()
    cycles = ledger[stalls["instruction"], stalls["reason"]]
    least = stalls["bins"] @ (np.uint64(1) << np.arange(N_BINS, dtype=np.uint64))
    most = 2 * least - stalls["bins"].sum(axis=1)
    assert (least <= cycles).all() and (cycles <= most).all()
    top = N_BINS - 1 - np.argmax(stalls["bins"][:, ::-1] > 0, axis=1)
    assert top.tolist() == [n.bit_length() - 1 for n in stalls["longest_cycles"].tolist()]
    assert len({NAMES[r] for r in stalls["reason"]}) > 5


def test_in_a_recording(tmp_path):
    """Instruction 1 of a module at 0x1000 stalled 3 times for 1 cycle and twice for 600 and 700; instruction 2 once,
    for 60.
    """
    stalls = np.zeros(2, STALLS_DTYPE)
    stalls["instruction"], stalls["reason"], stalls["longest_cycles"] = (
        [1, 2],
        [INDEX["long_scoreboard"], INDEX["drain"]],
        [700, 60],
    )
    stalls["bins"][0, [0, 9]], stalls["bins"][1, 5] = [3, 2], 1
    with RecordWriter(tmp_path / "a.gprec") as writer:
        writer.meta(META)
        writer.module(0, name="a.cu", load_base=0x1000, code_nbytes=48, image=b"", compiler="clang 22", arch="sm_80")
        writer.launch_begin(launch_fields())
        for table, rows in stall_rows(stalls, 0x1000).items():
            writer.rows(table, 0, rows)
    launch = read_recording(tmp_path / "a.gprec").launches[0]
    assert launch.rows[STALLS].tolist() == [(0x1010, 3, 5, 700), (0x1020, 15, 1, 60)]
    assert launch.rows[STALL_LENGTHS].tolist() == [(0x1010, 3, 0, 3), (0x1010, 3, 9, 2), (0x1020, 15, 5, 1)]


def test_extrapolated_stalls_are_more_and_not_longer(chip):
    """A third of the slots was seen: three times the stalls of each length."""
    timing, _ = run(chip, LOADS, [warp([0], [access(range(4))] * 2)])
    whole = extrapolated(
        replace(timing, extrapolation=Extrapolation(1, 3, Rate(1.0, 0.01))), 3 * timing.issue_slots, 0x1000
    )
    assert (whole.stalls["bins"] == 3 * timing.stalls["bins"]).all()
    assert (whole.stalls["longest_cycles"] == timing.stalls["longest_cycles"]).all()
    assert (whole.ledger == 3 * timing.ledger).all()
