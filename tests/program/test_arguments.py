"""A line is split at `--`: what stands behind it is the program's."""

import click
import pytest
from click.testing import CliRunner

from gpuprof.cli.options.arguments import WithArguments, arguments_after_dashes


@click.command(cls=WithArguments)
@click.argument("file")
@click.argument("others", nargs=-1)
@click.option("-o", "output")
def split(file, others, output):
    click.echo(repr((file, others, output, arguments_after_dashes())))


LINES = {
    "a.cu": ("a.cu", (), None, ()),
    "a.cu b.cpp -o x -- -o y --help": ("a.cu", ("b.cpp",), "x", ("-o", "y", "--help")),
    "-o x a.cu --": ("a.cu", (), "x", ()),
    "a.cu -- -- b": ("a.cu", (), None, ("--", "b")),
    "-o x -- -a.cu": ("-a.cu", (), "x", ()),
    "-- -a.cu -b.cu": ("-a.cu", ("-b.cu",), None, ()),
    "-- -a.cu -- -o y": ("-a.cu", (), None, ("-o", "y")),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_split(line):
    done = CliRunner().invoke(split, line.split())
    assert (done.output, done.exit_code) == (f"{LINES[line]!r}\n", 0)


@pytest.mark.parametrize("line, said", [("", "FILE"), ("--", "FILE"), ("-o", "'-o'"), ("--wrong -- a", "--wrong")])
def test_what_is_wrong_is_said(line, said):
    done = CliRunner().invoke(split, line.split())
    assert done.exit_code == 2 and said in done.output
