"""The flags of every command that says what is launched, and on which chip."""

import click

LAUNCH_FLAG = click.option(
    "--launch",
    "launches",
    multiple=True,
    metavar="'K<<<G, B>>>(...)'",
    help="A launch. Repeatable.  [default: FILE's LAUNCH: comments]",
)
CHIP_FLAG = click.option(
    "--chip", "chip_name", metavar="NAME", help="A chip of `gpuprof list chips`, or a .toml file.  [default: a100]"
)
