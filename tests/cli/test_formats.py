"""--format, and its short forms, on every command that prints in several formats."""

import importlib

import click
import pytest

from gpuprof.cli.main import COMMANDS, module_of
from tests.support.command import gpuprof
from tests.support.report_database import make_database

FORMATS = {
    "report": ("text", "csv", "json", "html"),
    "quality": ("text", "csv", "json"),
    "fidelity": ("text", "csv", "json"),
    "records": ("text", "csv", "json"),
    "check": ("text", "json"),
    "predict": ("text", "csv", "json"),
    "list": ("text", "json"),
}


def flags_of(name: str) -> dict[str, click.Option]:
    params = importlib.import_module(module_of(name)).command.params
    return {flag: option for option in params if isinstance(option, click.Option) for flag in option.opts}


def test_every_command_that_prints_formats_has_the_one_flag():
    found = {}
    for name in COMMANDS:
        flags = flags_of(name)
        if name in ("export", "import"):  # their formats are those of files
            continue
        if {"--format", "--csv", "--json"} & set(flags):
            found[name] = tuple(flags["--format"].type.choices)
            assert {flag[2:] for flag in flags if flag in ("--csv", "--json", "--html")} == set(found[name]) - {"text"}
    assert found == FORMATS


def test_the_short_form_is_the_same(tmp_path):
    make_database(tmp_path / "t.gpudb")
    printed = {
        flags: gpuprof(tmp_path, "report", "t.gpudb", *flags)[1]
        for flags in ((), ("--format", "text"), ("--csv",), ("--format", "csv"), ("--csv", "--format", "csv"))
    }
    assert printed[()] == printed["--format", "text"] and printed[()].startswith("# gpuprof    0.1.0")
    assert printed["--csv",] == printed["--format", "csv"] == printed["--csv", "--format", "csv"]
    assert printed["--csv",].startswith("Kernel Name,transpose_naive\n")


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--csv", "--json"), "--csv and --json exclude each other: give one"),
        (("--format", "text", "--json"), "--format text and --json exclude each other: give one"),
        (("--json", "--format", "csv"), "--format csv and --json exclude each other: give one"),
        (("--csv", "--json", "--format", "json"), "--format json and --csv and --json exclude each other: give one"),
    ],
)
def test_formats_that_differ(tmp_path, flags, message):
    assert gpuprof(tmp_path, "fidelity", *flags) == (2, "", f"gpuprof: {message}\n")
