"""gpuprof correlate: a recording as a database."""

from pathlib import Path

import click

from gpuprof.base.wording import plural
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, database

OUT = Option(
    "-o --output",
    "output",
    "The database to write.",
    type=OutputPath(database),
    usual="the recording's name with .gpudb",
    group=OUTPUT,
)


@click.command("correlate", cls=GroupedCommand)
@click.argument("recording", metavar="FILE.gprec", type=click.Path(path_type=Path))
@options("correlate", OUT)
def command(recording: Path, given: Given):
    """Turn a recording into a database (SQLite) for reports, checks and your own queries.

    A damaged recording is correlated up to the damage. The error goes to stderr, and the exit code is 1.
    """
    from gpuprof.correlate.correlate import correlate
    from gpuprof.errors import FileFormatError
    from gpuprof.isa.printing.printable import printable

    output = given.output or recording.parent / f"{recording.stem}.gpudb"
    claim(output, database, [recording], given.force)
    read = correlate(recording, output)
    if read.damage:
        raise FileFormatError(f"{recording}: {read.damage}; {output} holds the launches before the damage")
    n_launches = len(read.launches)
    stopped = "" if read.complete else ", the recording was stopped early"
    click.echo(f"{printable(str(output))}: {plural(n_launches, 'launch', 'launches')}{stopped}")
