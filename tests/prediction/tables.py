"""The tables of docs/prediction.md, from points that were judged."""

import textwrap
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gpuprof.predict.mapping import IDENTITY, Pair, errors, fit, leave_one_out
from tests.paths import DOCS
from tests.prediction.judge import BUFFER, LAUNCH, LEVELS, TEST, Judged, Point

PAGE = DOCS / "prediction.md"
BEGIN, END = "<!-- judged: begin -->", "<!-- judged: end -->"
P90 = 0.9
PROSE_COLUMNS = 99


def tables(judged: Judged) -> str:
    of_level = {level: [point for point in judged.points if point.level == level] for level in LEVELS}
    kernels = of_level[LAUNCH]
    parts = [
        _table("what is predicted", [(f"{level}, identity", points) for level, points in of_level.items()]),
        *(
            _levels(level, pairs)
            for level, pairs in (("command buffer", judged.buffers), ("test", judged.tests))
            if pairs
        ),
        _table("command buffers of", list(_grouped(of_level[BUFFER], lambda point: point.name))),
        _table("family", list(_grouped(kernels, lambda point: point.family))),
        _table("chip", list(_grouped([*kernels, *of_level[TEST]], lambda point: point.chip))),
        _error_bars(kernels),
        _far([*kernels, *of_level[TEST]]),
        _refusals(judged),
    ]
    return "\n\n".join(parts)


def _grouped(points: Sequence[Point], key: Callable[[Point], str]) -> Iterator[tuple[str, list[Point]]]:
    for name in dict.fromkeys(map(key, points)):
        yield name, [point for point in points if key(point) == name]


def _table(head: str, rows: Sequence[tuple[str, Sequence[Point]]]) -> str:
    lines = [
        f"| {head} | points | mean error | p90 | naive: mean error | bottleneck right |",
        "|---|---|---|---|---|---|",
    ]
    for name, points in rows:
        if points:
            found = np.array([point.error for point in points])
            naive = np.array([point.naive_error for point in points])
            lines.append(
                f"| {name} | {len(points)} | {percent(found.mean())} | {percent(np.quantile(found, P90))} "
                f"| {percent(naive.mean())} | {_right(points)} |"
            )
    return "\n".join(lines)


def _levels(level: str, pairs: Sequence[Pair]) -> str:
    rows = {
        "identity": errors(pairs, IDENTITY),
        "fitted": errors(pairs, fit(pairs)),
        "leave one chip out": leave_one_out(pairs, "chip"),
        "leave one test out": leave_one_out(pairs, "test"),
    }
    lines = [f"| mapping of a {level} | points | mean error | p90 |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {len(found)} | {percent(found.mean())} | {percent(np.quantile(found, P90))} |"
        for name, found in rows.items()
    ]
    return "\n".join(lines)


def _far(points: Sequence[Point]) -> str:
    """The ten that are furthest off."""
    lines = ["| furthest off | chip | simulated us | predicted us | unit named | unit that saves most |"]
    lines.append("|---|---|---|---|---|---|")
    for point in sorted(points, key=lambda point: -point.error)[:10]:
        best = next(iter(point.shares or ()), "")
        lines.append(
            f"| {point.name} | {point.chip} | {point.simulated:.2f} | {point.predicted:.2f} | {point.unit} | {best} |"
        )
    return "\n".join(lines)


def _error_bars(points: Sequence[Point]) -> str:
    """How often the truth lies within bars that a chip's own errors had no part in."""
    held = {}
    for chip, own in _grouped(points, lambda point: point.chip):
        others = [point.error for point in points if point.chip != chip]
        bar = np.quantile(others, P90) if others else np.nan
        held[chip] = np.array([point.error <= bar for point in own])
    mean = np.mean([inside.mean() for inside in held.values()])
    worst = min(held, key=lambda chip: held[chip].mean())
    return textwrap.fill(
        f"Error bars that hold nine of ten launches of the other chips hold {percent(mean)} of a chip's, "
        f"on average, and {percent(held[worst].mean())} of those of {worst}, the least.",
        PROSE_COLUMNS,
    )


def _refusals(judged: Judged) -> str:
    same = sum(bool(each.simulated) == bool(each.predicted) for each in judged.refusals)
    return textwrap.fill(
        f"Pairs of a kernel and a chip that cannot run it, or is said not to: {len(judged.refusals)}. The prediction "
        f"and the simulation agree on {same}.",
        PROSE_COLUMNS,
    )


def _right(points: Sequence[Point]) -> str:
    checked = [point for point in points if point.shares is not None]
    return f"{sum(point.is_right for point in checked)} of {len(checked)}" if checked else ""


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def with_tables(page: str, text: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with other tables between two marks."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"
