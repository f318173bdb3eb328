"""gpuprof import: a profile that another tool measured, as a database."""

from importlib import import_module
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.base.wording import plural
from gpuprof.cli.options.listed_command import ListedCommand
from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.cli.options.outputs import OutputPath, claim, database, force_option
from gpuprof.errors import UsageError
from gpuprof.importers import FORMATS


@click.command(
    "import",
    cls=ListedCommand,
    title="Formats",
    entries={f"{name} ({entry.extension})": entry.text for name, entry in FORMATS.items()},
    short_help="Read a profile of a real card that another tool measured.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(database),
    help="The database to write.  [default: the file's name with .gpudb]",
)
@click.option("--format", "format_", type=NearChoice(tuple(FORMATS)), help="Default: by the extension of FILE.")
@click.option("--no-code", is_flag=True, help="Do not show machine code, for which nvdisasm is started.")
@force_option
def command(file: Path, output: Path | None, format_: str | None, no_code: bool, force: bool):
    """Turn a profile that another tool measured on a card into a database, for reports and exports.

    \b
    gpuprof import matmul.ncu-rep
    gpuprof report matmul.gpudb
    """
    from gpuprof.importers.disassembly import disassembler
    from gpuprof.importers.fill_database import write
    from gpuprof.isa.printing.printable import printable

    format_ = format_ or format_of(file)
    output = output or file.parent / f"{file.stem}.gpudb"
    claim(output, database, [file], force)
    with stage(f"reading {file.name}"):
        profile = import_module(f"gpuprof.importers.{FORMATS[format_].file}").read(
            file, None if no_code else disassembler()
        )
    write(profile, file, output)
    click.echo(
        printable(
            f"{output}: {plural(len(profile.launches), 'launch', 'launches')} on {profile.chip}, by {profile.maker}"
        )
    )


def format_of(path: Path) -> str:
    """The format whose extension the name ends in. Raises UsageError where there is none."""
    found = [name for name, entry in FORMATS.items() if path.name.endswith(entry.extension)]
    if not found:
        known = ", ".join(f"{entry.extension} ({name})" for name, entry in FORMATS.items())
        raise UsageError(f"{path}: the name ends in no format's extension; give --format, or one of {known}")
    return max(found, key=lambda name: len(FORMATS[name].extension))
