"""gpuprof check: a database against a committed baseline."""

from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import LIST, OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.outputs import OutputPath, baseline as baseline_kind, claim

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
    format_option(group=OUTPUT, json="versioned"),
)  # fmt: skip


@click.command("check", cls=GroupedCommand)
@click.argument("profile", metavar="FILE.gpudb|FILE.gprec", type=click.Path(path_type=Path))
@options("check", *OWN)
def command(profile: Path, given: Given):
    """Compare a profile with a committed baseline.

    Exit code 0: within limits. 1: the kernels' results differ from what was expected. 3: a regression, or a broken
    requirement. 4: not comparable, no baseline, a kernel of the baseline is missing, or nothing was measured. The
    numbers are exact: any change comes from the program.
    """
    from gpuprof.base.wording import plural
    from gpuprof.check.baseline import read_baseline, write_baseline
    from gpuprof.check.compare import compare
    from gpuprof.check.facts import measure
    from gpuprof.check.render import diff_table, json_report, requirements_json, text_report
    from gpuprof.check.requirements import measure_requirements, outcome_lines, outcome_objects, parse_requirement
    from gpuprof.check.rules import DEFAULT, parse_rule
    from gpuprof.correlate.database import reading
    from gpuprof.correlate.findings import read_results
    from gpuprof.errors import UsageError
    from gpuprof.isa.printing.printable import printable

    baseline, limits, update, format_ = given.baseline, given.limits, given.update, given.format_
    strict_shape, diff = given.strict_shape, given.diff
    requirements = [parse_requirement(text) for text in given.required]
    if baseline is None and (update or diff or limits or strict_shape or not requirements):
        raise UsageError("give the --baseline to compare with, or nothing but --require, which needs none")
    rules = [parse_rule(limit) for limit in limits or DEFAULT]
    if update and (diff or limits or strict_shape or requirements):
        raise UsageError(
            "--update writes the baseline without comparing; leave out --diff, --fail-on, --require and --strict-shape"
        )
    if given.force and not update:
        raise UsageError("--force overwrites the baseline; give --update, too, or leave it out")
    if update:
        claim(baseline, baseline_kind, [profile], given.force)
    with stage("reading the profile"), reading(profile) as db:
        check_results(read_results(db), profile, format_)
        facts = measure(db, profile)
        outcomes = measure_requirements(db, requirements)
    if update:
        write_baseline(baseline, facts)
        click.echo(
            f"{printable(str(baseline))}: baseline of {plural(len(facts.launches), 'launch', 'launches')} written"
        )
        return
    if baseline is None:
        click.echo(
            requirements_json(outcome_objects(outcomes))
            if format_ == "json"
            else "\n".join(map(printable, outcome_lines(outcomes)))
        )
        judge_requirements(outcomes)
        return
    comparison = compare(read_baseline(baseline), facts, rules, strict_shape)
    if format_ == "json":
        click.echo(json_report(comparison, outcome_objects(outcomes)))
    else:
        for line in [*(diff_table(comparison) if diff else ()), *text_report(comparison), *outcome_lines(outcomes)]:
            click.echo(printable(line))
    judge(comparison, baseline)
    judge_requirements(outcomes)


def check_results(results, profile: Path, format_: str) -> None:
    """Says which results differ, and raises WrongResult: the cycles of a wrong kernel do not count."""
    from gpuprof.base.wording import plural
    from gpuprof.check.render import wrong_json, wrong_text
    from gpuprof.errors import WrongResult
    from gpuprof.isa.printing.printable import printable

    wrong = [result for result in results if result.is_wrong]
    if not wrong:
        return
    if format_ == "json":
        click.echo(wrong_json(results))
    else:
        for line in wrong_text(results):
            click.echo(printable(line))
    raise WrongResult(
        f"{profile}: results differ: {len(wrong)} of {plural(len(results), 'compared array', 'compared arrays')}; "
        "mend the kernel and collect again, then its cycles can be compared"
    )


def judge_requirements(outcomes) -> None:
    """Raises Regression for a requirement that is broken."""
    from gpuprof.check.requirements import outcome_lines
    from gpuprof.errors import Regression

    broken = [outcome for outcome in outcomes if not outcome.is_met]
    if broken:
        first = next(outcome_lines(broken)).removeprefix("broken").strip()
        raise Regression(f"{len(broken)} of {len(outcomes)} required broken: {first}")


def judge(comparison, baseline: Path) -> None:
    """Raise Regression or NotComparable when the comparison is no pass."""
    from gpuprof.check.render import summary
    from gpuprof.errors import NotComparable, Regression

    if comparison.with_verdict("regressed"):
        raise Regression(summary(comparison))
    if comparison.missing:
        names = ", ".join(launch.title for launch in comparison.missing)
        raise NotComparable(
            f"{baseline}: not in this profile: {names}; launch the kernel, or remove it from the baseline with --update"
        )
    if not comparison.launches:
        raise NotComparable(f"{baseline}: no launch in common with this profile; write a new baseline with --update")
