"""--format, on every command that prints in several formats; and old spellings, which name the new ones."""

import importlib

import click
import pytest

from gpuprof.check.renderers import RENDERERS
from gpuprof.cli.main import COMMANDS
from gpuprof.cli.options.renamed import RENAMED
from tests.support.command import gpuprof
from tests.support.report_database import make_database

FORMATS = {
    "compile": ("text", "json"),
    "report": ("text", "csv", "json", "html"),
    "quality": ("text", "csv", "json"),
    "fidelity": ("text", "csv", "json"),
    "records": ("text", "csv", "json"),
    "bisect": ("text", "json"),
    "check": tuple(RENDERERS),
    "diff": ("text", "json", "markdown", "html"),
    "predict": ("text", "csv", "json"),
    "list": ("text", "json"),
}


# `list project-keys --json` is the schema of a project's file; the documents of the others have names of their own.
WITH_JSON = ("list", "vary", "whatif", "advise")


def flags_of(name: str) -> dict[str, click.Option]:
    params = importlib.import_module(f"gpuprof.cli.{name}").command.params
    return {flag: option for option in params if isinstance(option, click.Option) for flag in option.opts}


def test_every_command_that_prints_formats_has_the_one_flag():
    found = {}
    for name in COMMANDS:
        flags = flags_of(name)
        if name not in ("export", "import") and "--format" in flags:  # these have formats of files
            found[name] = tuple(flags["--format"].type.choices)
        assert "--csv" not in flags
        assert ("--json" in flags) == (name in WITH_JSON)
    assert found == FORMATS


def test_text_is_the_default(tmp_path):
    make_database(tmp_path / "t.gpudb")
    printed = {
        flags: gpuprof(tmp_path, "report", "t.gpudb", *flags)[1]
        for flags in ((), ("--format", "text"), ("--format", "csv"))
    }
    assert printed[()] == printed["--format", "text"] and printed[()].startswith("# gpuprof    0.1.0")
    assert printed["--format", "csv"].startswith("Kernel Name,transpose_naive\n")


OLD = [
    (("report", "t.gpudb", "--csv"), "--csv is now --format csv; see `gpuprof report --help`"),
    (("check", "t.gpudb", "--json"), "--json is now --format json; see `gpuprof check --help`"),
    (("run", "a.cu", "--max-cycles", "9"), "--max-cycles is now --max-instructions; see `gpuprof run --help`"),
    (("debug", "a.cu", "--max-cycles", "9"), "--max-cycles is now --max-instructions; see `gpuprof debug --help`"),
    (("collect", "a.cu", "--filter", "kernel=^a b"), "--filter kernel=^a b is now --kernel-name regex:'^a b'"),
    (("replay", "a.gprec", "--filter", "draw=3,5-9"), "--filter draw=3,5-9 is now --draw 3,5-9"),
    (("collect", "a.cu", "--filter", " stage=pixel"), "--filter stage=pixel is now --stage pixel"),
    (("collect", "a.cu", "--filter", "skip=2"), "--filter skip=2 is now --launch-skip 2"),
    (("collect", "a.cu", "--filter", "count=2"), "--filter count=2 is now --launch-count 2"),
]


@pytest.mark.parametrize("arguments, message", OLD)
def test_an_old_spelling_names_the_new_one(tmp_path, arguments, message):
    assert gpuprof(tmp_path, *arguments) == (2, "", f"gpuprof: {message}\n")


@pytest.mark.parametrize("command", ["whatif", "advise"])
def test_an_option_of_another_command_names_that(tmp_path, command):
    message = (
        "gpuprof: --vary is an option of `gpuprof vary`, which changes the program itself and compares its results; "
        f"see `gpuprof {command} --help`\n"
    )
    assert gpuprof(tmp_path, command, "k.cu", "--vary", "block=64,128") == (2, "", message)


@pytest.mark.parametrize("renamed", RENAMED, ids=lambda renamed: renamed.old)
def test_renamed_options(renamed):
    """Each has been tried, its new spelling is there, and the old one is not."""
    assert any(renamed.old.split()[0] in given and renamed.old.split()[-1] in " ".join(given) for given, _ in OLD)
    for command in renamed.commands.split():
        assert renamed.new.split()[0] in flags_of(command)
        assert renamed.old.endswith("=") or renamed.old not in flags_of(command)
