"""gpuprof.toml: what it makes of entries, and one line for each way in which it can be wrong."""

import json
from pathlib import Path

import pytest

from gpuprof.check.budgets import Budget
from gpuprof.cli.options.project_keys import run_keys
from gpuprof.errors import UsageError
from gpuprof.project.entry import Entry
from gpuprof.project.keys import schema
from gpuprof.project.project_file import find_project, read_project


def project(folder: Path, text: str, name: str = "gpuprof.toml") -> Path:
    for file in ("scan.cu", "app.cu", "sub/copy.cu"):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("")
    (folder / name).write_text(text)
    return folder / name


def entries(folder: Path, text: str, name: str = "gpuprof.toml") -> tuple[Entry, ...]:
    return read_project(project(folder, text, name), run_keys()).entries


WHOLE = """
baselines = "expected"

[defaults]
chip = "h100"
checkers = "memcheck"
fail-on = ["cycles=2%"]
budgets = { "*" = { spills = 0 } }

[[entry]]
file = "scan.cu"
launch = ["scan<<<1, 32>>>(f32[32])", "scan<<<2, 32>>>(f32[64])"]
max-registers = 64
optimize = 1
defines = "TILE=8"
sample-blocks = true
ratchet = true
budgets = { "scan*" = { registers = "<=32", stall.long_scoreboard = "<=30%" } }

[[entry]]
name = "whole-app"
file = "app.cu"
arguments = ["--size", 64]
environment = ["HOME", "STEPS=3"]
chips = ["a100", "chips/mine.toml"]
fail-on = []
"""


def test_entries_have_their_own_values_and_the_defaults(tmp_path):
    scan, app, other = entries(tmp_path, WHOLE)
    spills = Budget("*", "spills", "<=", 0, "spills <=0")
    assert scan == Entry(
        name="scan",
        folder=tmp_path,
        file="scan.cu",
        sources=(),
        arguments=(),
        options={
            "chip": "h100",
            "launch": ["scan<<<1, 32>>>(f32[32])", "scan<<<2, 32>>>(f32[64])"],
            "max-registers": 64,
            "optimize": 1,
            "defines": "TILE=8",
            "sample-blocks": True,
        },
        checkers=("memcheck",),
        environment=(),
        inputs=(),
        baseline=tmp_path / "expected" / "scan.toml",
        fail_on=("cycles=2%",),
        budgets=(
            spills,
            Budget("scan*", "registers", "<=", 32, "registers <=32"),
            Budget("scan*", "stall.long_scoreboard", "<=", 30, "stall.long_scoreboard <=30%"),
        ),
        ratchet=True,
    )
    assert (app.name, app.options, app.fail_on) == ("whole-app@a100", {"chip": "a100"}, ())
    assert (other.name, other.baseline.name) == ("whole-app@mine", "whole-app@mine.toml")
    assert (app.arguments, app.set_variables(), app.variable_names()) == (
        ("--size", "64"),
        {"STEPS": "3"},
        ["HOME", "STEPS"],
    )


def test_an_entry_is_a_command_of_collect(tmp_path):
    scan, app, _ = entries(tmp_path, WHOLE)
    assert scan.command(run_keys()) == [
        *("collect", "scan.cu", "--launch", "scan<<<1, 32>>>(f32[32])", "--launch", "scan<<<2, 32>>>(f32[64])"),
        *("--chip", "h100", "--sample-blocks", "--max-registers", "64", "-O1", "-D", "TILE=8", "--trace", "memcheck"),
    ]
    assert app.command(run_keys()) == [
        *("collect", "app.cu", "--chip", "a100", "--trace", "memcheck", "--", "--size", "64")
    ]


def test_a_project_file_includes_others_whose_paths_are_their_own(tmp_path):
    (tmp_path / "sub").mkdir()
    project(tmp_path / "sub", "[[entry]]\nfile = 'scan.cu'\n")
    first, second = entries(tmp_path, "include = 'sub/gpuprof.toml'\n[[entry]]\nfile = 'app.cu'\n")
    assert (first.name, first.folder) == ("app", tmp_path)
    assert (second.name, second.folder) == ("scan", tmp_path / "sub")
    assert second.baseline == tmp_path / "sub" / "gpuprof-baselines" / "scan.toml"


def test_a_table_of_pyproject_is_one(tmp_path):
    text = "[project]\nname = 'x'\n[tool.gpuprof]\nbaselines = 'b'\n[[tool.gpuprof.entry]]\nfile = 'scan.cu'\n"
    [entry] = entries(tmp_path, text, "pyproject.toml")
    assert entry.baseline == tmp_path / "b" / "scan.toml"
    (tmp_path / "sub" / "deep").mkdir()
    assert find_project(tmp_path / "sub" / "deep") == tmp_path / "pyproject.toml"


BAD = {
    "two names": ("[[entry]]\nfile='scan.cu'\n[[entry]]\nname='scan'\nfile='app.cu'",
                  "two entries are called 'scan' (HERE/scan.cu, HERE/app.cu); give one another name"),
    "unknown key": ("[[entry]]\nfile='scan.cu'\nfail_on='cycles=1%'",
                    "[[entry]] 1: unknown key 'fail_on'; did you mean fail-on?"),
    "unknown key of a named one": ("[[entry]]\nname='a'\nfile='scan.cu'\nlaunches='x'",
                                   "entry 'a': unknown key 'launches'; did you mean launch or launch-skip?"),
    "unknown key of the file": ("entries = []",
                                "unknown key 'entries'; the keys are: baselines, include, defaults, entry"),
    "unknown default": ("[defaults]\nname='x'\n[[entry]]\nfile='scan.cu'", "[defaults]: unknown key 'name'"),
    "a number for a text": ("[[entry]]\nfile=3", "[[entry]] 1: file: expected a text, not '3'"),
    "a text for a switch": ("[[entry]]\nfile='scan.cu'\nratchet='yes'",
                            "[[entry]] 1: ratchet: expected true or false, not 'yes'"),
    "a table in a list": ("[[entry]]\nfile='scan.cu'\nlaunch=[{}]",
                          "[[entry]] 1: launch: expected a text or a number, or a list of them, not '[{}]'"),
    "entries as texts": ("entry = ['scan.cu']", "[[entry]] 1: is no table"),
    "no file key": ("[[entry]]\nname='x'", "entry 'x': has no file"),
    "no such file": ("[[entry]]\nfile='none.cu'", "[[entry]] 1: there is no file 'none.cu'"),
    "a name of a path": ("[[entry]]\nname='../x'\nfile='scan.cu'",
                         "entry '../x': the name '../x' is no name of a file: letters, digits, and any of _ . + @ -"),
    "chip and chips": ("[[entry]]\nfile='scan.cu'\nchip='a100'\nchips=['h100']",
                       "[[entry]] 1: has chip and chips; leave out one"),
    "one baseline of two chips": ("[[entry]]\nfile='scan.cu'\nbaseline='b'\nchips=['h100', 'a100']",
                                  "[[entry]] 1: has several chips, and one baseline; leave out baseline"),
    "no limit": ("[[entry]]\nfile='scan.cu'\nfail-on='cycle=1%'",
                 "[[entry]] 1: --fail-on 'cycle=1%': 'cycle' is not a metric; did you mean cycles"),
    "no requirement": ("[[entry]]\nfile='scan.cu'\nrequire='findings'",
                       "[[entry]] 1: --require 'findings': expected findings<=N"),
    "no quantity": ("[[entry]]\nfile='scan.cu'\nbudgets={'*'={register=3}}",
                    "[[entry]] 1: budget of '*': 'register' is nothing that has a budget; did you mean registers?"),
    "a budget without a sign": ("[[entry]]\nfile='scan.cu'\nbudgets={'*'={occupancy=50}}",
                                "[[entry]] 1: budget of '*': occupancy = 50 has no sign; say \"<=50\" or \">=50\""),
    "a budget that is none": ("[[entry]]\nfile='scan.cu'\nbudgets={'*'={registers='<=5%'}}",
                              "[[entry]] 1: budget of '*': registers = '<=5%' is no limit; give one as in registers ="),
    "budgets without kernels": ("[[entry]]\nfile='scan.cu'\nbudgets={registers=3}",
                                "[[entry]] 1: budgets of 'registers': expected a table, as in"),
    "no entries": ("", "has no [[entry]]; `gpuprof init` shows what one looks like"),
    "no such include": ("include='x.toml'", "include: there is no file 'x.toml'"),
    "a circle": ("include='gpuprof.toml'\n[[entry]]\nfile='scan.cu'",
                 "project files include each other: HERE/gpuprof.toml -> HERE/gpuprof.toml; take one `include` out"),
    "no TOML": ("[[entry", "is no TOML: "),
}  # fmt: skip


@pytest.mark.parametrize("text, message", BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        entries(tmp_path, text)
    said = str(caught.value).replace(str(tmp_path), "HERE")
    assert said.startswith(f"HERE/gpuprof.toml: {message}"), said
    assert "\n" not in said


def test_a_folder_without_a_project_says_how_to_get_one(tmp_path):
    with pytest.raises(UsageError, match=r"there is no gpuprof.toml, and no \[tool.gpuprof\] in pyproject"):
        find_project(tmp_path)


def test_the_schema_allows_what_the_reader_takes(tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (make tools-python)")
    import tomllib

    validator = jsonschema.Draft202012Validator(schema(run_keys()))
    validator.check_schema(validator.schema)
    assert [error.message for error in validator.iter_errors(tomllib.loads(WHOLE))] == []
    [error] = validator.iter_errors(tomllib.loads("[[entry]]\nfile='scan.cu'\nfail_on='cycles=1%'"))
    assert error.message == "Additional properties are not allowed ('fail_on' was unexpected)"
    json.dumps(validator.schema)
