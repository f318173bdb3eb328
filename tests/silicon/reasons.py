"""Why rows are far off: outside 0.6 to 1.6 of what is published. The first pattern that an id has gives the reason."""

from collections.abc import Sequence
from fnmatch import fnmatch

from gpuprof.chips.fidelity.published_kernels import HIGH, LOW, Row, ratios

REASONS: tuple[tuple[str, str], ...] = (
    (
        "rtx3080-nv-mat_mat_mul-279",
        "unknown: each of its 20 waits is a way to DRAM in the model, and as long as a hit in the L2 on the card",
    ),
)


def with_reasons(rows: Sequence[Row]) -> list[Row]:
    """The rows, with their reasons where they are far off; of rows that do not run, the reason stays."""
    known = ratios(rows)
    return [
        row
        if row.model_cycles is None
        else row._replace(reason="" if LOW <= known[row.id, row.compiler] <= HIGH else named(row.id))
        for row in rows
    ]


def named(id: str) -> str:
    """The reason of a row; "" where none is named."""
    return next((text for pattern, text in REASONS if fnmatch(id, pattern)), "")
