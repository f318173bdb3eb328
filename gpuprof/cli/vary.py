"""gpuprof vary: the best block size, macros, registers and options of a kernel."""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import Given
from gpuprof.cli.options.vary_options import VARY_OPTIONS, plan_of, show


@click.command(
    "vary", cls=GroupedCommand, short_help="Find the best block size, macros, registers and options of a kernel."
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1)
@options("vary", *VARY_OPTIONS)
def command(file: Path, arguments: tuple[str, ...], given: Given):
    """Run FILE (.cu, .ptx, .gpubin, a .py script or a program) with every combination of the values of --vary, and show
    which is the fastest of those whose results are the original's, byte for byte.

    \b
    gpuprof vary saxpy.cu --vary block=64,128,256
    gpuprof vary matmul.cu --vary D.TILE=8,16,32 --vary max_registers=32,none \\
        --launch 'tiled<<<(256/{TILE}, 256/{TILE}), ({TILE}, {TILE})>>>(f32[65536]=random, f32[65536]=random,
        f32[65536], 256)'
    gpuprof vary softmax.py --vary D.BLOCK=256,512 -- --block {BLOCK}
    """
    show(plan_of(file, arguments, given), given.as_json, given.width)
