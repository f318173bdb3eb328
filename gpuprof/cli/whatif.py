"""gpuprof whatif: launches timed again with one thing changed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuprof.cli.options.arguments import WithArguments
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import CHIPS, LIST, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.sources import SOURCE_OPTIONS, TIMED_AGAIN, claim_outputs, recording_of, seconds_of
from gpuprof.cli.options.value_types import NearChoice

if TYPE_CHECKING:
    from gpuprof.whatif.result import WhatIf

SCOPES = ("line", "instruction", "loop", "function")
OWN = (
    Option("--line", "line", "Only at this line of the source.", metavar="FILE:N", group=SELECTION),
    Option("--by", "scope", f"What is changed at a time: {', '.join(SCOPES)}.",
           type=NearChoice(SCOPES), group=SELECTION, default="line"),
    Option("--only", "kinds", "Only this kind of change (docs/whatif.md). Repeatable.",
           metavar="KIND", form=LIST, group=SELECTION),
    Option("--greedy", "steps", "Find the best sequence of up to N changes.",
           metavar="N", type=click.IntRange(1, 20), group=SELECTION),
    Option("--curve", "curve", "Show the launch's cycles against how much sooner a line's results come.",
           form=SWITCH, group=SELECTION),
    Option("--all", "everything", "Measure everything that costs 1%, however long it takes.",
           form=SWITCH, group=SELECTION),
    Option("--budget", "budget", "CPU seconds to measure for, the largest bounds first.",
           metavar="60s", type=str, group=SELECTION, default="60s"),
    Option("--jobs", "jobs", "Processes to measure on.",
           metavar="N", type=click.IntRange(1, 64), group=CHIPS, default=1),
    *TIMED_AGAIN,
    *SOURCE_OPTIONS,
)  # fmt: skip


@click.command("whatif", cls=WithArguments, short_help="Measure what a change would bring, on the same emulation.")
@click.argument("file", type=click.Path(path_type=Path))
@options("whatif", *OWN)
def command(file: Path, given: Given):
    """Time the launches of FILE again, each time with one thing changed: the loads of a line hit the cache, its
    accesses are packed, its bank conflicts are gone, no warp waits at a barrier, a unit is twice as fast.

    FILE is a recording of `collect --save-stream`, or a file that `collect` runs, with its options. The kernels are
    emulated once; the same model times every change. `bound` is what the ledger charges to what is changed.

    \b
    gpuprof whatif transpose.cu --chip h100
    gpuprof whatif matmul.gprec --line matmul.cu:31 --curve
    gpuprof whatif matmul.gprec --greedy 3
    """
    from gpuprof.whatif.whatif import check_kinds, check_line

    check_kinds(given.kinds)
    if given.line:
        check_line(given.line)
    budget_seconds = None if given.everything else seconds_of(given.budget)
    claim_outputs(file, given)
    with recording_of(file, given) as recording:
        found = measure(recording, file, given, budget_seconds)
        if given.output:
            save(found, recording, given.output)
    show(found, given)


def measure(recording: Path, file: Path, given: Given, budget_seconds: float | None) -> "WhatIf":
    from gpuprof.base.stages import stage
    from gpuprof.correlate.database import reading
    from gpuprof.whatif.choose import choose
    from gpuprof.whatif.fidelity import words_on
    from gpuprof.whatif.prepare import prepare
    from gpuprof.whatif.result import WhatIf
    from gpuprof.whatif.whatif import Asked, best_sequence, check_reached, curves, search

    with reading(recording) as database:
        chosen = choose(database, given.kernel, given.launch)
        (chip,) = database.execute("SELECT value FROM meta WHERE key = 'chip'").fetchone()
        fidelity = tuple(words_on(database, each.launch) for each in chosen)
    baselines = prepare(recording, chosen, given.trace_file)
    if given.line:
        check_reached(baselines, given.line)
    asked = Asked(given.line or "", given.kinds, given.scope, budget_seconds, given.jobs)
    with stage("measuring"):
        if given.steps:
            rows, left = best_sequence(baselines, asked, given.steps), ()
        elif given.curve:
            rows, left = curves(baselines, asked), ()
        else:
            rows, left = search(baselines, asked)
            rows = tuple(sorted(rows, key=lambda row: -row.speedup))
    return WhatIf(str(file), chip, chosen, fidelity, rows, left)


def save(found: "WhatIf", recording: Path, output: Path) -> None:
    from gpuprof.correlate.correlate import correlate
    from gpuprof.whatif.store import add_rows

    correlate(recording, output, lambda database: add_rows(database, found.rows))


def show(found: "WhatIf", given: Given) -> None:
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write
    from gpuprof.whatif.result import as_json
    from gpuprof.whatif.screen import lines

    if given.is_json:
        click.echo(as_json(found))
        return
    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    write(lines(found, look_for(console, given.width)), console)
