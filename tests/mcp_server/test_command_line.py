"""Calls of tools as command lines, and the schemas that agents read."""

import importlib
import shlex
from pathlib import Path

import click
import pytest

from gpuprof.cli.main import COMMANDS
from gpuprof.errors import UsageError
from gpuprof.mcp_server.command_line import command_line, schema_of
from gpuprof.mcp_server.tools import REST, TOOLS
from gpuprof.mcp_server.values import Choice, Switch
from gpuprof.mcp_server.workspace import Workspace

WORKSPACE = Workspace(Path("/nowhere/at/all"))
WITH_PROGRAMS = WORKSPACE._replace(allows_programs=True)
KERNELS = "expected a .cu, .cuh, .ptx or .gpubin file"


@pytest.mark.parametrize(
    "name, values, line",
    [
        ("collect", {"file": "k.cu", "output": "k.gprec"}, "collect --output=k.gprec k.cu"),
        (
            "collect",
            {
                "file": "sub/k.ptx",
                "output": "-k.gprec",
                "launch": ["k<<<1, 32>>>(1)", "-k"],
                "chip": "h100",
                "chip_changes": ["clock_mhz=1095"],
                "cache": "warm",
                "repeat": 3,
                "seed": 7,
                "checkers": ["memcheck", "racecheck"],
                "define": ["N=8 9", "M"],
                "include": ["inc", "."],
                "std": "c++17",
                "optimize": 2,
                "max_registers": 64,
                "expect": ["y=2"],
                "rtol": 1e-3,
                "atol": 0,
                "sample_blocks": False,
                "save_stream": True,
            },
            "collect --output=./-k.gprec --launch='k<<<1, 32>>>(1)' --launch=-k --chip=h100 --param=clock_mhz=1095 "
            "--cache=warm --repeat=3 --seed=7 --trace=memcheck --trace=racecheck -D'N=8 9' -DM -Iinc -I. --std=c++17 "
            "-O2 --max-registers=64 --expect=y=2 --rtol=0.001 --atol=0 --save-stream sub/k.ptx",
        ),
        ("report", {"file": "k.gpudb", "page": "isa", "launch": 0}, "report --page=isa --launch=0 k.gpudb"),
        ("report", {"file": "k.gprec", "kernel": None, "format": "json"}, "report --format=json k.gprec"),
        ("advise", {"file": "k.gprec"}, "advise --budget=60 --brief k.gprec"),
        ("advise", {"file": "k.cu", "format": "json", "budget_seconds": 5}, "advise --budget=5 --json k.cu"),
        (
            "whatif",
            {"file": "k.cu", "line": "k.cu:12", "only": ["no_spills"], "kernel": "k", "all": True, "greedy": 3},
            "whatif --json --line=k.cu:12 --kernel=k --only=no_spills --all --greedy=3 --budget=60 k.cu",
        ),
        ("diff", {"before": "a.gprec", "after": "b.cu", "chip": "my.toml"}, "diff --chip=my.toml a.gprec b.cu"),
        ("diff", {"before": "a.gprec", "kernel": "x|y", "with_kernel": "z"}, "diff '--kernel=x|y' --with=z a.gprec"),
        (
            "check",
            {"file": "a.gprec", "baseline": "b.txt", "fail_on": ["cycles=1%|200"], "require": ["findings<=0"]},
            "check --baseline=b.txt '--fail-on=cycles=1%|200' '--require=findings<=0' a.gprec",
        ),
    ],
)
def test_command_lines(name, values, line):
    assert command_line(name, values, WORKSPACE) == shlex.split(line)


def test_programs_where_they_are_allowed():
    values = {"file": "app", "output": "a.gprec", "sources": ["b.cpp"], "arguments": ["--size", ""]}
    line = ["collect", "--output=a.gprec", "app", "b.cpp", "--", "--size", ""]
    assert command_line("collect", values, WITH_PROGRAMS) == line
    assert command_line("diff", {"before": "a.py", "after": "b.c"}, WITH_PROGRAMS) == ["diff", "a.py", "b.c"]


@pytest.mark.parametrize(
    "name, values, message",
    [
        ("colect", {}, "there is no tool colect; there are collect, report, advise, whatif, diff, check"),
        ("report", {"file": "a.gprec", "pages": "isa"}, "report has no parameter pages; did you mean page?"),
        ("report", {"file": "a.gprec", "xyz": 1}, "report has no parameter xyz; it has file, page, kernel, launch, "),
        ("collect", {"file": None}, "collect needs file and output"),
        ("collect", {"file": "s.py", "output": "a.gprec"}, f"file: s.py: {KERNELS}: scripts, programs and their "),
        ("collect", {"file": "app", "output": "a.gprec"}, f"file: app: {KERNELS}: scripts, programs and their "),
        ("collect", {"file": "../k.cu", "output": "a.gprec"}, "file: ../k.cu: give a path relative to the server's "),
        ("collect", {"file": "k.cu", "output": "k.cu"}, "output: k.cu: expected the name of a .gprec file"),
        ("collect", {"file": "k.cu", "output": "/tmp/k.gprec"}, "output: /tmp/k.gprec: give a path relative to the "),
        ("collect", {"file": 3, "output": "a.gprec"}, "file: 3 is not a text"),
        ("collect", {"file": "k.cu", "output": "\ud800.gprec"}, r"output: '\ud800.gprec' is not Unicode"),
        ("collect", {"file": "k.cu", "output": "a.gprec", "arguments": ["x"]}, "collect has no parameter arguments;"),
        ("collect", {"file": "k.cu", "output": "a.gprec", "launch": "k<<<1, 1>>>()"}, "launch: expected a list"),
        ("collect", {"file": "k.cu", "output": "a.gprec", "launch": ["k"] * 65}, "launch: has 65 items; the limit is"),
        ("collect", {"file": "k.cu", "output": "a.gprec", "launch": ["a\nb"]}, r'launch: "a\nb" is not a launch, such'),
        ("collect", {"file": "k.cu", "output": "a.gprec", "launch": ["k" * 10_001]}, 'launch: "kkkkkkkkkkkkkkkkkkkkk'),
        ("collect", {"file": "k.cu", "output": "a.gprec", "chip": "../h100"}, 'chip: "../h100" is not the name of a '),
        ("collect", {"file": "k.cu", "output": "a.gprec", "chip": "/x.toml"}, "chip: /x.toml: give a path relative "),
        ("collect", {"file": "k.cu", "output": "a.gprec", "include": [".."]}, "include: ..: give a path relative to "),
        ("collect", {"file": "k.cu", "output": "a.gprec", "define": ["-I/etc"]}, 'define: "-I/etc" is not NAME or '),
        ("collect", {"file": "k.cu", "output": "a.gprec", "std": "c++20 -I/"}, 'std: "c++20 -I/" is not a C++ stan'),
        ("collect", {"file": "k.cu", "output": "a.gprec", "checkers": ["t.py:T"]}, 'checkers: "t.py:T" is not one of '),
        ("collect", {"file": "k.cu", "output": "a.gprec", "optimize": 4}, "optimize: 4 is not a whole number from 0 "),
        ("collect", {"file": "k.cu", "output": "a.gprec", "repeat": True}, "repeat: true is not a whole number from "),
        ("collect", {"file": "k.cu", "output": "a.gprec", "rtol": float("nan")}, "rtol: NaN is not a finite number "),
        ("collect", {"file": "k.cu", "output": "a.gprec", "save_stream": 1}, "save_stream: 1 is neither true nor fal"),
        ("report", {"file": "k.cu"}, "file: k.cu: expected the name of a .gprec or .gpudb file"),
        ("report", {"file": "a.gprec", "format": "html"}, 'format: "html" is not one of text, csv, json'),
        ("report", {"file": "a.gprec", "page": "iso"}, 'page: "iso" is not one of summary, source, ptx, isa, blame, '),
        ("diff", {"before": "s.py"}, "before: s.py: expected a .cu, .cuh, .ptx, .gpubin, .gprec or .gpudb file: scr"),
        ("whatif", {"file": "k.cu", "line": "12"}, 'line: "12" is not FILE:LINE'),
        ("whatif", {"file": "k.cu", "only": ["--all"]}, 'only: "--all" is not a kind of intervention'),
        (
            "check",
            {"file": "a.gprec", "baseline": ".x.yaml"},
            "baseline: .x.yaml: expected the name of a .txt or .toml ",
        ),
        ("check", {"file": "a.gprec", "baseline": "../b.txt"}, "baseline: ../b.txt: give a path relative to the serv"),
    ],
)
def test_refusals(name, values, message):
    with pytest.raises(UsageError) as caught:
        command_line(name, values, WORKSPACE)
    assert str(caught.value).startswith(message)


# Against the commands themselves.

RUN = [pytest.param(tool, id=tool.name) for tool in TOOLS if tool.name in COMMANDS]
# Options that start other programs, run scripts, or name files that the server does not look at.
NEVER = {
    *("--compiler", "--host-compiler", "-l", "-L", "--rdc", "--cccl", "--host", "--save", "--rules", "--suppressions"),
    *("--force", "--html", "-o", "--project", "--against", "--load-base", "--threads"),
}


def options_of(tool) -> dict[str, click.Option]:
    command = importlib.import_module(f"gpuprof.cli.{tool.name}").command
    return {flag: option for option in command.params if isinstance(option, click.Option) for flag in option.opts}


def flag_of(form: str) -> str:
    """ "--chip" of "--chip={}", "-D" of "-D{}"."""
    return form.removesuffix("{}").rstrip("=")


@pytest.mark.parametrize("tool", RUN)
def test_forms_are_options_of_the_command(tool):
    options = options_of(tool)
    for parameter in tool.parameters:
        if parameter.form in ("{}", REST, "--{}"):
            continue
        option = options[flag_of(parameter.form)]
        assert option.is_flag == isinstance(parameter.kind, Switch), parameter.name
        assert option.multiple == parameter.is_list, parameter.name
        if isinstance(parameter.kind, Choice) and isinstance(option.type, click.Choice):
            assert set(parameter.kind.words) <= set(option.type.choices), parameter.name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_options_that_no_tool_has(tool):
    assert {flag_of(parameter.form) for parameter in tool.parameters} & NEVER == set()


def test_the_pages_are_those_of_the_report():
    (report,) = [tool for tool in TOOLS if tool.name == "report"]
    (page,) = [parameter for parameter in report.parameters if parameter.name == "page"]
    assert page.kind.words == tuple(options_of(report)["--page"].type.choices)


# Schemas.


def test_the_schema_of_a_tool():
    (advise,) = [tool for tool in TOOLS if tool.name == "advise"]
    schema = schema_of(advise, allows_programs=False)
    text = {"type": "string", "maxLength": 10_000}
    line = text | {"pattern": r"^(?:[^\0\n\r]+)$"}
    assert schema["required"] == ["file"] and schema["additionalProperties"] is False
    described = schema["properties"]
    assert {name: described[name].pop("description") != "" for name in described} == dict.fromkeys(described, True)
    assert described == {
        "file": text,
        "launch": {"type": "array", "items": line, "maxItems": 64},
        "chip": text,
        "budget_seconds": {"type": "integer", "minimum": 1, "maximum": 86_400, "default": 60},
        "format": {"type": "string", "enum": ["brief", "json"], "default": "brief"},
    }


def test_parameters_of_programs_are_in_the_schema_only_where_they_run():
    (collect,) = [tool for tool in TOOLS if tool.name == "collect"]
    without, with_programs = (set(schema_of(collect, allowed)["properties"]) for allowed in (False, True))
    assert with_programs - without == {"sources", "arguments"}


def test_tools_that_write():
    assert [tool.name for tool in TOOLS if not tool.is_read_only] == ["collect", "check"]
