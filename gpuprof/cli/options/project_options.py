"""Options of the commands that work on a project's file."""

from pathlib import Path

import click

from gpuprof.cli.options.option import CHIPS, LIST, SELECTION, Option

PROJECT_OPTIONS = (
    Option("--project", "project", "The project's file.", metavar="FILE", type=click.Path(path_type=Path),
           usual="gpuprof.toml, here or in the nearest folder above", group=SELECTION),
    Option("--entry", "entries", "Only entries of this name; a pattern, such as 'gemm*'. Repeatable.", metavar="NAME",
           form=LIST, group=SELECTION),
    Option("--jobs", "jobs", "Entries to collect at a time.", metavar="N", type=click.IntRange(min=1),
           usual="one per core", group=CHIPS),
)  # fmt: skip
