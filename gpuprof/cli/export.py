"""gpuprof export: a profile in another tool's format."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, export
from gpuprof.cli.options.value_types import InputPath, NearChoice
from gpuprof.errors import UsageError
from gpuprof.export import FORMATS

STDOUT = Path("-")
OPEN_STDOUT = Path("/dev/stdout")  # which may be closed
KINDS = {name: export(name) for name in FORMATS}
OWN = (
    Option("-o --output", "output", "The file to write; - is stdout, and needs --format.",
           metavar="NAME", type=OutputPath(*KINDS.values()), is_required=True, group=OUTPUT),
    Option("--format", "format_", "The format to write.",
           type=NearChoice(tuple(FORMATS)), usual="by the extension of NAME", group=OUTPUT),
    Option("--against", "against", "The profile to show differences from, for the formats that do.",
           metavar="FILE", type=InputPath(), group=OUTPUT),
)  # fmt: skip


@click.command(
    "export",
    cls=GroupedCommand,
    title="Formats",
    entries={f"{name} ({entry.extension})": entry.text for name, entry in FORMATS.items()},
    short_help="Write a profile in another tool's format.",
)
@click.argument("file", type=click.Path(path_type=Path))
@options("export", *OWN)
def command(file: Path, given: Given):
    """Write the profile in FILE (.gprec or .gpudb) in a format that other tools read.

    \b
    gpuprof export saxpy.gprec -o saxpy.folded
    gpuprof export saxpy.gprec -o - --format folded | flamegraph.pl > saxpy.svg
    """
    from gpuprof.base.output_targets import target_of
    from gpuprof.correlate.database import reading
    from gpuprof.export.write_export import format_of, write

    output, against = given.output, given.against
    format_ = given.format_ or format_of(output)
    if FORMATS[format_].needs_other != (against is not None):
        what = "takes no --against" if against else "shows differences: give --against FILE"
        raise UsageError(f"the format {format_} {what}")
    if output == STDOUT:
        target_of(OPEN_STDOUT)
    else:
        claim(output, KINDS[format_], [file, *([against] if against else [])], given.force)
    with reading(file) as db, reading(against) if against else nullcontext() as other:
        with output_to(output) as path, stage(f"writing {output.name}"):
            write(db, path, format_, other)
        notice_unfinished(db, file)


def output_to(output: Path) -> AbstractContextManager[Path]:
    """Gives the name to write to."""
    from gpuprof.base.files import handing_over, replacing

    return handing_over(sys.stdout.buffer) if output == STDOUT else replacing(output)


def notice_unfinished(database, file: Path) -> None:
    """A file in another format cannot say that its recording was cut off."""
    from gpuprof.isa.printing.printable import printable

    meta = dict(database.execute("SELECT key, value FROM meta"))
    if meta["complete"] != "1":
        why = meta["damage"] or meta["marks"] or "no end"
        click.echo(printable(f"gpuprof: {file} is not complete ({why}): the export is of what was recorded"), err=True)
