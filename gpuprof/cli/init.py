"""gpuprof init: a first project file."""

from pathlib import Path

import click

from gpuprof.base.outputs import Kind
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim


def project_file() -> Kind:
    from gpuprof.project.first_file import HEAD

    return Kind("project file of `gpuprof init`", ((0, HEAD.encode()),))


OUT = Option("-o --output", "output", "The file to write.", metavar="NAME", type=OutputPath(project_file), group=OUTPUT,
             usual="gpuprof.toml in FOLDER")  # fmt: skip


@click.command("init", cls=GroupedCommand, short_help="Write a first gpuprof.toml from a folder's files.")
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@options("init", OUT)
def command(folder: Path, given: Given):
    """Write a first project file with an entry for each file in FOLDER that has kernels.

    \b
    gpuprof init             look for .cu, .ptx and .py files here
    gpuprof check --update   collect them, write baselines
    gpuprof check            collect again what has changed, and compare
    """
    from gpuprof.base.files import replacing
    from gpuprof.base.wording import plural
    from gpuprof.errors import UsageError
    from gpuprof.isa.printing.printable import printable
    from gpuprof.project.first_file import NOT_LAUNCHED, found_sources, project_text
    from gpuprof.project.project_file import NAME

    output = given.output or folder / NAME
    found = found_sources(folder)
    claim(output, project_file, [folder / each.file for each in found], given.force)
    if not found:
        raise UsageError(f"{folder}: no .cu, .ptx or .py file with kernels is in it; name its folder")
    with replacing(output) as partial:
        partial.write_text(project_text(found), encoding="utf-8", newline="\n")
    n_open = sum(each.kind == NOT_LAUNCHED for each in found)
    rest = f", {plural(n_open, 'file', 'files')} more as comments: they need launches" if n_open else ""
    n_entries = len(found) - n_open
    click.echo(f"{printable(str(output))}: {plural(n_entries, 'entry', 'entries')}{rest}")
    if n_entries:
        click.echo("Next: gpuprof check --update")
