"""Streams worked out by hand: a kernel of three instructions whose every cycle is known, in each mode and by each kind
of trigger.

Four warps of a block, one in each partition: LDS, FFMA of its result, EXIT. They are resident from cycle 100 on. The
instruction line is there at 102, and all four issue LDS in it. The load/store unit passes one access a cycle: warp k's
result is there at 125 + k, when its FFMA issues, and its EXIT one cycle later. Slots count through the partitions, so
warp k is in slot k.
"""

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.isa.modifiers import pack
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.auto import _overflows, simulate_with_period
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import access, encode, launch, make, piece, run, warp

LDS, FFMA, EXIT = 0x1000, 0x1010, 0x1020
A64 = 1 << 6


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = tmp_path_factory.mktemp("chip") / "one.toml"
    path.write_text(
        'inherits = "a100"\nsms = 1\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nblock_launch_cycles = 100\n'
        "exit_cycles = 1\n"
    )
    return load_chip(path)


def stream(chip, sampling, wavefronts=1):
    """(cycle, warp, pc, names of its stall reasons) of each record."""
    code = [make("LDS.32", dst=0, a=1), make("FFMA", dst=1, a=0, b=20, c=21), make("EXIT")]
    warps = [warp([0], [access((), wavefronts=wavefronts)]) for _ in range(4)]
    _, records = run(chip, code, warps, warps_per_block=4, sampling=sampling)
    return told(records)


def told(records):
    names = {1 << number: name for name, number in INDEX.items()}
    return (
        []
        if records is None
        else [(int(r["cycle"]), int(r["warp"]), int(r["pc"]), names[int(r["stall_sm"]) & 0x3FFFFF]) for r in records]
    )


def at(cycle, mode, **more):
    """A cell that samples this cycle and, the period being so long, no other of the kernel's."""
    return Sampling(1024, mode, phase_cycles=cycle, drain_cycles=1, **more)


@pytest.mark.parametrize(
    "cycle, pc, reasons",
    [
        (101, LDS, ["no_instructions"] * 4),
        (102, LDS, ["selected"] * 4),
        (110, FFMA, ["short_scoreboard"] * 4),
    ],
)
def test_all(chip, cycle, pc, reasons):
    assert stream(chip, at(cycle, "all")) == [(cycle, k, pc, reason) for k, reason in enumerate(reasons)]


def test_all_when_they_part(chip):
    """At 126 warp 0 issues its last instruction, warp 1 its FFMA; it is there in that cycle, and not in the next."""
    waiting = [(k, FFMA, "short_scoreboard") for k in (2, 3)]
    assert stream(chip, at(126, "all")) == [
        (126, *one) for one in [(0, EXIT, "selected"), (1, FFMA, "selected"), *waiting]
    ]
    assert [one[1] for one in stream(chip, at(127, "all"))] == [1, 2, 3]


def test_one_partition(chip):
    assert stream(chip, at(102, "all", partition=2)) == [(102, 2, LDS, "selected")]
    assert stream(chip, at(102, "random", partition=3)) == [(102, 3, LDS, "selected")]


def test_round_robin(chip):
    """The slot is the number of the period, modulo 64: cycle 102 is in period 3 of those that begin at 6, and cycle 101
    in period 2 of 48 cycles from 5 on.
    """
    assert stream(chip, Sampling(32, "round-robin", phase_cycles=6, drain_cycles=1)) == [(102, 3, LDS, "selected")]
    assert stream(chip, Sampling(48, "round-robin", phase_cycles=5, drain_cycles=1)) == [
        (101, 2, LDS, "no_instructions")
    ]
    assert stream(chip, Sampling(32, "round-robin", drain_cycles=1)) == []  # cycle 128 is in period 4: slot 4 is empty


def test_stalled(chip):
    """Only partitions that issue nothing, each its one warp: at 126 those of warps 2 and 3."""
    assert stream(chip, at(102, "stalled")) == []
    assert stream(chip, at(101, "stalled")) == [(101, k, LDS, "no_instructions") for k in range(4)]
    assert stream(chip, at(126, "stalled")) == [(126, k, FFMA, "short_scoreboard") for k in (2, 3)]


def test_stalled_leaves_out_partitions_without_a_warp(chip):
    assert [one[1] for one in stream(chip, at(127, "stalled"))] == [3]  # warp 1 exits, warp 2 issues, warp 0 has gone


def test_random_takes_one_of_those_there(chip):
    """In 64 seeds each of the four warps is taken, about as often as the others: 16 times, give or take 3.5 at one
    standard deviation.
    """
    taken = [stream(chip, at(110, "random", seed=seed))[0][1] for seed in range(64)]
    assert min(np.bincount(taken, minlength=4)) >= 16 - 3 * 3.5 and len(set(taken)) == 4


def test_every_third_issue(chip):
    """Issues: 1 to 4 at 102; 5 at 125 (warp 0); 6, 7 at 126 (0, 1); 8, 9 at 127 (1, 2); 10, 11 at 128 (2, 3); 12 at 129
    (3).
    """
    sampling = Sampling(0, "trigger", trigger="inst_issued", every=3, drain_cycles=1)
    thirds = [(102, 2, LDS), (126, 0, EXIT), (127, 2, FFMA), (129, 3, EXIT)]
    assert stream(chip, sampling) == [(*one, "selected") for one in thirds]


def test_phase_of_events(chip):
    """Issues 2, 5, 8 and 11."""
    sampling = Sampling(0, "trigger", trigger="inst_issued", every=3, phase_cycles=2, drain_cycles=1)
    assert [one[:2] for one in stream(chip, sampling)] == [(102, 1), (125, 0), (127, 1), (128, 3)]


def test_events_with_other_modes(chip):
    """Every fifth issue: 5 at 125 and 10 at 128. All warps, or the stalled partitions' warps, of these cycles."""
    every = {"trigger": "inst_issued", "every": 5, "drain_cycles": 1}
    first = [(125, 0, FFMA, "selected"), *((125, k, FFMA, "short_scoreboard") for k in (1, 2, 3))]
    second = [(128, 2, EXIT, "selected"), (128, 3, FFMA, "selected")]
    assert stream(chip, Sampling(0, "all", **every)) == first + second
    assert stream(chip, Sampling(0, "stalled", **every)) == first[1:]
    assert stream(chip, Sampling(0, "round-robin", **every)) == first[:1]  # slots 0 and 1: warp 1 has gone by 128


def test_bank_conflicts(chip):
    """Three passes where one would do: two events a warp, 2, 4, 6, 8 of them at 102. A cell samples a cycle once,
    however many events ask for it.
    """
    for every, chosen in ((3, 1), (4, 1), (5, 2), (8, 3)):
        sampling = Sampling(0, "trigger", trigger="bank_conflict", every=every, drain_cycles=1)
        assert stream(chip, sampling, wavefronts=3) == [(102, chosen, LDS, "selected")]
    assert stream(chip, Sampling(0, "trigger", trigger="bank_conflict", every=1, drain_cycles=1)) == []


def test_misses(chip):
    """Warp k loads line k: four sectors, which neither the L1 nor the L2 has. The L1 is asked at once, 4 events a warp
    in cycle 102. The L2 serves what the quantum from 64 to 127 asked for when it has ended: the cell sees its 16 events
    in cycle 128, when the warps wait for their data."""
    code = [make("LDG.32", dst=0, a=2, mods=A64), make("FFMA", dst=1, a=0, b=20, c=21), make("EXIT")]
    warps = [warp([0], [access(range(4 * k, 4 * k + 4))]) for k in range(4)]

    def misses(trigger, every, mode="trigger"):
        sampling = Sampling(0, mode, trigger=trigger, every=every, drain_cycles=1)
        return told(run(chip, code, warps, warps_per_block=4, sampling=sampling)[1])

    assert misses("l1_miss", 9) == [(102, 2, LDS, "selected")]
    assert misses("l1_miss", 16) == [(102, 3, LDS, "selected")]
    assert misses("l1_miss", 17) == []
    # the instruction that asked, and what holds its warp by now
    assert misses("l2_miss", 9) == [(128, 2, LDS, "long_scoreboard")]
    assert misses("l2_miss", 16, "all") == [(128, k, FFMA, "long_scoreboard") for k in range(4)]


@pytest.mark.parametrize("cache, pcs", [("ca", [LDS]), ("cg", [LDS, EXIT])])
def test_loads_that_go_past_the_l1_miss_it(chip, cache, pcs):
    """Two loads of the same four sectors, the second one when the first one's are there: of the usual ones only the
    first misses.
    """
    load = {"a": 2, "mods": A64 | pack(cache=cache)}
    code = [
        make("LDG.32", dst=0, **load),
        make("FFMA", dst=1, a=0, b=20, c=21),
        make("LDG.32", dst=3, **load),
        make("EXIT"),
    ]
    sampling = Sampling(0, "trigger", trigger="l1_miss", every=4, drain_cycles=1)
    _, records = run(chip, code, [warp([0], [access(range(4))] * 2)], sampling=sampling)
    assert records["pc"].tolist() == pcs


def test_barriers_branches_and_calls(chip):
    """One warp: BAR at its first issue, then CALL, RET, BRA; only the lower half of the lanes goes on behind the last
    branch.
    """
    code = [make("BAR.SYNC"), make("CALL", imm=16), make("EXIT"), make("BRA", guard=0, imm=-32), make("EXIT")]
    steps = [(0, 0xFFFFFFFF), (1, 0xFFFFFFFF), (3, 0xFFFFFFFF), (2, 0x0000FFFF), (4, 0xFFFF0000)]

    def events(trigger, every=1):
        sampling = Sampling(0, "trigger", trigger=trigger, every=every, drain_cycles=1)
        traced = warp([block for block, _ in steps], (), [mask for _, mask in steps])
        return [(pc, int(mask)) for (_, _, pc, _), mask in zip(*parts(traced, sampling), strict=True)]

    def parts(traced, sampling):
        _, records = run(chip, code, [traced], sampling=sampling)
        return told(records), records["mask"]

    assert events("barrier") == [(0x1000, 0xFFFFFFFF)]
    assert events("call") == [(0x1010, 0xFFFFFFFF)]
    assert events("branch") == [(0x1010, 0xFFFFFFFF), (0x1030, 0xFFFFFFFF)]
    assert events("branch", every=2) == [(0x1030, 0xFFFFFFFF)]
    assert events("divergent_branch") == [(0x1030, 0xFFFFFFFF)]


def test_index_of_the_first_reason(chip):
    sampling = at(110, "all", stall="index")
    code = [make("LDS.32", dst=0, a=1), make("FFMA", dst=1, a=0, b=20, c=21), make("EXIT")]
    _, records = run(chip, code, [warp([0], [access()])], sampling=sampling)
    assert [int(r["stall_sm"]) for r in records] == [INDEX["short_scoreboard"]]


def test_longer_periods_keep_some_of_the_samples(chip):
    """With the same seed and phase; so an estimate for a longer period needs no second run."""
    code = [make("FFMA", dst=k % 7, a=k % 7, b=20, c=21) for k in range(400)] + [make("EXIT")]
    warps = [warp([0]) for _ in range(24)]

    def records(period):
        return run(
            chip, code, warps, warps_per_block=4, sampling=Sampling(period, seed=3, phase_cycles=7, drain_cycles=1)
        )[1]

    short = records(32)
    assert len(short) > 40
    for period in (64, 96, 256):
        np.testing.assert_array_equal(records(period), short[short["cycle"] % period == 7])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"trigger": "l3_miss", "every": 1}, "sampling trigger 'l3_miss': it must be one of cycles, inst_issued,"),
        ({"trigger": "l1_miss"}, "sampling trigger l1_miss:0: it must be 1 to 2147483648 events"),
        (
            {"trigger": "call", "every": 2, "period_cycles": 64},
            "sampling trigger call: it excludes a period in cycles; leave out one of them",
        ),
        ({"period_cycles": 64, "mode": "trigger"}, "sampling mode 'trigger' samples the warp that caused an event"),
        (
            {"period_cycles": 64, "phase_cycles": 64},
            "sampling phase 64: it must be 0 or more, and less than the period",
        ),
        ({"period_cycles": 64, "stall": "bits"}, "stall field 'bits': it must be one of vector, index"),
        ({"period_cycles": 64, "counters": ("l1", "l3")}, "sampling counter 'l3': it must be one of issued,"),
    ],
)
def test_settings_that_no_cell_has(settings, message):
    with pytest.raises(UsageError, match=message):
        Sampling(**settings)


@pytest.mark.parametrize("mode, fifo_depth, drain_cycles", [("random", 2, 200), ("all", 16, 7), ("random", 16, 1)])
def test_period_auto_is_the_shortest_that_loses_nothing(chip, mode, fifo_depth, drain_cycles):
    """What it records is what a run with that period records; half of it loses records, unless it is less than there
    is.
    """
    code = [make("FFMA", dst=k % 7, a=k % 7, b=20, c=21) for k in range(400)] + [make("EXIT")]
    warps = [warp([0]) for _ in range(24)]
    usual = {"mode": mode, "seed": 3, "phase_cycles": 7, "fifo_depth": fifo_depth, "drain_cycles": drain_cycles}

    def simulated(simulate, sampling):
        got = []
        job = launch(encode(code), blocks=6, threads=128)
        (timing,) = simulate(
            power_on(chip),
            [Grid(job, iter([piece(warps, 4)]))],
            sampling,
            lambda rows: got.append(rows.copy()),
            1 << 40,
            False,
            32,
        )
        return timing, np.concatenate(got)

    timing, records = simulated(simulate_with_period, Sampling(auto_period=1, **usual))
    period = timing.sampling_period_cycles
    same, wanted = simulated(simulate_batch, Sampling(period, **usual))
    np.testing.assert_array_equal(records, wanted)
    assert (timing.samples_due, timing.samples_dropped) == (same.samples_due, 0) == (len(records), same.samples_dropped)
    np.testing.assert_array_equal(timing.losses, same.losses)
    shortest = {"random": 32, "all": 64}[mode]
    assert period == shortest if drain_cycles == 1 else period > shortest
    if period > shortest:
        assert simulated(simulate_batch, Sampling(period // 2, **usual))[0].samples_dropped > 0


def test_when_a_fifo_would_have_been_full():
    """Against a FIFO that is filled record by record: one that leaves in a cycle has made room in it."""
    random = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        depth, drain_cycles, n = (int(each) for each in random.integers(1, [5, 9, 12]))
        cycles = np.sort(random.integers(0, 40, n))
        leaves, full = [], False
        for t in cycles.tolist():
            full |= len(leaves) >= depth and leaves[-depth] > t
            leaves.append(max([t, *leaves[-1:]]) + drain_cycles)
        assert _overflows(cycles, depth, drain_cycles) == full, (cycles, depth, drain_cycles)
        seen.add(full)
    assert seen == {True, False}
    assert [_overflows(np.array([0, t]), 1, 8) for t in (7, 8)] == [True, False]
