"""A verdict of what a check found in one profile.

Comparison, Outcomes, results, findings, an error ─ entry_of ─> EntryVerdict
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuprof.base.compared_results import ADVICE
from gpuprof.check.causes import cause_text
from gpuprof.check.compare import Comparison, Crossing, LaunchComparison, LineChange
from gpuprof.check.facts import Chain, Facts
from gpuprof.check.found import PlacedFinding, PlacedResult
from gpuprof.check.problem_lines import problem_lines
from gpuprof.check.render import (
    blamed,
    closing,
    comparison_object,
    crossing_text,
    error_object,
    requirements_object,
    wrong_object,
)
from gpuprof.check.requirements import Outcome, outcome_line, outcome_lines, outcome_objects
from gpuprof.check.verdict import BlamedLine, EntryVerdict, LaunchNumbers, Place, Problem
from gpuprof.correlate.identity.launch_names import title
from gpuprof.errors import GpuprofError, NotComparable


@dataclass(frozen=True)
class Checked:
    """All that a check of one profile found. `error`: what ended it; the rest is left out then. `details`: lines before
    the verdict.
    """

    facts: Facts | None = None
    comparison: Comparison | None = None
    outcomes: Sequence[Outcome] = ()
    results: Sequence[PlacedResult] = ()
    findings: Sequence[PlacedFinding] = ()
    error: GpuprofError | None = None
    details: Sequence[str] = ()

    @property
    def wrong(self) -> list[PlacedResult]:
        return [placed for placed in self.results if placed.result.is_wrong]


def entry_of(name: str, file: str, checked: Checked, update: str = "", more: Sequence[Problem] = ()) -> EntryVerdict:
    """The verdict. `update`: the command that writes the baseline again; `more`: problems that something else found,
    such as budgets.
    """
    problems = [*_problems(checked), *more]
    return EntryVerdict(
        name,
        file,
        tuple(problems),
        tuple(_launches(checked)),
        len(checked.facts.launches) if checked.facts else 0,
        cause=_cause(checked),
        update=update,
        closing=closing(checked.comparison) if checked.comparison else "",
        requirements=tuple(outcome_lines(checked.outcomes)),
        details=tuple(checked.details),
        json=_object(checked),
    )


def update_command(profile: Path, baseline: Path | None) -> str:
    """The command that makes a profile the baseline; "" without one."""
    return (
        f"gpuprof check {shlex.quote(str(profile))} --baseline {shlex.quote(str(baseline))} --update"
        if baseline
        else ""
    )


def _cause(checked: Checked) -> str:
    """The cause of what cannot be compared, or of the first regression."""
    if isinstance(checked.error, NotComparable):
        return checked.error.cause
    regressed = checked.comparison.with_verdict("regressed") if checked.comparison else []
    return regressed[0].cause if regressed else ""


def _object(checked: Checked) -> dict:
    if checked.wrong:
        return wrong_object([placed.result for placed in checked.results])
    if isinstance(checked.error, NotComparable):
        return error_object("not comparable", str(checked.error)) | {"cause": checked.error.cause or None}
    if checked.error is not None:
        return error_object("failed", str(checked.error))
    outcomes = outcome_objects(checked.outcomes)
    return comparison_object(checked.comparison, outcomes) if checked.comparison else requirements_object(outcomes)


def _launches(checked: Checked) -> Iterator[LaunchNumbers]:
    if checked.facts is None:
        return
    statuses = {each.key: each.verdict for each in checked.comparison.launches} if checked.comparison else {}
    other = "new" if checked.comparison else "measured"
    for key, launch in checked.facts.launches.items():
        yield LaunchNumbers(title(key, launch.shader_of), statuses.get(key, other), launch.metrics)


def _problems(checked: Checked) -> Iterator[Problem]:
    for placed in checked.wrong:
        yield Problem("wrong results", "", str(placed.result), places=_places(placed.positions))
    if checked.error is not None:
        kind = "not comparable" if isinstance(checked.error, NotComparable) else "failed"
        yield Problem(kind, "", str(checked.error))
    if checked.comparison is not None:
        yield from comparison_problems(checked.comparison)
    yield from requirement_problems(checked.outcomes, checked.findings)
    yield from finding_problems(checked.findings)


def comparison_problems(comparison: Comparison) -> Iterator[Problem]:
    """Launches whose shape changed; what changed more than the rules allow, with the lines it comes from; launches that
    are only on one side.
    """
    for launch in comparison.reshaped:
        yield Problem("reshaped", launch.title, launch.pair.shape_change, places=_kernel(launch))
    for launch in comparison.with_verdict("regressed"):
        for crossing in launch.regressions:
            yield _crossing_problem("regressed", launch, crossing, blamed(crossing), cause_text(launch.cause))
    for launch in comparison.with_verdict("improved"):
        for crossing in launch.improvements:
            saved = crossing.lines[-1:] if crossing.lines and crossing.lines[-1].change.delta < 0 else ()
            yield _crossing_problem("improved", launch, crossing, saved, "")
    for single in comparison.missing:
        yield Problem("missing", single.title, "in the baseline, but not in this profile")
    for single in comparison.added:
        places = _places((single.at,)) if single.at else ()
        yield Problem("new", single.title, "not in the baseline; --update adds it", places=places)
    if not comparison.launches and not comparison.missing:
        yield Problem("not comparable", "", "the baseline and the profile have no launch in common")


def text_report(comparison: Comparison) -> Iterator[str]:
    """Its problems in lines, and a closing sentence."""
    for problem in comparison_problems(comparison):
        yield from problem_lines(problem)
    yield closing(comparison)


def _crossing_problem(
    kind: str, launch: LaunchComparison, crossing: Crossing, lines: Sequence[LineChange], suffix: str
) -> Problem:
    """It points to the first of the lines, and to its kernel where that is in no file of the user's."""
    change = crossing.change
    worst = _places(lines[0].positions) if lines else ()
    return Problem(
        kind,
        launch.title,
        crossing_text(crossing) + suffix,
        change.name,
        change.old,
        change.new,
        crossing.rule.limit,
        (*worst, *(place for place in _kernel(launch) if place not in worst)),
        tuple(map(_blamed_line, lines)) if kind == "regressed" else (),
    )


def requirement_problems(outcomes: Sequence[Outcome], findings: Sequence[PlacedFinding]) -> Iterator[Problem]:
    for outcome in outcomes:
        if not outcome.is_met:
            wanted = outcome.requirement
            counted = [each for each in findings if not wanted.table and wanted.counts(each.found)]
            yield Problem(
                "requirement",
                "",
                outcome_line(outcome),
                metric=wanted.what,
                new=outcome.value,
                limit=f"{wanted.most:g}",
                places=_places(counted[0].positions) if counted else (),
            )


def finding_problems(findings: Sequence[PlacedFinding]) -> Iterator[Problem]:
    """Findings that are no advice, which every profile has."""
    for placed in findings:
        found = placed.found
        if found.severity != ADVICE:
            times = f" ({found.count:,} times)" if found.count > 1 else ""
            message = f"{found.kind}: {found.text}{times}"
            yield Problem("finding", placed.title, message, found.kind, places=_places(placed.positions))


def _blamed_line(line: LineChange) -> BlamedLine:
    change = line.change
    places = _places(line.positions)
    return BlamedLine(line.place, change.name.text, change.old, change.new, line.metric, places)


def _kernel(launch: LaunchComparison) -> tuple[Place, ...]:
    return _places((launch.at,)) if launch.at else ()


def _places(positions: Chain) -> tuple[Place, ...]:
    return tuple(Place(*position) for position in positions)
