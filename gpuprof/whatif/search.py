"""Measures candidates: in their order within a budget, in the best sequence, and along a line's speed-up."""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from gpuprof.whatif.baseline import Baseline
from gpuprof.whatif.candidates import Candidate
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.rows import Row, measured

CURVE_PARTS = (0.25, 0.5, 0.75)


class Trial(NamedTuple):
    """A measurement to make: of baseline number `subject`, interventions and their bound as a part of its cycles."""

    subject: int
    interventions: tuple[Intervention, ...]
    share: float


class Measured(NamedTuple):
    rows: tuple[Row, ...]
    left: tuple[Trial, ...]  # for which the budget had no time


_baselines: Sequence[Baseline] = ()  # of this process, and by its fork of the workers


def _measure(trial: Trial) -> tuple[Row, float]:
    """The row, and the CPU seconds that it took."""
    begun = time.process_time()
    row = measured(_baselines[trial.subject], trial.interventions, trial.share)
    return row, time.process_time() - begun


def _leave_signals_to_the_parent() -> None:
    """An interrupt from the terminal reaches all processes: the parent ends the workers, and says why."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


Outcome = Callable[[], tuple[Row, float]]  # what `_measure` returns, once it is there


@contextmanager
def _workers(baselines: Sequence[Baseline], jobs: int) -> Iterator[Callable[[Trial], Outcome]]:
    """A function that starts a trial on one of so many processes, which inherit the traces; in this one, it runs when
    its outcome is taken.
    """
    global _baselines
    _baselines = baselines
    try:
        if jobs == 1:
            yield lambda trial: partial(_measure, trial)
        else:
            with get_context("fork").Pool(jobs, _leave_signals_to_the_parent) as pool:
                yield lambda trial: pool.apply_async(_measure, (trial,)).get
    finally:
        _baselines = ()


def measure_all(
    baselines: Sequence[Baseline], trials: Sequence[Trial], budget_seconds: float | None, jobs: int = 1
) -> Measured:
    """The trials in their order, until so many CPU seconds are spent; None: all. The first is always measured, and what
    has been started then.
    """
    rows: list[Row] = []
    spent = 0.0
    most = 1 if jobs == 1 else 2 * jobs  # started at a time: no worker waits for the row that is next in order
    started: deque[Outcome] = deque()
    with _workers(baselines, jobs) as start:
        while True:
            while len(started) < most and len(rows) + len(started) < len(trials):
                if rows and budget_seconds is not None and spent >= budget_seconds:
                    break
                started.append(start(trials[len(rows) + len(started)]))
            if not started:
                break
            row, seconds = started.popleft()()
            rows.append(row)
            spent += seconds
    return Measured(tuple(rows), tuple(trials[len(rows) :]))


def trials_of(baselines: Sequence[Baseline], of_each: Sequence[Sequence[Candidate]]) -> list[Trial]:
    """The candidates of some launches, those that could save the most cycles first."""
    trials = [
        (-each.share * baselines[number].timing.cycles, Trial(number, (each.intervention,), each.share))
        for number, some in enumerate(of_each)
        for each in some
    ]
    return [trial for _, trial in sorted(trials)]


def greedy(baseline: Baseline, some: Sequence[Candidate], steps: int, budget_seconds: float | None) -> Iterator[Row]:
    """The best sequence that is found step by step: each adds what makes the launch shortest. A row for each step, of
    all that was added so far. Ends where nothing makes it shorter.
    """
    chosen: tuple[Intervention, ...] = ()
    share, best = 0.0, baseline.timing.cycles
    begun = time.process_time()
    for _ in range(steps):
        found: tuple[Row, Candidate] | None = None
        for each in some:
            if each.intervention in chosen:
                continue
            if budget_seconds is not None and found and time.process_time() - begun >= budget_seconds:
                break
            row = measured(baseline, (*chosen, each.intervention), joined_share(share, each.share))
            if row.cycles_after < best:
                found, best = (row, each), row.cycles_after
        if found is None:
            return
        yield found[0]
        chosen, share = (*chosen, found[1].intervention), joined_share(share, found[1].share)


def joined_share(one: float, other: float) -> float:
    """The part that two parts of the cycles are together, where each is spread evenly over the other."""
    return 1 - (1 - one) * (1 - other)


def curve(baseline: Baseline, candidate: Candidate, mean_wait_cycles: int) -> Iterator[Row]:
    """The launch against how much sooner a place's results come: parts of their mean wait, and at once."""
    what = candidate.intervention
    for part in CURVE_PARTS:
        amount = round(part * mean_wait_cycles)
        if amount:
            yield measured(baseline, [what._replace(amount=amount)], part * candidate.share)
    yield measured(baseline, [what], candidate.share)


def mean_wait_cycles(baseline: Baseline, insts: Sequence[int]) -> int:
    """The mean length of the stalls that instructions ended, in cycles."""
    rows = baseline.causes[np.isin(baseline.causes["cause_pc"], insts)]
    return int(rows["cycles"].sum()) // max(1, int(rows["stalls"].sum()))
