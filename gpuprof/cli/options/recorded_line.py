"""The command line that a recording states: what decides its numbers, and no folders of this machine."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuprof.cli.options.option import LIST, SWITCH, Given, Option, default_of, is_given


def recorded_line(given: Given, file: Path, sampler: Mapping[str, Any], arguments: Sequence[str] = ()) -> str:
    """The line of the command that runs. `sampler`: values that replace the given ones; `arguments`: those of the
    program or script.
    """
    values = vars(given) | sampler
    words = ["gpuprof", given.command, file.name]
    for row in given.options:
        if given.command in row.recorded.split() and values[row.name] != default_of(row, given.command):
            words += words_of(row, values[row.name])
    return shlex.join([*words, *(["--", *arguments] if arguments else [])])


def words_of(row: Option, value: Any) -> list[str]:
    """The words that give an option its value."""
    if not is_given(value):
        return []
    flag = row.flags.split()[0]
    if row.form == SWITCH:
        return [flag]
    if row.form == LIST:
        return [word for each in value for word in (flag, row.shown(each))]
    return [f"{flag}{row.shown(value)}"] if flag == "-O" else [flag, row.shown(value)]
