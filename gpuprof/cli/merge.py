"""gpuprof merge: several recordings as one."""

from pathlib import Path

import click

from gpuprof.cli.recording import recorded_text


@click.command("merge", short_help="Put recordings together: passes add up, others follow.")
@click.argument("recordings", metavar="A.gprec B.gprec ...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    required=True,
    help="The recording to write; may be one of them.",
)
def command(recordings: tuple[Path, ...], output: Path):
    """Put recordings together into one.

    Recordings of the same launches, sampled with other seeds or phases, are passes: their samples add up, as with
    `collect --passes`, and what is exact stays, a saved command stream too. Recordings of other launches follow each
    other, without their streams. Chip, model and sampling have to be the same. A file that OUT was stays as OUT.old.

    \b
    gpuprof replay a.gprec --seed 1 --phase 128 -o b.gprec
    gpuprof merge a.gprec b.gprec -o both.gprec
    """
    from gpuprof.errors import UsageError
    from gpuprof.isa.printable import printable
    from gpuprof.passes import passes_of
    from gpuprof.records.merge import merge

    if len(recordings) < 2:
        raise UsageError(f"{recordings[0]}: one recording alone; give two or more to merge")
    merged = merge(recordings, output, keep_old=True)
    if merged.without_stream:
        names = ", ".join(dict.fromkeys(map(str, merged.without_stream)))
        text = f"{output} has no command stream: those of {names} are each of one run alone; keep them to replay them"
        click.echo(f"gpuprof: {printable(text)}", err=True)
    click.echo(recorded_text(merged.writer, passes_of(merged.sampling), output))
