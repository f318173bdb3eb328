"""The tables of docs/prediction.md on draws, from points that were judged."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gpuprof.predict.mapping import IDENTITY, errors, fit, leave_one_out
from tests.prediction.draws.judge import DrawPoint, pairs_of
from tests.prediction.draws.stored import ALONE, BUFFER, DRAW, FRAME, LEVELS
from tests.prediction.tables import P90, percent

BEGIN, END = "<!-- judged draws: begin -->", "<!-- judged draws: end -->"
SHOWN = {DRAW: "draw", BUFFER: "command buffer", FRAME: "frame", ALONE: "single draw"}

OF_RULES = ("rule_error", "scaled_rule_error", "error")


def draw_tables(points: Sequence[DrawPoint]) -> str:
    kept = [point for point in points if point.is_kept]
    rest = [point for point in points if not point.is_kept]
    frames = [point for point in points if point.level == FRAME]
    parts = [
        _table("what is predicted, identity", list(_by_level(points))),
        _table("of reserved frames", list(_by_level(kept))),
        _table("of the others", list(_by_level(rest))),
        _rules(points),
        *(_mappings(level, points) for level in (BUFFER, FRAME)),
        _table("frame", list(_grouped(frames, lambda point: point.frame))),
        _table("chip, its frames", list(_grouped(frames, lambda point: point.chip))),
    ]
    return "\n\n".join(parts)


def _by_level(points: Sequence[DrawPoint]) -> Iterator[tuple[str, list[DrawPoint]]]:
    for level in (*LEVELS, ALONE):
        yield SHOWN[level], [point for point in points if point.level == level]


def _rules(points: Sequence[DrawPoint]) -> str:
    lines = [
        "| draw | the rule that holds | points | the rule: mean error | the rule, scaled | predicted |",
        "|---|---|---|---|---|---|",
    ]
    for level in (DRAW, ALONE):
        of_level = sorted((point for point in points if point.level == level), key=lambda point: point.rule)
        for rule, some in _grouped(of_level, lambda point: point.rule):
            found = (np.mean([getattr(point, name) for point in some]) for name in OF_RULES)
            shown = " | ".join(map(percent, found))
            lines.append(f"| {'in a frame' if level == DRAW else 'single'} | {rule} | {len(some)} | {shown} |")
    return "\n".join(lines)


def _grouped(points: Sequence[DrawPoint], key: Callable[[DrawPoint], str]) -> Iterator[tuple[str, list[DrawPoint]]]:
    for name in dict.fromkeys(map(key, points)):
        yield name, [point for point in points if key(point) == name]


def _table(head: str, rows: Sequence[tuple[str, Sequence[DrawPoint]]]) -> str:
    lines = [
        f"| {head} | points | mean error | p90 | rules only: mean error | naive: mean error | bottleneck right |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, points in rows:
        if points:
            found = np.array([point.error for point in points])
            rules, naive = ([getattr(point, each) for point in points] for each in ("rule_error", "naive_error"))
            checked = [point for point in points if point.shares is not None]
            right = f"{sum(point.is_right for point in checked)} of {len(checked)}" if checked else ""
            lines.append(
                f"| {name} | {len(points)} | {percent(found.mean())} | {percent(np.quantile(found, P90))} "
                f"| {percent(np.mean(rules))} | {percent(np.mean(naive))} | {right} |"
            )
    return "\n".join(lines)


def _mappings(level: str, points: Sequence[DrawPoint]) -> str:
    pairs = pairs_of(points, level)
    rows = {
        "identity": errors(pairs, IDENTITY),
        "fitted": errors(pairs, fit(pairs)),
        "leave one chip out": leave_one_out(pairs, "chip"),
        "leave one frame out": leave_one_out(pairs, "test"),
    }
    lines = [f"| mapping of a {SHOWN[level]} of draws | points | mean error | p90 |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {len(found)} | {percent(found.mean())} | {percent(np.quantile(found, P90))} |"
        for name, found in rows.items()
    ]
    return "\n".join(lines)
