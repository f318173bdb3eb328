"""Advice on the kernels of a recording."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.advise.case import read_case
from gpuprof.advise.draft import Advice
from gpuprof.advise.measure import measured
from gpuprof.advise.rules import drafts
from gpuprof.whatif.baseline import Baseline
from gpuprof.whatif.choose import Chosen


class Advised(NamedTuple):
    """A kernel with its advice, the largest gain first. n_drafts: what the rules found. fidelity: how far the model is
    off for kernels like it, "" unknown.
    """

    chosen: Chosen
    fidelity: str
    advice: tuple[Advice, ...]
    n_drafts: int

    @property
    def launch(self) -> int:
        return self.chosen.launch


def advise(
    database: sqlite3.Connection,
    chosen: Sequence[Chosen],
    baselines: Sequence[Baseline],
    fidelity: Sequence[str],
    budget_seconds: float | None,
) -> tuple[Advised, ...]:
    """Advice on each chosen launch. budget_seconds: of CPU, for each kernel."""
    found = []
    for each, baseline, words in zip(chosen, baselines, fidelity, strict=True):
        case = read_case(database, baseline)
        some = drafts(case)
        found.append(Advised(each, words, tuple(measured(case, some, budget_seconds)), len(some)))
    return tuple(found)
