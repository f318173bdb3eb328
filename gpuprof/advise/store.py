"""Advice as rows of a database."""

import sqlite3
from collections.abc import Iterable

from gpuprof.advise.advise import Advised
from gpuprof.correlate.correlate import insert
from gpuprof.tables.measured import ADVICE
from gpuprof.whatif.rows import label


def add_advice(database: sqlite3.Connection, found: Iterable[Advised]) -> None:
    for kernel in found:
        insert(database, ADVICE, (_row(kernel, rank) for rank in range(1, len(kernel.advice) + 1)))


def _row(kernel: Advised, rank: int) -> tuple:
    each = kernel.advice[rank - 1]
    draft = each.draft
    return (
        *(kernel.launch, rank, draft.topic, draft.place, draft.path, draft.line),
        *(draft.evidence, draft.change, draft.sketch, draft.refuted_by),
        " + ".join(map(label, each.interventions)),
        *(each.cycles_before, each.cycles_after),
    )
