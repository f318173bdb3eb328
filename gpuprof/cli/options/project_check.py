"""gpuprof check without FILE: a project's entries, each collected or found in the cache, and judged.

Given ─ check_project ─> verdicts on stdout and in --output; an error whose exit code is the worst entry's
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuprof.base.scratch import temporary_folder
from gpuprof.cli.options.check_outputs import chosen_outputs, claim_outputs, write_outputs
from gpuprof.cli.options.option import Given, is_given
from gpuprof.cli.options.outputs import baseline, claim
from gpuprof.cli.options.project_keys import run_keys
from gpuprof.errors import OF_EXIT_CODE, GpuprofError, UsageError

if TYPE_CHECKING:
    from gpuprof.check.verdict import CheckReport
    from gpuprof.project.check_project import Old
    from gpuprof.project.collect_revision import How
    from gpuprof.project.entry import Entry
    from gpuprof.project.entry_run import Collected
    from gpuprof.project.project_file import Project

# Options of one profile, and what a project has in their place.
OF_A_FILE = {
    "baseline": "the key baseline of an entry",
    "limits": "the key fail-on",
    "required": "the key require",
    "strict_shape": "the key strict-shape",
    "diff": "`gpuprof diff`",
}
OF_A_PROJECT = ("project", "entries", "jobs", "threads", "against", "is_fresh")


def check_of_file(given: Given) -> None:
    """Raises UsageError for options of a project."""
    for row in given.options:
        if row.name in OF_A_PROJECT and is_given(getattr(given, row.name)):
            raise UsageError(f"{row.flags.split()[0]} is for projects: leave it out, or leave out FILE")


def check_project(given: Given) -> None:
    """Raises UsageError for a project that does not fit, and the error that is its verdict."""
    from gpuprof.project.check_project import chosen
    from gpuprof.project.collect_entries import collect_entries
    from gpuprof.project.collect_revision import How
    from gpuprof.project.project_file import find_project, read_project
    from gpuprof.project.run_cache import RunCache

    _check_options(given)
    project = read_project(given.project or find_project(Path()), run_keys())
    how = How(run_keys(), given.jobs, lambda entries: chosen(entries, given.entries), given.is_fresh)
    entries = how.choose(project.entries)
    outputs = chosen_outputs(given)
    if given.update:
        _claim_baselines(entries, project.file, given.force)
    claim_outputs(outputs, [project.file, *(entry.folder / entry.file for entry in entries)], given.force)
    with temporary_folder() as scratch:
        collected = collect_entries(entries, how.run_keys, RunCache(), scratch, how.jobs, how.is_fresh)
        if given.update:
            _update(collected)
            return
        report = _report(given, project, how, collected)
    write_outputs(report, outputs, folder=project.folder)
    _judge(report)


def _claim_baselines(entries: "Sequence[Entry]", project: Path, force: bool) -> None:
    """Raises UsageError for a baseline that must not be overwritten; makes the folders of the others."""
    for entry in entries:
        entry.baseline.parent.mkdir(parents=True, exist_ok=True)
        claim(entry.baseline, baseline, [project, entry.folder / entry.file], force)


def _check_options(given: Given) -> None:
    flags = {row.name: row.flags.split()[0] for row in given.options}
    for name, instead in OF_A_FILE.items():
        if is_given(getattr(given, name)):
            raise UsageError(f"{flags[name]} is for one FILE; a project has {instead}")
    if given.update and (given.against or given.outputs):
        raise UsageError("--update writes baselines without comparing; leave out --against and --output")


def _report(given: Given, project: "Project", how: "How", collected: "Sequence[Collected]") -> "CheckReport":
    from gpuprof.project.check_project import Old, facts_of, judged
    from gpuprof.project.collect_revision import at_revision
    from gpuprof.project.revisions import Repository

    if not given.against:
        return judged(collected, lambda entry: Old(file=entry.baseline))
    repository = Repository(project.folder)
    commit = repository.commit(given.against)
    with ExitStack() as stack:
        before = stack.enter_context(at_revision(project, repository, commit, how))
        facts = {each.entry.name: facts_of(each) for each in before if each.database}
    failures = {each.entry.name: each.failure for each in before if each.database is None}

    def old_of(entry: "Entry") -> "Old":
        return Old(facts.get(entry.name), failure=failures.get(entry.name, ""), revision=given.against)

    return judged(collected, old_of, missing=sorted({*facts, *failures} - {each.entry.name for each in collected}))


def _update(collected: "Sequence[Collected]") -> None:
    """Raises GpuprofError where an entry could not be run, or computed something else than expected."""
    from gpuprof.isa.printing.printable import printable
    from gpuprof.project.check_project import write_baselines

    failed = []
    for entry, outcome in write_baselines(collected):
        where = os.path.relpath(entry.baseline)
        is_written = outcome in ("written", "unchanged")
        click.echo(printable(f"{where}: {outcome}" if is_written else f"{entry.name}: {outcome}"))
        failed += [] if is_written else [entry.name]
    if failed:
        raise GpuprofError(f"no baseline of {', '.join(failed)} was written; the others are")


def _judge(report: "CheckReport") -> None:
    """Raises the error of the worst entry."""
    from gpuprof.base.wording import plural

    if report.exit_code:
        failed = [entry for entry in report.entries if entry.exit_code]
        worst = next(entry for entry in failed if entry.exit_code == report.exit_code)
        problem = worst.worst_first()[0]
        what = f"{problem.title}: {problem.message}" if problem.title else problem.message
        n_all = plural(len(report.entries), "entry", "entries")
        raise OF_EXIT_CODE[report.exit_code](f"{len(failed)} of {n_all} failed: {worst.name}: {what}")
