"""gpuprof export: a profile in another tool's format."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.cli.options.inputs import InputPath
from gpuprof.cli.options.listed_command import ListedCommand
from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.cli.options.outputs import OutputPath, claim, export, force_option
from gpuprof.errors import UsageError
from gpuprof.export import FORMATS

STDOUT = Path("-")
OPEN_STDOUT = Path("/dev/stdout")  # which may be closed
KINDS = {name: export(name) for name in FORMATS}


@click.command(
    "export",
    cls=ListedCommand,
    title="Formats",
    entries={f"{name} ({entry.extension})": entry.text for name, entry in FORMATS.items()},
    short_help="Write a profile in another tool's format.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(*KINDS.values()),
    metavar="NAME",
    help="The file to write; - is stdout, and needs --format.",
)
@click.option("--format", "format_", type=NearChoice(tuple(FORMATS)), help="Default: by the extension of NAME.")
@click.option(
    "--against",
    type=InputPath(),
    metavar="FILE",
    help="The profile to show differences from, for the formats that do.",
)
@force_option
def command(file: Path, output: Path, format_: str | None, against: Path | None, force: bool):
    """Write the profile in FILE (.gprec or .gpudb) in a format that other tools read.

    \b
    gpuprof export saxpy.gprec -o saxpy.folded
    gpuprof export saxpy.gprec -o - --format folded | flamegraph.pl > saxpy.svg
    """
    from gpuprof.base.output_targets import target_of
    from gpuprof.correlate.database import reading
    from gpuprof.export.write_export import format_of, write

    format_ = format_ or format_of(output)
    if FORMATS[format_].needs_other != (against is not None):
        what = "takes no --against" if against else "shows differences: give --against FILE"
        raise UsageError(f"the format {format_} {what}")
    if output == STDOUT:
        target_of(OPEN_STDOUT)
    else:
        claim(output, KINDS[format_], [file, *([against] if against else [])], force)
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
