"""Help pages: options declared once, in groups, in the lines of a narrow terminal."""

import importlib
from dataclasses import fields
from itertools import combinations

import click
import pytest

from gpuprof.cli.main import COMMANDS
from gpuprof.cli.options.help_page import GROUPS, OTHERS, groups_of
from gpuprof.cli.options.table import OPTIONS
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.run_settings import Settings
from gpuprof.timing.sampling.control_registers import REGISTERS
from tests.support.command import gpuprof


def command_of(name: str) -> click.Command:
    return importlib.import_module(f"gpuprof.cli.{name}").command


def test_an_option_is_declared_once():
    """Rows of one flag are for different commands, and say different things."""
    for one, other in combinations(OPTIONS, 2):
        if one.flags == other.flags:
            assert not set(one.commands.split()) & set(other.commands.split())
            assert one.text != other.text
    assert {name for row in OPTIONS for name in row.commands.split()} <= set(COMMANDS)
    assert all(len(row.commands.split()) > 1 or row.fills or row.group == "Results" for row in OPTIONS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_options_of_its_rows(name):
    """Each flag stands once; own rows belong to no command of the table."""
    command = command_of(name)
    flags = [flag for option in command.params if isinstance(option, click.Option) for flag in option.opts]
    assert len(flags) == len(set(flags))
    rows = getattr(command.callback, "options", ())
    assert {row.flags for row in rows} >= {row.flags for row in OPTIONS if name in row.commands.split()}
    assert all(row in OPTIONS or not row.commands for row in rows)


def test_options_fill_what_there_is():
    known = {field.name for field in fields(Settings)}
    known |= {f"options.{field.name}" for field in fields(BuildOptions)}
    known |= {f"sampling.{name}" for name in REGISTERS}
    assert {row.fills for row in OPTIONS if row.fills} <= known
    for row in OPTIONS:
        if row.fills.startswith("options.") and row.default is not None:
            assert row.default == getattr(BuildOptions, row.fills.removeprefix("options."))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_in_a_group(name):
    rows = getattr(command_of(name).callback, "options", ())
    assert all(row.group in GROUPS for row in rows)
    assert sum(map(len, groups_of(rows).values())) == len(rows)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", ["collect", "replay"])
def test_help_is_in_groups_and_fits(tmp_path, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, error = gpuprof(tmp_path, command, "--help")
    assert (code, error) == (0, "")
    titles = [line[:-1] for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[-1] == OTHERS and set(titles[:-1]) <= set(GROUPS)
    assert titles[:-1] == sorted(titles[:-1], key=GROUPS.index)
    flags = out.partition(f"{titles[0]}:")[2]
    assert all(len(line) <= columns for line in flags.splitlines())
    assert flags.count("--period ") == 1 and flags.count("--fifo ") == 1
