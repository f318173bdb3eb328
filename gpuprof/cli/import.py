"""gpuprof import: a profile that another tool measured, as a database."""

from importlib import import_module
from pathlib import Path

import click

from gpuprof.base.stages import stage
from gpuprof.base.wording import plural
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SWITCH, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, database
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError
from gpuprof.importers import FORMATS

OWN = (
    Option("-o --output", "output", "The database to write.",
           type=OutputPath(database), usual="the file's name with .gpudb", group=OUTPUT),
    Option("--format", "format_", "The format of FILE.",
           type=NearChoice(tuple(FORMATS)), usual="by the extension of FILE", group=OUTPUT),
    Option("--no-code", "no_code", "Do not disassemble (nvdisasm is not started).", form=SWITCH, group=OUTPUT),
)  # fmt: skip


@click.command(
    "import",
    cls=GroupedCommand,
    title="Formats",
    entries={f"{name} ({entry.extension})": entry.text for name, entry in FORMATS.items()},
    short_help="Read a profile of a real card that another tool measured.",
)
@click.argument("file", type=click.Path(path_type=Path))
@options("import", *OWN)
def command(file: Path, given: Given):
    """Turn a profile that another tool measured on a card into a database, for reports and exports.

    \b
    gpuprof import matmul.ncu-rep
    gpuprof report matmul.gpudb
    """
    from gpuprof.importers.disassembly import disassembler
    from gpuprof.importers.fill_database import write
    from gpuprof.isa.printing.printable import printable

    format_ = given.format_ or format_of(file)
    output = given.output or file.parent / f"{file.stem}.gpudb"
    claim(output, database, [file], given.force)
    with stage(f"reading {file.name}"):
        profile = import_module(f"gpuprof.importers.{FORMATS[format_].file}").read(
            file, None if given.no_code else disassembler()
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
