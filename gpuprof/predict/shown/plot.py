"""Cost against score in the terminal."""

from collections.abc import Iterator

import numpy as np

WIDTH, HEIGHT = 64, 16


def scatter(cost: np.ndarray, score: np.ndarray, front: np.ndarray) -> Iterator[str]:
    """Lines: `.` is a point, `*` one on the front; the score upwards, the cost to the right."""
    known = ~np.isnan(score)
    if not known.any():
        return
    columns, rows = _places(cost, known, WIDTH), _places(score, known, HEIGHT)
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for place in np.flatnonzero(known).tolist():
        grid[HEIGHT - 1 - rows[place]][columns[place]] = "."
    for place in front.tolist():
        grid[HEIGHT - 1 - rows[place]][columns[place]] = "*"
    low, high = score[known].min(), score[known].max()
    for number, line in enumerate(grid):
        label = {0: f"{high:.2f}", HEIGHT - 1: f"{low:.2f}"}.get(number, "")
        yield f"{label:>8} |{''.join(line)}".rstrip()
    first, last = f"{cost[known].min():,.6g}", f"{cost[known].max():,.6g}"
    yield " " * 9 + "+" + "-" * WIDTH
    yield " " * 10 + first + " " * max(1, WIDTH - len(first) - len(last)) + last


def _places(values: np.ndarray, known: np.ndarray, cells: int) -> np.ndarray:
    low, high = values[known].min(), values[known].max()
    share = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return np.nan_to_num(np.minimum(share * cells, cells - 1)).astype(int)
