"""Files that are no profiles: they are collected first, with the options of `collect` that a command has."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from gpuprof.cli.options.arguments import arguments_after_dashes
from gpuprof.cli.options.option import (
    COMPILER,
    LAUNCHES,
    OUTPUT,
    SELECTION,
    SWITCH,
    Given,
    Option,
    default_of,
    is_given,
)
from gpuprof.cli.options.outputs import OutputPath, claim, database, traces
from gpuprof.cli.options.recorded_line import words_of
from gpuprof.cli.options.table import OPTIONS

COLLECTED = "collect"  # whose options are those of sources, too
WITH_DIFF = frozenset((COLLECTED, "diff"))
# Options of `collect` that say what runs, for commands that neither sample nor leave out blocks.
SOURCE_OPTIONS: tuple[Option, ...] = tuple(
    row
    for row in OPTIONS
    if set(row.commands.split()) >= WITH_DIFF
    and (row.group in (LAUNCHES, COMPILER) or row.name == "seed")
    and row.name != "sample_blocks"
)
# Options of commands that time launches of a recording again.
TIMED_AGAIN = (
    Option("--kernel", "kernel", "Only kernels whose name matches this regular expression.",
           metavar="RE", group=SELECTION, usual="those with 5% of the cycles and more"),
    Option("--launch-index", "launch", "Only launch N; the first is 0.",
           metavar="N", type=click.IntRange(min=0), group=SELECTION, usual="the longest of each kernel"),
    Option("--traces", "trace_file", "Take the traces of the launches from a file; it is written where it is missing: "
           "the next time nothing is emulated.", metavar="NAME.gptrace", type=OutputPath(traces), group=OUTPUT),
    Option("--json", "is_json", "Print JSON.", form=SWITCH, group=OUTPUT),
    Option("-o --output", "output", "Also write the profile with what was measured as a database: `report` and `view` "
           "show it.", metavar="NAME.gpudb", type=OutputPath(database), group=OUTPUT),
    Option("--force", "force", "Overwrite a file of another kind.", form=SWITCH, group=OUTPUT),
    Option("--width", "width", "Columns per line.",
           metavar="N", type=click.IntRange(min=20), usual="the terminal's", group=OUTPUT),
)  # fmt: skip


def is_source(file: Path) -> bool:
    """True for a file that `collect` runs; one that is neither that nor a profile is refused when it is read."""
    from gpuprof.correlate.database import SQLITE_MAGIC, read_start
    from gpuprof.records.schema import MAGIC

    if read_start(file).startswith((MAGIC[:5], SQLITE_MAGIC)):
        return False
    from gpuprof.run.collected_profile import runs

    return runs(file)


def collecting_words(given: Given) -> list[str]:
    """The options that sources are collected with."""
    found = []
    for row in given.options:
        value = getattr(given, row.name)
        if COLLECTED in row.commands.split() and row.name != "force" and value != default_of(row, COLLECTED):
            found += words_of(row._replace(shown=str), value) if is_given(value) else []
    return found


def collect(file: Path, words: Sequence[str], arguments: Sequence[str], recording: Path) -> Path:
    from gpuprof.isa.printing.printable import printable
    from gpuprof.run import collected_profile

    if not collected_profile.collect(file, words, arguments, recording):
        click.echo(printable(f"gpuprof: {file}: its run failed; what it recorded is used"), err=True)
    return recording


def seconds_of(text: str) -> float:
    """ "90s", "2m" or a plain number, in seconds. Raises UsageError for anything else."""
    from gpuprof.errors import UsageError

    unit = {"s": 1, "m": 60}.get(text[-1:])
    number = text[:-1] if unit else text
    if not number.replace(".", "", 1).isdigit():
        raise UsageError(f"--budget {text}: expected seconds or minutes, as in 60s or 2m")
    return float(number) * (unit or 1)


def claim_outputs(file: Path, given: Given) -> None:
    """Checks, before any work, the outputs of TIMED_AGAIN. A file of traces that is there is read."""
    from gpuprof.run.trace_file.read import holds_traces

    if given.output:
        claim(given.output, database, [file], given.force)
    if given.trace_file and not holds_traces(given.trace_file):
        claim(given.trace_file, traces, [file, *filter(None, [given.output])], given.force)


@contextmanager
def recording_of(file: Path, given: Given) -> Iterator[Path]:
    """A recording with a command stream: the file itself, or made of it."""
    from gpuprof.base.scratch import temporary_folder
    from gpuprof.errors import UsageError

    words, arguments = collecting_words(given), arguments_after_dashes()
    if not is_source(file):
        if words or arguments:
            what = words[0] if words else "what follows --"
            raise UsageError(f"{what} is for a file that is collected, and {file} is a profile; leave it out")
        yield file
        return
    with temporary_folder() as folder:
        yield collect(file, [*words, "--save-stream"], arguments, folder / "collected.gprec")
