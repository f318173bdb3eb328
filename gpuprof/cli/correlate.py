"""gpuprof correlate: a recording as a database."""

from pathlib import Path

import click

from gpuprof.base.wording import plural
from gpuprof.cli.options.outputs import OutputPath, claim, database, force_option


@click.command()
@click.argument("recording", metavar="FILE.gprec", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(database),
    help="The database to write.  [default: the recording's name with .gpudb]",
)
@force_option
def command(recording: Path, output: Path | None, force: bool):
    """Turn a recording into a database (SQLite) for reports, checks and your own queries.

    A damaged recording is correlated up to the damage. The error goes to stderr, and the exit code is 1.
    """
    from gpuprof.correlate.correlate import correlate
    from gpuprof.errors import FileFormatError
    from gpuprof.isa.printing.printable import printable

    output = output or recording.parent / f"{recording.stem}.gpudb"
    claim(output, database, [recording], force)
    read = correlate(recording, output)
    if read.damage:
        raise FileFormatError(f"{recording}: {read.damage}; {output} holds the launches before the damage")
    n_launches = len(read.launches)
    stopped = "" if read.complete else ", the recording was stopped early"
    click.echo(f"{printable(str(output))}: {plural(n_launches, 'launch', 'launches')}{stopped}")
