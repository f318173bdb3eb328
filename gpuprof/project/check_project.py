"""The check of a project: its entries collected, or found in the cache, and judged.

Project ─ collect_entries ─> databases ─ judged, against a baseline or another revision's ─> EntryVerdicts
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from gpuprof.base.inputs import BASELINE, is_regular, read_input
from gpuprof.check.baseline import write_baseline
from gpuprof.check.budgets import BudgetOutcome, measure_budgets, unmatched
from gpuprof.check.check_profile import check_profile
from gpuprof.check.entry import Checked, entry_of
from gpuprof.check.facts import Facts, Position, measure
from gpuprof.check.requirements import parse_requirement
from gpuprof.check.rules import DEFAULT, parse_rule
from gpuprof.check.verdict import CheckReport, EntryVerdict, Place, Problem
from gpuprof.correlate.database import reading
from gpuprof.errors import GpuprofError, NotComparable, UsageError
from gpuprof.project.entry import Entry
from gpuprof.project.entry_run import Collected

NO_ERRORS = "findings<=0"  # what an entry with checkers requires


@dataclass(frozen=True)
class Old:
    """The other side of a comparison: the facts at another `revision`, None where the entry is not there or `failure`
    says why it could not be run; or `file`, a baseline that may not be there.
    """

    facts: Facts | None = None
    file: Path | None = None
    revision: str = ""
    failure: str = ""

    @property
    def source(self) -> Facts | Path | None:
        if self.facts is not None or self.file is None or not self.file.is_file():
            return self.facts
        return Path(os.path.relpath(self.file))


def chosen(entries: Sequence[Entry], patterns: Sequence[str]) -> list[Entry]:
    """The entries whose names one of the patterns has; all where there are none. Raises UsageError for a pattern
    without an entry.
    """
    for pattern in patterns:
        if not any(fnmatchcase(entry.name, pattern) for entry in entries):
            names = ", ".join(entry.name for entry in entries[:10])
            raise UsageError(f"--entry {pattern!r}: no entry has such a name; there are: {names}")
    return [entry for entry in entries if not patterns or any(fnmatchcase(entry.name, pattern) for pattern in patterns)]


def judged(collected: Sequence[Collected], old_of: Callable[[Entry], Old], missing: Sequence[str] = ()) -> CheckReport:
    """The verdicts on entries, in their order. `missing`: entries that only the other revision has; they fail nothing,
    since taking one out is an edit of the project's file.
    """
    gone = (
        EntryVerdict(name, "", (Problem("removed", "", "the entry is not in the project any more"),))
        for name in missing
    )
    return CheckReport((*(_judged(each, old_of(each.entry)) for each in collected), *gone))


def _judged(collected: Collected, old: Old) -> EntryVerdict:
    entry = collected.entry
    update = f"gpuprof check --update --entry {entry.name}" if old.file else ""
    if collected.database is None:
        return entry_of(
            entry.name, entry.file, Checked(error=GpuprofError(collected.failure), details=collected.details), update
        )
    rules = [parse_rule(text) for text in entry.fail_on or DEFAULT]
    requirements = [parse_requirement(text) for text in required_of(entry)]
    checked = check_profile(
        collected.database, old.source, rules, requirements, entry.strict_shape, shown=Path(entry.file)
    )
    more = list(_more_problems(entry, checked, collected.database, old))
    verdict = entry_of(entry.name, entry.file, checked, update, more)
    if entry.ratchet:
        verdict = replace(verdict, problems=tuple(map(_ratcheted, verdict.problems)))
    return replace(verdict, is_cached=collected.is_cached)


def required_of(entry: Entry) -> list[str]:
    """The requirements of an entry: a checker's errors fail it, unless it says how many there may be."""
    says_how_many = any(text.startswith("findings") for text in entry.required)
    return [*entry.required, *([NO_ERRORS] if entry.checkers and not says_how_many else [])]


def _more_problems(entry: Entry, checked: Checked, database: Path, old: Old) -> Iterator[Problem]:
    if checked.error is not None or checked.facts is None:
        return
    if old.source is None:
        yield _nothing_to_compare(entry, old)
    if not entry.budgets:
        return
    try:
        with reading(database) as opened:
            outcomes = measure_budgets(opened, entry.budgets, checked.facts.launches)
    except NotComparable as error:
        yield Problem("not comparable", "", str(error))
        return
    for outcome in outcomes:
        if not outcome.is_met:
            yield _over_budget(outcome, checked.facts.launches[outcome.launch].at)
    for pattern in unmatched(entry.budgets, checked.facts.launches):
        yield Problem("not comparable", "", f"no kernel or launch has the name {pattern!r} of a budget")


def _nothing_to_compare(entry: Entry, old: Old) -> Problem:
    if old.failure:
        return Problem("not comparable", "", f"could not be run at {old.revision}: {old.failure}")
    if old.revision:
        return Problem("new", "", f"the entry is not in the project at {old.revision}")
    is_judged = bool(entry.budgets or required_of(entry))
    message = f"there is no baseline yet; `gpuprof check --update --entry {entry.name}` writes it"
    return Problem("new" if is_judged else "not comparable", "", message)


def _over_budget(outcome: BudgetOutcome, kernel_at: Position | None) -> Problem:
    budget = outcome.budget
    path, _, line = outcome.place.rpartition(":")
    message = f"{budget.name} {outcome.value_text}, budget {budget.text.removeprefix(budget.name).strip()}"
    places = (Place(path, int(line)),) if line.isdecimal() else ()
    places += (Place(*kernel_at),) if kernel_at else ()
    return Problem(
        "budget", str(outcome.launch), message, budget.name, new=outcome.value, limit=budget.text, places=places
    )


def _ratcheted(problem: Problem) -> Problem:
    """An improvement that the baseline does not have fails."""
    if problem.kind != "improved":
        return problem
    return replace(problem, kind="ratchet", message=f"{problem.message}; book it in the baseline")


def write_baselines(collected: Sequence[Collected]) -> Iterator[tuple[Entry, str]]:
    """Writes the baseline of each entry that ran and computed what it should; each with what became of it: written,
    unchanged, or why it was not written.
    """
    for each in collected:
        if each.database is None:
            yield each.entry, f"failed: {each.failure}"
            continue
        checked = check_profile(each.database, None, (), (), shown=Path(each.entry.file))
        wrong = [placed for placed in checked.results if placed.result.is_wrong]
        if wrong:
            yield each.entry, f"results differ: {wrong[0].result}"
        elif checked.error is not None or checked.facts is None:
            yield each.entry, str(checked.error)
        else:
            yield each.entry, _written(each.entry.baseline, checked.facts)


def _written(baseline: Path, facts: Facts) -> str:
    before = read_input(baseline, BASELINE) if is_regular(baseline) else None
    write_baseline(baseline, facts)
    return "unchanged" if read_input(baseline, BASELINE) == before else "written"


def facts_of(collected: Collected) -> Facts:
    """Raises NotComparable where the entry could not be run."""
    if collected.database is None:
        raise NotComparable(collected.failure)
    with reading(collected.database) as database:
        return measure(database, Path(collected.entry.file))
