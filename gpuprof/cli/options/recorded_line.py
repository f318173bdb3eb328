"""The command line that a recording states: what decides its numbers, and no folders of this machine.

registers ─ sampler_values ─> values of options ─ recorded_line ─> "gpuprof collect saxpy.cu --period 256"
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuprof.base.wording import base_name
from gpuprof.cli.options.option import LIST, SWITCH, Given, Option, default_of, is_given
from gpuprof.cli.options.value_types import RANDOM

# Key of the sampling filter -> its option, and the prefix of the value there.
FILTER_OPTIONS = {
    "kernel": ("kernel_name", "regex:"),
    "draw": ("draw", ""),
    "stage": ("stage", ""),
    "skip": ("launch_skip", ""),
    "count": ("launch_count", ""),
}


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


def sampler_values(given: Given, registers: dict[str, Any]) -> dict[str, Any]:
    """The values of the sampler's options that set these registers."""
    rows = [row for row in given.options if row.fills.startswith("sampling.")]
    values = {row.name: () if row.made else registers.get(row.name) for row in rows}
    if "trigger" in registers:  # it says how many events, and a period has none
        values |= {"trigger": f"{registers['trigger']}:{registers['every']}", "period_cycles": None}
    elif registers.get("auto_period"):
        values["period_cycles"] = "auto"
    for word in shlex.split(registers.get("filter", "")):
        key, _, value = word.partition("=")
        if key in FILTER_OPTIONS:
            name, prefix = FILTER_OPTIONS[key]
            values[name] = prefix + value
        else:
            values["filter_words"] += (word,)
    return values


def unusual_registers(sampling) -> dict[str, Any]:
    """The period, and the registers that are not as usual."""
    from gpuprof.timing.sampling.control_registers import USUAL, registers

    usual = registers(USUAL)
    return {
        name: value for name, value in registers(sampling).items() if value != usual[name] or name == "period_cycles"
    }


def file_name(path: str | Path) -> str:
    return Path(path).name


def shown_load_base(value: int | str) -> str:
    return value if value == RANDOM else hex(value)


def without_folder(text: str) -> str:
    """The value of --trace, its file without folders."""
    file, found, rest = text.partition(".py:")
    return f"{base_name(file)}{found}{rest}" if found else text


def expectation(text: str) -> str:
    """The value of --expect as it was read."""
    from gpuprof.device.launching.expected_results import parse_expected

    expected = parse_expected(text, "--expect")
    return f"{expected.array.text}={expected.text}"
