"""gpuprof disasm: the instructions of a gpubin."""

import re
import sys
from pathlib import Path

import click

from gpuprof.base.inputs import GPUBIN, read_input
from gpuprof.errors import UsageError

STYLES = {
    "header": {"bold": True},
    "label": {"fg": "cyan"},
    "instruction": {},
    "source": {"fg": "green"},
    "ptx": {"dim": True},
}


@click.command("disasm", short_help="Print the instructions of a gpubin.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--source", is_flag=True, help="Show source lines above their instructions, with the place of inlining.")
@click.option("--ptx", is_flag=True, help="Show PTX lines above their instructions.")
@click.option(
    "--kernel", "pattern", metavar="RE", help="Show only functions whose name matches this regular expression."
)
def command(file: Path, source: bool, ptx: bool, pattern: str | None):
    """Print the instructions of FILE.gpubin: address, instruction, and labels of branch targets."""
    from gpuprof.isa.gpubin.reader import read_gpubin
    from gpuprof.isa.printing.listing import listing
    from gpuprof.isa.printing.printable import printable

    program = read_gpubin(read_input(file, GPUBIN), str(file))
    functions = chosen(program.functions, pattern)
    _write([("header", printable(f"{program.name}: {program.arch}, compiled by {program.compiler or 'unknown'}"))])
    for function in functions:
        _write([("label", ""), *listing(program, function, source=source, ptx=ptx)])


def chosen(functions: tuple, pattern: str | None) -> list:
    """The functions whose symbol or name in the source the pattern finds; raises UsageError when it finds none."""
    if pattern is None:
        return list(functions)
    try:
        found = [f for f in functions if re.search(pattern, f.display) or re.search(pattern, f.name)]
    except re.error as error:
        raise UsageError(f"--kernel {pattern!r} is not a regular expression: {error}") from error
    if not found:
        raise UsageError(
            f"--kernel {pattern!r}: no function matches; there are: {', '.join(f.display for f in functions) or 'none'}"
        )
    return found


def _write(lines: list[tuple[str, str]]) -> None:
    """Colour on a terminal only: click takes it out of a pipe."""
    text = "\n".join(click.style(text, **STYLES[kind]) if STYLES[kind] else text for kind, text in lines)
    click.echo(text, file=sys.stdout)
