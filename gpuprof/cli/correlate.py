"""gpuprof correlate: a recording as a database."""

from pathlib import Path

import click


@click.command()
@click.argument("recording", metavar="FILE.gprec", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The database to write.  [default: the recording's name with .gpudb]",
)
def command(recording: Path, output: Path | None):
    """Turn a recording into a database (SQLite) for reports, checks and your own queries.

    A damaged recording is correlated up to the damage. The error goes to stderr, and the exit code is 1.
    """
    from gpuprof.correlate.correlate import correlate
    from gpuprof.correlate.database import SQLITE_MAGIC, read_start
    from gpuprof.errors import FileFormatError, UsageError
    from gpuprof.isa.printing.printable import printable

    output = output or recording.with_suffix(".gpudb")
    if output.absolute() == recording.absolute():
        raise UsageError(f"{output}: the database would replace the recording; give another name with -o")
    if output.is_file() and output.stat().st_size and read_start(output) != SQLITE_MAGIC:
        raise UsageError(
            f"{output}: is not a database and would be overwritten; give another name with -o, or remove the file"
        )
    read = correlate(recording, output)
    if read.damage:
        raise FileFormatError(f"{recording}: {read.damage}; {output} holds the launches before the damage")
    n_launches = len(read.launches)
    stopped = "" if read.complete else ", the recording was stopped early"
    click.echo(f"{printable(str(output))}: {n_launches} launch{'es' * (n_launches != 1)}{stopped}")
