"""The mean error of whole kernels, with each family and card weighted alike."""

import statistics
from collections.abc import Sequence

from gpuprof.chips.fidelity.published_kernels import Row, by, errors


def balanced_error(rows: Sequence[Row]) -> float | None:
    """The mean error, averaged within each family and card, then within families, then over families; None of no
    rows.
    """
    known = errors(rows)
    there = [row for row in rows if (row.id, row.compiler) in known]
    families = []
    for members in by(lambda row: row.family, there).values():
        cards = by(lambda row: row.card, members).values()
        families.append(
            statistics.fmean(statistics.fmean(known[row.id, row.compiler] for row in card) for card in cards)
        )
    return statistics.fmean(families) if families else None
