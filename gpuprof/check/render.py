"""The words and JSON values of one comparison, its requirements and its results."""

from collections.abc import Iterator, Sequence

from gpuprof.base.compared_results import Result
from gpuprof.base.wording import plural
from gpuprof.check.compare import Comparison, Crossing, LaunchComparison, LineChange, Single
from gpuprof.check.facts import LINE_SHARE
from gpuprof.compare.changes import Change

JSON_VERSION = 1
MAX_LINES = 5  # blamed for one regression


def closing(comparison: Comparison) -> str:
    n_regressed, n_improved = len(comparison.with_verdict("regressed")), len(comparison.with_verdict("improved"))
    counts = [
        f"{n_regressed} regressed",
        f"{n_improved} improved",
        f"{len(comparison.missing)} missing",
        f"{len(comparison.added)} new",
    ]
    told = ", ".join(count for count in counts if not count.startswith("0 ")) or "all within limits"
    if comparison.reshaped:
        told += f", {len(comparison.reshaped)} with another shape"
    update = "; run with --update to keep the improvement" if n_improved and not n_regressed else ""
    limits = " ".join(rule.text for rule in comparison.rules)
    return f"{plural(len(comparison.launches), 'launch', 'launches')} compared ({limits}): {told}{update}"


def crossing_text(crossing: Crossing) -> str:
    return f"{crossing.change.name} {change_text(crossing.change)}, limit {crossing.rule.limit}"


def change_text(change: Change) -> str:
    return f"{change.old} -> {change.new} ({difference(change)})"


def difference(change: Change) -> str:
    percent = "" if change.percent is None else f", {change.percent:+.1f} %"
    return f"{change.delta:+d}{percent}"


def line_text(place: str, text: str, old: int | None, new: int | None, metric: str) -> str:
    """A line's share in a metric, then and now."""
    was = f"under {LINE_SHARE:.0%}" if old is None else old  # a baseline has no row for it
    now = "gone" if new is None else new
    what = "warp-cycles" if metric == "warp_cycles" else metric
    return f"{place}  {was} -> {now} {what} ({(new or 0) - (old or 0):+d})  {text}"


def blamed(crossing: Crossing) -> list[LineChange]:
    """The lines that have more of the metric than before, the worst first; those that hardly matter are left out."""
    costlier = [line for line in crossing.lines if line.change.delta > 0]
    least = LINE_SHARE * sum(line.change.delta for line in costlier)
    return [line for line in costlier if line.change.delta >= least][:MAX_LINES]


def summary(comparison: Comparison) -> str:
    """One sentence on what regressed, for the error message: the worst rule of the first launch, and its worst line."""
    regressed = comparison.with_verdict("regressed")
    first = regressed[0]
    lines = blamed(first.regressions[0])
    where = f", most at {lines[0].place}" if lines else ""
    where += f", {first.pair.shape_change}" if first.pair.shape_change else ""
    of_all = f"{len(regressed)} of {plural(len(comparison.launches), 'launch', 'launches')} regressed"
    return (
        f"{of_all}: {first.title}: {crossing_text(first.regressions[0])}{where}; if this is intended, run again "
        "with --update"
    )


def diff_table(comparison: Comparison) -> Iterator[str]:
    """Every metric and every changed line of every launch, in aligned columns."""
    for launch in comparison.launches:
        yield "  ".join(filter(None, (launch.title, launch.verdict, launch.pair.shape_change)))
        rows = [(c.name, str(c.old), str(c.new), difference(c) if c.delta else "=") for c in launch.changes]
        yield from aligned([("metric", "baseline", "now", "change"), *rows], "<>><")
        lines = [(line.place, line.change) for line in launch.lines]
        rows = [(place, count(c.old), count(c.new), f"{c.delta:+d}", c.name.text) for place, c in lines]
        if rows:
            yield from aligned([("warp-cycles by line", "baseline", "now", "change", ""), *rows], "<>>><")
        yield ""


def count(number: int | None) -> str:
    return "-" if number is None else str(number)


def aligned(rows: Sequence[Sequence[str]], alignments: str) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{alignment}{width}}" for cell, alignment, width in zip(row, alignments, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def comparison_object(comparison: Comparison, requirements: Sequence[dict] = ()) -> dict:
    """Everything, as a JSON object with a version. `requirements`: of requirements.outcome_objects."""
    verdicts = {launch.verdict for launch in comparison.launches} | ({"missing"} if comparison.missing else set())
    return {
        "version": JSON_VERSION,
        "verdict": next((verdict for verdict in ("regressed", "missing", "improved") if verdict in verdicts), "same"),
        "fail_on": [rule.text for rule in comparison.rules],
        "launches": [_launch_json(launch) for launch in comparison.launches],
        "missing": [_place_json(launch) for launch in comparison.missing],
        "added": [_place_json(launch) for launch in comparison.added],
    } | ({"requirements": list(requirements)} if requirements else {})


def requirements_object(requirements: Sequence[dict]) -> dict:
    """Only requirements: there is no baseline."""
    verdict = "met" if all(each["met"] for each in requirements) else "broken"
    return {"version": JSON_VERSION, "verdict": verdict, "requirements": list(requirements)}


def _place_json(launch: LaunchComparison | Single) -> dict:
    """A launch, and the draw that it is a shader of, where it is one's."""
    if launch.shader_of is None:
        return launch.key._asdict()
    names = ("draw", "name", "pass", "stage")
    return launch.key._asdict() | {"shader_of": dict(zip(names, launch.shader_of, strict=True))}


def _launch_json(launch: LaunchComparison) -> dict:
    return _place_json(launch) | {
        "verdict": launch.verdict,
        "cause": launch.cause or None,
        "shape_changed": {"old": launch.pair.old.shape, "new": launch.pair.new.shape}
        if launch.pair.shape_change
        else None,
        "regressions": [_crossing_json(crossing) for crossing in launch.regressions],
        "improvements": [_crossing_json(crossing) for crossing in launch.improvements],
        "metrics": {change.name: {"old": change.old, "new": change.new} for change in launch.changes},
        "lines": list(map(_line_json, launch.lines)),
    }


def _crossing_json(crossing: Crossing) -> dict:
    change = crossing.change
    of_rule = {"fail_on": crossing.rule.text, "metric": change.name, "old": change.old, "new": change.new}
    return of_rule | {"lines": [{"metric": line.metric} | _line_json(line) for line in crossing.lines]}


def _line_json(line: LineChange) -> dict:
    return {"place": line.place, "text": line.change.name.text, "old": line.change.old, "new": line.change.new}


def wrong_object(results: Sequence[Result]) -> dict:
    """The verdict on kernels whose results differ, with all comparisons."""
    verdict = {"version": JSON_VERSION, "verdict": "results differ"}
    return verdict | {"results": [result._asdict() for result in results]}


def error_object(verdict: str, message: str) -> dict:
    """The verdict on a profile that was not compared."""
    return {"version": JSON_VERSION, "verdict": verdict, "message": message}
