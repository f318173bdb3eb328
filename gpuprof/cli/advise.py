"""gpuprof advise: what to change next, each piece with its measured gain."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuprof.cli.options.arguments import WithArguments
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.cli.options.sources import SOURCE_OPTIONS, TIMED_AGAIN, claim_outputs, recording_of, seconds_of

if TYPE_CHECKING:
    from gpuprof.advise.advise import Advised

OWN = (
    Option("--budget", "budget", "CPU seconds to measure for, of each kernel.",
           metavar="60s", type=str, group=SELECTION, default="60s"),
    Option("--brief", "is_brief", "Print at most 2,400 characters a kernel, with stable keys: for agents.",
           form=SWITCH, group=OUTPUT),
    *TIMED_AGAIN,
    *SOURCE_OPTIONS,
)  # fmt: skip


@click.command("advise", cls=WithArguments, short_help="Say what to change next, with the measured gain of each.")
@click.argument("file", type=click.Path(path_type=Path))
@options("advise", *OWN)
def command(file: Path, given: Given):
    """Say what to change in the kernels of FILE: at most ten pieces for each, the largest gain first.

    FILE is a recording of `collect --save-stream`, or a file that `collect` runs, with its options. Each piece has its
    place, what was counted, the change, a sketch of it, the gain, and what would show it to be wrong. The gain is
    measured: the launch is timed again with what the change takes away (docs/advice.md).

    \b
    gpuprof advise transpose.cu --chip h100
    gpuprof advise matmul.gprec --brief
    """
    from gpuprof.errors import UsageError

    if given.is_brief and given.is_json:
        raise UsageError("--brief and --json are two forms of the same; leave out one of them")
    budget_seconds = seconds_of(given.budget)
    claim_outputs(file, given)
    with recording_of(file, given) as recording:
        found, chip = advised(recording, given, budget_seconds)
        if given.output:
            save(found, recording, given.output)
    show(found, file, chip, given)


def advised(recording: Path, given: Given, budget_seconds: float) -> "tuple[tuple[Advised, ...], str]":
    """The advice, and the chip's name."""
    from gpuprof.advise.advise import advise
    from gpuprof.base.stages import stage
    from gpuprof.correlate.database import reading
    from gpuprof.whatif.choose import choose
    from gpuprof.whatif.fidelity import words_on
    from gpuprof.whatif.prepare import prepare

    with reading(recording) as opened:
        chosen = choose(opened, given.kernel, given.launch)
        (chip,) = opened.execute("SELECT value FROM meta WHERE key = 'chip'").fetchone()
        fidelity = [words_on(opened, each.launch) for each in chosen]
        baselines = prepare(recording, chosen, given.trace_file)
        with stage("measuring"):
            return advise(opened, chosen, baselines, fidelity, budget_seconds), chip


def save(found: "tuple[Advised, ...]", recording: Path, output: Path) -> None:
    from gpuprof.advise.store import add_advice
    from gpuprof.correlate.correlate import correlate

    correlate(recording, output, lambda opened: add_advice(opened, found))


def show(found: "tuple[Advised, ...]", file: Path, chip: str, given: Given) -> None:
    from gpuprof.advise.brief import brief
    from gpuprof.advise.json_text import as_json
    from gpuprof.advise.screen import lines
    from gpuprof.isa.printing.printable import printable
    from gpuprof.report.terminal.report_screen import console_for, look_for, tolerant, write

    if given.is_json:
        click.echo(as_json(found, str(file), chip))
        return
    if given.is_brief:
        click.echo(printable(brief(found, str(file)), keep="\n"))
        return
    tolerant(sys.stdout)
    console = console_for(sys.stdout)
    write(lines(found, chip, look_for(console, given.width)), console)
