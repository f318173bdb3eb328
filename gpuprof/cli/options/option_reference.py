"""The outputs of each command, as a section of docs/security.md: python -m gpuprof.cli.options.option_reference"""

from collections.abc import Iterator
from importlib import import_module

import click

from gpuprof.base.outputs import Kind
from gpuprof.cli.main import COMMANDS
from gpuprof.cli.options.outputs import OutputPath

TITLE = "## What each command writes"
BELOW = """
Commands that are not in the table write only to stdout and stderr.

* A file that is there is overwritten only when it is empty, or is of the same kind: it has the
  bytes of the table's last column, or is a text format and has its name. Anything else takes
  `--force`.
* A file that the command reads is never overwritten, also not under another name: the source, a
  recording, a baseline's profile, a chip file, arrays of launches, a script's arguments. `merge`
  may write over one of its recordings, which is then renamed to NAME.old.
* An existing recording is renamed to NAME.old. The same rules hold for a file of that name, and a
  link there is refused.
* A link stays a link: the file that it leads to counts, and is made where there is none.
* `/dev/null`, `/dev/stdout`, `/dev/stderr` and `/dev/fd/N` are written to. Other devices, folders,
  FIFOs and sockets are refused, with `--force`, too.
* All of this is checked before a command works, and that the folder exists and can be written.
* A file appears whole or not at all, except a recording, which grows whole chunk by whole chunk.
* While it works, a command has hidden files next to the output, whose names begin with a dot and
  the output's name. Those of a killed run are removed when the next run with this output ends.
* Two runs that write one recording or one table at the same time: the second is refused. They may
  be of different users, and on a file system that is shared between machines with its locks (NFS),
  on different machines. A file system without locks refuses no run.
* `check --update` of a project writes the baselines of its entries, and makes their folder, by the
  same rules; `check` of a project writes nothing else there.
* `pytest --gpuprof-update` writes `gpuprof-baselines/NAME.toml` in pytest's rootdir by the same
  rules, in one process, after the last test; there is no `--force`. Everything else that tests
  collect is in pytest's `tmp_path`.

A script (`.py`), a test of pytest and a compiler that `--compiler` names write what they like.
"""


def options() -> Iterator[tuple[str, click.Option]]:
    """(command, option) for each option that names a file to write."""
    for name in COMMANDS:
        for parameter in import_module(f"gpuprof.cli.{name}").command.params:
            if isinstance(parameter.type, OutputPath):
                yield name, parameter


def section() -> str:
    rows = [f"| `{name} {option.opts[0]}` | {kinds(option)} |" for name, option in options()]
    return "\n".join([TITLE, "", "| option | writes, and overwrites |", "|---|---|", *rows, BELOW])


def kinds(option: click.Option) -> str:
    return "; ".join(described(kind()) for kind in option.type.kinds)


def described(kind: Kind) -> str:
    marks = " and ".join(f"`{printed(mark)}` at {offset}" for offset, mark in kind.marks)
    return f"{kind.name}: {marks or 'text, name ends in ' + ', '.join(f'`{each}`' for each in kind.suffixes)}"


def printed(mark: bytes) -> str:
    return repr(mark)[2:-1]


if __name__ == "__main__":
    print(section(), end="")
