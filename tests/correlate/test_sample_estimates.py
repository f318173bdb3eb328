"""What samples stand for, and how sure they are: against slow twins, against the ledger, and over seeds."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gpuprof.correlate.sample_weights import Spread, least_effect, weights
from gpuprof.records.sampling_registers import narrowed_by
from gpuprof.report.estimates import wilson
from gpuprof.tables.launch import LEDGER, STALL_LENGTHS
from gpuprof.tables.samples import COMPACT, WIDE


def dense_effective(pc, cycle, weight):
    """The same from a matrix of (cycle, instruction)."""
    cycles, c = np.unique(cycle, return_inverse=True)
    pcs, x = np.unique(pc, return_inverse=True)
    a = np.zeros((len(cycles), len(pcs)))
    np.add.at(a, (c, x), weight)
    share, kish = a.sum(0) / a.sum(), weight.sum() ** 2 / (weight**2).sum()
    excess = a - a.sum(1)[:, None] * share
    variance = (np.diff(excess, axis=0) ** 2).sum() / 2 * len(cycles) / (len(cycles) - 1) / a.sum() ** 2
    return kish / max(1, variance * kish / (share * (1 - share)).sum())


@pytest.mark.parametrize("seed", range(20))
def test_effective_size_against_a_dense_twin_in_chunks_of_any_size(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 400))
    cycle = np.sort(rng.integers(0, rng.integers(2, 100), n)).astype(np.uint64) * 32
    pc = (rng.integers(0, rng.integers(2, 12), n) * 16 + cycle % 3 * 1000).astype(np.uint32)
    weight = rng.integers(1, 65, n)
    cycle[0] = 0
    spread, cuts = Spread(), [0, *np.sort(rng.integers(0, n, rng.integers(0, 9))), n]
    for first, last in itertools.pairwise(cuts):
        spread.add(pc[first:last], cycle[first:last], weight[first:last])
    found = spread.effective({int(p): int(weight[pc == p].sum()) for p in np.unique(pc)})
    assert found == pytest.approx(dense_effective(pc, cycle, weight), rel=1e-9, abs=1e-3)


def test_effective_size_of_little():
    one, same = Spread(), Spread()
    one.add(np.array([16, 32], np.uint32), np.array([64, 64], np.uint64), np.array([1, 1]))
    same.add(np.array([16, 16, 16], np.uint32), np.array([64, 96, 128], np.uint64), np.array([1, 1, 2]))
    assert one.effective({16: 1, 32: 1}) == 1  # one cycle tells nothing of the spread between cycles
    assert same.effective({16: 4}) == 16 / 6  # one instruction has no spread: only the weights count


def test_what_each_cycle_says_alike_is_no_surer_than_independent_samples():
    """One sample at each of two instructions in every cycle: there is no spread between cycles, and the 200 samples
    count as 200, not as more.
    """
    spread = Spread()
    spread.add(
        np.tile(np.array([16, 32], np.uint32), 100),
        np.repeat(np.arange(100, dtype=np.uint64), 2),
        np.ones(200, np.int64),
    )
    assert spread.effective({16: 100, 32: 100}) == 200


def test_sms_in_step_are_one_sample():
    """Sixteen SMs that do the same thing at the same time, an independent one in each cycle, are as sure as one."""
    rng = np.random.default_rng(0)
    pc = np.repeat(rng.integers(0, 4, 500), 16).astype(np.uint32)
    spread = Spread()
    spread.add(pc, np.repeat(np.arange(500, dtype=np.uint64), 16), np.ones(8000, np.int64))
    assert spread.effective({p: int((pc == p).sum()) for p in range(4)}) == pytest.approx(500, rel=0.1)


LENGTHS = np.array([(0, 0, 9, 30)], STALL_LENGTHS.dtype)  # 30 stalls of 512 cycles or more
LEDGER = np.array([(0, 0, 20_000), (16, 1, 10_720)], LEDGER.dtype)


def test_the_least_effect_of_long_stalls():
    """Of 30,720 warp-cycles 15,360 are in stalls of 512 cycles: a warp-cycle is in one of 256, in the mean."""
    assert [least_effect(period, LENGTHS, LEDGER) for period in (32, 256, 512)] == [Fraction(32, 256), 1, 1]
    assert (
        least_effect(0, LENGTHS, LEDGER)
        == least_effect("64", LENGTHS, LEDGER)
        == least_effect(32, LENGTHS[:0], LEDGER)
        == 1
    )


def test_intervals_of_long_stalls_hold_and_are_narrower():
    """Twelve warps that stall for 600 cycles each time, at one of six instructions, all sampled every 32 cycles: over
    60 such runs an interval holds the exact share 95 times in 100 at least, and is much narrower than that of
    independent samples."""
    held, widths = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_stalls, warps = 20, 12
        pcs = rng.integers(0, 6, (warps, n_stalls))
        begins = rng.integers(0, 600, warps)
        cycles = np.arange(int(rng.integers(32)), 600 * (n_stalls - 1), 32)
        seen = pcs[np.arange(warps)[None, :], (cycles[:, None] + begins) // 600]
        exact = np.zeros(6)
        for k in range(n_stalls):  # of each, what lies in the time that is sampled
            inside = np.clip(600 * (k + 1) - begins, 0, 600 * (n_stalls - 1)) - np.clip(
                600 * k - begins, 0, 600 * (n_stalls - 1)
            )
            np.add.at(exact, pcs[:, k], inside)
        spread = Spread()
        spread.add(
            16 * seen.ravel().astype(np.uint32),
            np.repeat(cycles, warps).astype(np.uint64),
            np.ones(seen.size, np.int64),
        )
        counts = np.bincount(seen.ravel(), minlength=6)
        ledger = np.array([(0, 0, int(exact.sum()))], LEDGER.dtype)
        lengths = np.array([(0, 0, 9, int(exact.sum()) // 600)], STALL_LENGTHS.dtype)
        effective = spread.effective({16 * k: int(n) for k, n in enumerate(counts)}, least_effect(32, lengths, ledger))
        for share, true in zip(counts / seen.size, exact / exact.sum(), strict=True):
            low, high = wilson(share * effective, effective)
            held.append(low <= true <= high)
            widths.append((high - low) / -np.subtract(*wilson(share * seen.size, seen.size)))
    assert np.mean(held) >= 0.95 and np.mean(widths) < 0.7


def test_which_samples_have_a_weight():
    wide = np.zeros(3, WIDE.dtype)
    wide["resident"] = 4, 1, 9
    random = {"mode": "random"}
    assert weights(wide, random).tolist() == [4, 1, 9]
    assert weights(wide, {"mode": "all"}).tolist() == weights(wide, {"mode": "round-robin"}).tolist() == [1, 1, 1]
    assert weights(wide, {"mode": "stalled"}) is None and weights(wide, {}) is None
    assert (
        weights(wide, random | {"trigger": "l1_miss"}) is None
        and weights(wide, random | {"trigger": "cycles"}) is not None
    )
    assert weights(wide, random | {"filter": "block=0"}) is None and weights(wide, random | {"filter": ""}) is not None
    assert weights(np.zeros(3, COMPACT.dtype), random) is None
    wide["resident"][1] = 0
    assert weights(wide, random) is None


@pytest.mark.parametrize(
    "own, narrowing",
    [
        ({}, ""),
        ({"mode": "all"}, ""),
        ({"mode": "round-robin", "trigger": "cycles", "partition": "-1", "filter": ""}, ""),  # as a database has them
        ({"mode": "stalled"}, "mode"),
        ({"mode": "trigger", "trigger": "l1_miss"}, "mode"),
        ({"trigger": "l1_miss"}, "trigger"),
        ({"partition": 0}, "partition"),
        ({"partition": "0"}, "partition"),
        ({"filter": "block=0"}, "filter"),
    ],
)
def test_what_narrows_samples(own, narrowing):
    assert narrowed_by({"mode": "random"} | own) == narrowing
    assert narrowed_by(own) == ("" if own.get("mode") in ("all", "round-robin") else "mode")
