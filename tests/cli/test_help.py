"""Help pages: what there is, where one looks for it, in the lines of a narrow terminal."""

import click
import pytest

from gpuprof.cli.options.grouping import GROUPS, OTHERS
from tests.support.command import gpuprof


@pytest.mark.parametrize("command", ["collect", "replay"])
def test_every_flag_is_in_one_group(command):
    """A new flag has to be put into a group, and a group's flag to be there."""
    from gpuprof.cli import collect, replay

    grouped = [flag for flags in GROUPS.values() for flag in flags]
    flags = [
        option.opts[0]
        for option in {"collect": collect, "replay": replay}[command].command.params
        if isinstance(option, click.Option)
    ]
    assert len(set(grouped)) == len(grouped)
    assert set(flags) <= set(grouped)
    assert command == "replay" or set(flags) == set(grouped)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", ["collect", "replay"])
def test_help_is_in_groups_and_fits(tmp_path, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, error = gpuprof(tmp_path, command, "--help")
    assert (code, error) == (0, "")
    titles = [line[:-1] for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[-1] == OTHERS and set(titles[:-1]) <= set(GROUPS)
    flags = out.partition(f"{titles[0]}:")[2]
    assert all(len(line) <= columns for line in flags.splitlines())
    assert flags.count("--period ") == 1 and flags.count("--fifo ") == 1
