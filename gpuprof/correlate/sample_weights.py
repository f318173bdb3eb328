"""Weights of samples, and how certain an estimate from them is.

A sample of one warp, drawn among n that were resident on its SM, stands for n warps for one period; one of a mode that
records every warp, for itself. With these weights the shares of samples estimate the shares of the ledger without bias
(Horvitz and Thompson,
1952); without them, an SM that is nearly empty counts as much as a full one.

How sure they are is said by an effective sample size: as many independent samples of equal weight would be as sure. Two
things make it smaller than the number of samples. Unequal weights: it is (sum of weights)^2 / (sum of their squares)
then (Kish, 1965). And all SMs are sampled in the same cycle and may do the same thing in it, so the spread is taken
between sampled cycles, by the successive differences that are usual for systematic samples (Wolter, 1985, "Introduction
to variance estimation", chapter 7), and put as the mean design effect over all instructions (Rao and Scott, 1981).

Sampling in equal steps is surer than independent sampling where neighbouring samples see the same stall. The spread
says so, but it would say so too where each sample sees the same place of a loop, and be wrong. So a design effect below
1 is believed as far as stalls are longer than the
period: its least value is the period over the length of the stall that a warp-cycle is in, in the mean, which is known
exactly.
"""

from fractions import Fraction

import numpy as np

from gpuprof.records.sampling_registers import narrowed_by


def weights(rows: np.ndarray, registers: dict) -> np.ndarray | None:
    """Warps that each sample stands for, int64 (n,). None if the records have no number, or by the
    sampler's registers are no sample of all warp-cycles.
    """
    if narrowed_by(registers) or "resident" not in rows.dtype.names:
        return None
    if registers["mode"] != "random":  # round-robin looks at every slot equally often, so its records are alike
        return np.ones(len(rows), np.int64)
    resident = rows["resident"].astype(np.int64)
    return resident if resident.all() else None


CYCLE_BITS = 24  # of a key, below the pc: number of a sampled cycle within a chunk, which has fewer rows than that
WEIGHT_BITS = 8  # of a record's `resident`


class Spread:
    """The spread between neighbouring sampled cycles of one launch, taken a chunk of its samples at a time, in bounded
    memory.

    With a(c, x) the weight of the samples of cycle c at instruction x, A(c) the sum over x, and d the difference
    between neighbouring cycles, it holds the sums over c of d A(c)^2, over c and x of d a(c, x)^2, and for each x those
    of d A(c) d a(c, x).
    """

    def __init__(self):
        self.n_cycles = 0
        self._squared_weights = self._whole_squares = self._squares = 0
        self._products = np.empty(0, np.uint64), np.empty(0, np.int64)  # by pc
        self._last_cycle: int | None = None
        # the last two cycles, 0 and 1; more of the second may come
        self._held = np.empty(0, np.uint64), np.empty(0, np.int64)

    def add(self, pc: np.ndarray, cycle: np.ndarray, weight: np.ndarray) -> None:
        """Samples in the order of their cycles: uint32, uint64 and int64 (n,)."""
        if not len(pc):
            return
        new = np.empty(len(cycle), bool)
        new[0] = int(cycle[0]) != self._last_cycle
        np.not_equal(cycle[1:], cycle[:-1], out=new[1:])
        number = min(self.n_cycles, 2) - 1 + np.cumsum(new)
        self.n_cycles += int(new.sum())
        self._squared_weights += int((weight * weight).sum())
        self._last_cycle = int(cycle[-1])
        own = by_instruction(pc, number, weight)
        self._take(*(np.concatenate(pair) for pair in zip(self._held, own, strict=True)), int(number[-1]))

    def _take(self, keys: np.ndarray, weight: np.ndarray, last: int) -> None:
        """Adds the differences between the cycles before `last`, and keeps `last` and the one before it."""
        keys, weight = merge_runs(keys, weight)
        self._difference(keys, weight, last)
        kept = number_of(keys) >= last - 1
        self._held = keys[kept] - np.uint64(max(last - 1, 0)), weight[kept]

    def _difference(self, keys: np.ndarray, weight: np.ndarray, last: int) -> None:
        """Adds those between cycles 0 to `last` - 1; keys ascend."""
        if last < 2:
            return
        inside = number_of(keys) < last
        keys, weight = keys[inside], weight[inside]
        number = number_of(keys)
        step = np.zeros(last + 1, np.int64)
        step[1:last] = np.diff(np.bincount(number, weight, last)).astype(np.int64)
        ends = 2 - (number == 0) - (number == last - 1)  # differences that the cycle is part of
        next_to = keys[1:] - keys[:-1] == 1  # the same instruction in the next cycle
        self._squares += int((ends * weight * weight).sum()) - 2 * int((weight[1:] * weight[:-1])[next_to].sum())
        self._whole_squares += int((step * step).sum())
        products = keys >> np.uint64(CYCLE_BITS), (step[number] - step[number + 1]) * weight
        self._products = merge_runs(*(np.concatenate(pair) for pair in zip(self._products, products, strict=True)))

    def effective(self, weight_of: dict[int, int], least_effect: Fraction = Fraction(1)) -> float:
        """How many independent samples would be as sure, given the sum of the weights at each pc; see `least_effect`.
        Once, at the end.
        """
        self._difference(*self._held, min(self.n_cycles, 2))
        whole = sum(weight_of.values())
        kish = Fraction(whole * whole, self._squared_weights)
        unequal = whole * whole - sum(weight * weight for weight in weight_of.values())
        if unequal == 0:  # all at one instruction
            return float(kish)
        if self.n_cycles < 2:
            return 1.0
        products = zip(*(column.tolist() for column in self._products), strict=True)
        between = (
            self._squares
            - Fraction(2 * sum(weight_of[pc] * product for pc, product in products), whole)
            + Fraction(self._whole_squares * (whole * whole - unequal), whole * whole)
        )
        variance = between / 2 * Fraction(self.n_cycles, self.n_cycles - 1) / (whole * whole)
        design_effect = variance * kish / Fraction(unequal, whole * whole)
        return float(round(kish / max(least_effect, design_effect), 3))


def least_effect(period_cycles: object, lengths: np.ndarray, ledger: np.ndarray) -> Fraction:
    """The least design effect of a launch: rows of STALL_LENGTHS and LEDGER. 1 if the period is unknown, or not in
    cycles.

    Each stall counts as if it were as short as its bin allows, so that the mean is not too long.
    """
    warp_cycles = sum(ledger["cycles"].tolist())
    in_stalls = sum(n << 2 * k for n, k in zip(lengths["stalls"].tolist(), lengths["bin"].tolist(), strict=True))
    if type(period_cycles) is not int or period_cycles <= 0 or in_stalls == 0:
        return Fraction(1)
    return min(Fraction(1), Fraction(period_cycles * warp_cycles, in_stalls))


def merge_runs(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, ascending, and the sums of their values. Quick where keys are a few ascending runs, as this sort
    knows them.
    """
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(values[order], first)


def by_instruction(pc: np.ndarray, number: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keys, ascending, and sums of weights at (pc, number), each less than 2^WEIGHT_BITS, which so can be sorted along
    with their keys, thrice as fast.
    """
    key = pc.astype(np.uint64) << np.uint64(CYCLE_BITS) | number.astype(np.uint64)
    together = np.sort(key << np.uint64(WEIGHT_BITS) | weight.astype(np.uint64))
    keys = together >> np.uint64(WEIGHT_BITS)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat((together & np.uint64((1 << WEIGHT_BITS) - 1)).astype(np.int64), first)


def number_of(keys: np.ndarray) -> np.ndarray:
    """The cycle's number, of keys by (pc, number)."""
    return (keys & np.uint64((1 << CYCLE_BITS) - 1)).astype(np.int64)
