"""Options of the commands that work on a project's file."""

import click

from gpuprof.cli.options.option import CHIPS, LIST, SELECTION, Option
from gpuprof.cli.options.value_types import InputPath

PROJECT_OPTIONS = (
    Option("--project", "project", "The project's file.", metavar="FILE", type=InputPath(),
           usual="gpuprof.toml, here or in the nearest folder above", group=SELECTION),
    Option("--entry", "entries", "Only entries of this name; a pattern, such as 'gemm*'. Repeatable.", metavar="NAME",
           form=LIST, group=SELECTION),
    Option("--jobs", "jobs", "Entries to collect at a time.", metavar="N", type=click.IntRange(min=1),
           usual="one per core", group=CHIPS),
)  # fmt: skip
