"""gpuprof check: a database against a committed baseline."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.check_outputs import chosen_outputs, claim_outputs, output_options, write_outputs
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import LIST, OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.outputs import OutputPath, baseline as baseline_kind, claim
from gpuprof.cli.options.project_check import check_of_file, check_project
from gpuprof.cli.options.project_options import PROJECT_OPTIONS

if TYPE_CHECKING:
    from gpuprof.check.entry import Checked
    from gpuprof.cli.options.check_outputs import Output

OWN = (
    Option("--baseline", "baseline", "The committed text file to compare with; may be left out with --require.",
           type=OutputPath(baseline_kind), group=SELECTION),
    Option("--fail-on", "limits",
           "Fail when a metric grows by more: cycles=1%, cycles=200, or cycles=1%|200 (both exceeded). Repeatable.",
           metavar="METRIC=LIMIT", form=LIST, usual="cycles=1%|200", group=SELECTION),
    Option("--require", "required",
           "Fail when trace generators found more: findings<=0, findings.KIND<=0 or trace.TABLE.COLUMN<=N, the largest "
           "value. Repeatable.",
           metavar="WHAT<=N", form=LIST, group=SELECTION),
    Option("--strict-shape", "strict_shape",
           "Treat a launch whose grid, block or dynamic shared memory changed as a different launch.",
           form=SWITCH, group=SELECTION),
    Option("--update", "update", "Write the baseline instead of comparing with it.", form=SWITCH, group=OUTPUT),
    Option("--diff", "diff", "Also print every metric and every changed line.", form=SWITCH, group=OUTPUT),
    Option("--against", "against", "Compare a project with its state at this revision, instead of with baselines.",
           metavar="REV", group=SELECTION),
    Option("--fresh", "is_fresh", "Collect all entries of a project, also those whose inputs did not change.",
           form=SWITCH, group=SELECTION),
    *PROJECT_OPTIONS,
    *output_options(),
)  # fmt: skip


@click.command("check", cls=GroupedCommand)
@click.argument("profile", metavar="[FILE.gpudb|FILE.gprec]", required=False, type=click.Path(path_type=Path))
@options("check", *OWN)
def command(profile: Path | None, given: Given):
    """Compare a profile with a committed baseline; without FILE, all entries of a project (gpuprof.toml).

    Exit code 0: within limits. 1: the kernels' results differ from what was expected. 3: a regression, or a broken
    requirement. 4: not comparable, no baseline, a kernel of the baseline is missing, or nothing was measured. The
    numbers are exact: any change comes from the program.

    \b
    gpuprof check scan.gprec --baseline scan.toml
    gpuprof check --against origin/main
    gpuprof check --update --entry scan
    """
    if profile is None:
        check_project(given)
        return
    check_of_file(given)
    from gpuprof.check.check_profile import check_profile
    from gpuprof.check.requirements import parse_requirement
    from gpuprof.check.rules import DEFAULT, parse_rule

    requirements = [parse_requirement(text) for text in given.required]
    check_options(given)
    rules = [parse_rule(limit) for limit in given.limits or DEFAULT]
    outputs = chosen_outputs(given)
    if given.update:
        claim(given.baseline, baseline_kind, [profile], given.force)
        with stage("reading the profile"):
            write_update(profile, given.baseline, outputs)
        return
    claim_outputs(outputs, [profile, *([given.baseline] if given.baseline else [])], given.force)
    with stage("reading the profile"):
        checked = check_profile(profile, given.baseline, rules, requirements, given.strict_shape, given.diff)
    report(checked, profile, given.baseline, outputs)
    judge(checked, profile, given.baseline)


def check_options(given: Given) -> None:
    """Raises UsageError for options that exclude each other."""
    from gpuprof.errors import UsageError

    comparing = given.diff or given.limits or given.strict_shape
    if given.baseline is None and (given.update or comparing or not given.required):
        raise UsageError("give the --baseline to compare with, or nothing but --require, which needs none")
    if given.update and (comparing or given.required or given.outputs):
        raise UsageError(
            "--update writes the baseline without comparing; leave out --diff, --fail-on, --output, --require and "
            "--strict-shape"
        )
    if given.force and not (given.update or given.outputs):
        raise UsageError("--force overwrites the baseline or an output; give --update or --output, or leave it out")


def write_update(profile: Path, baseline: Path, outputs: "list[Output]") -> None:
    """Raises WrongResult for kernels whose results differ: their cycles do not count."""
    from gpuprof.base.wording import plural
    from gpuprof.check.baseline import write_baseline
    from gpuprof.check.entry import Checked
    from gpuprof.check.facts import measure
    from gpuprof.check.found import placed_results
    from gpuprof.correlate.database import reading
    from gpuprof.isa.printing.printable import printable

    with reading(profile) as db:
        checked = Checked(results=placed_results(db))
        if checked.wrong:
            report(checked, profile, baseline, outputs)
            judge(checked, profile, baseline)
        facts = measure(db, profile)
    write_baseline(baseline, facts)
    click.echo(f"{printable(str(baseline))}: baseline of {plural(len(facts.launches), 'launch', 'launches')} written")


def report(checked: "Checked", profile: Path, baseline: Path | None, outputs: "list[Output]") -> None:
    """The text on stdout leaves out an error, which stderr has."""
    from gpuprof.check.entry import entry_of, update_command
    from gpuprof.check.verdict import CheckReport

    entry = entry_of(profile.stem, str(profile), checked, update_command(profile, baseline))
    write_outputs(CheckReport((entry,), of_file=True), outputs, has_text=checked.error is None)


def judge(checked: "Checked", profile: Path, baseline: Path | None) -> None:
    """Raises the error of a check that does not pass: WrongResult, Regression, NotComparable, FileFormatError."""
    from gpuprof.base.wording import plural
    from gpuprof.check.render import summary
    from gpuprof.check.requirements import outcome_line
    from gpuprof.errors import NotComparable, Regression, WrongResult

    if checked.wrong:
        n_compared = plural(len(checked.results), "compared array", "compared arrays")
        raise WrongResult(
            f"{profile}: results differ: {len(checked.wrong)} of {n_compared}; mend the kernel and collect again, "
            "then its cycles can be compared"
        )
    if checked.error is not None:
        raise checked.error
    comparison = checked.comparison
    if comparison and comparison.with_verdict("regressed"):
        raise Regression(summary(comparison))
    broken = [outcome for outcome in checked.outcomes if not outcome.is_met]
    if broken:
        raise Regression(f"{len(broken)} of {len(checked.outcomes)} required broken: {outcome_line(broken[0])}")
    if comparison and comparison.missing:
        names = ", ".join(launch.title for launch in comparison.missing)
        raise NotComparable(
            f"{baseline}: not in this profile: {names}; launch the kernel, or remove it from the baseline with --update"
        )
    if comparison and not comparison.launches:
        raise NotComparable(f"{baseline}: no launch in common with this profile; write a new baseline with --update")
