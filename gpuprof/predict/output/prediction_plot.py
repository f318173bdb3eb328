"""A plot of score against cost in the terminal."""

from collections.abc import Iterator

import numpy as np

WIDTH, HEIGHT = 64, 16  # cells, at most
LABEL = 10  # cells before the plot
LEGEND = "# score (upwards) by cost (to the right); *: no other point beats it"


def scatter(cost: np.ndarray, score: np.ndarray, front: np.ndarray, page_width: int | None = None) -> Iterator[str]:
    """Lines of the plot: `.` is a point, `*` one on the front. They fit a page, unless it is too narrow for any
    plot.
    """
    known = ~np.isnan(score)
    if not known.any():
        return
    width = WIDTH if page_width is None else min(WIDTH, max(page_width - LABEL, LABEL))
    columns, rows = _cells(cost, known, width), _cells(score, known, HEIGHT)
    yield LEGEND
    grid = [[" "] * width for _ in range(HEIGHT)]
    for index in np.flatnonzero(known).tolist():
        grid[HEIGHT - 1 - rows[index]][columns[index]] = "."
    for index in front.tolist():
        grid[HEIGHT - 1 - rows[index]][columns[index]] = "*"
    low, high = score[known].min(), score[known].max()
    for number, line in enumerate(grid):
        label = {0: f"{high:.2f}", HEIGHT - 1: f"{low:.2f}"}.get(number, "")
        yield f"{label:>8} |{''.join(line)}".rstrip()
    first, last = f"{cost[known].min():,.6g}", f"{cost[known].max():,.6g}"
    yield " " * (LABEL - 1) + "+" + "-" * width
    yield " " * LABEL + first + " " * max(1, width - len(first) - len(last)) + last


def _cells(values: np.ndarray, known: np.ndarray, cells: int) -> np.ndarray:
    low, high = values[known].min(), values[known].max()
    share = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return np.nan_to_num(np.minimum(share * cells, cells - 1)).astype(int)
