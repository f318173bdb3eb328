"""gpuprof merge: several recordings as one."""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, recording
from gpuprof.cli.options.results import recorded_text

OUT = Option(
    "-o --output",
    "output",
    "The recording to write; may be one of the inputs.",
    metavar="OUT",
    type=OutputPath(recording),
    is_required=True,
    group=OUTPUT,
)


@click.command("merge", cls=GroupedCommand, short_help="Join recordings: passes add up, others follow each other.")
@click.argument("recordings", metavar="A.gprec B.gprec ...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options("merge", OUT)
def command(recordings: tuple[Path, ...], given: Given):
    """Join recordings into one.

    Recordings of the same launches with other seeds or phases are passes: their samples add up, as with
    `collect --passes`. Exact numbers and a saved command stream stay the same. Recordings of other launches follow each
    other, without their streams. Chip, model and sampling must be the same. An existing OUT is renamed to OUT.old.

    \b
    gpuprof replay a.gprec --seed 1 --phase 128 -o b.gprec
    gpuprof merge a.gprec b.gprec -o both.gprec
    """
    from gpuprof.errors import UsageError
    from gpuprof.isa.printing.printable import printable
    from gpuprof.records.merge import merge
    from gpuprof.run.multipass import passes_of

    if len(recordings) < 2:
        raise UsageError(f"{recordings[0]}: is the only recording; give two or more to merge")
    output = given.output
    claim(output, recording, recordings, given.force, may_be_input=True)
    merged = merge(recordings, output, keep_old=True)
    if merged.without_stream:
        names = ", ".join(dict.fromkeys(map(str, merged.without_stream)))
        text = f"{output} has no command stream: each stream of {names} is one run; keep these files to replay them"
        click.echo(f"gpuprof: {printable(text)}", err=True)
    click.echo(printable(recorded_text(merged.writer, passes_of(merged.sampling), output)))
