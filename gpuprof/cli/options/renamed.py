"""Spellings of the command line that have given way to another one, or that another command has: they are errors that
name the right one.
"""

import shlex
from typing import NamedTuple

from gpuprof.errors import UsageError


class Renamed(NamedTuple):
    """`old` ends in "=" where a value follows. `commands`: those that had it; `since`: the version without it."""

    old: str
    new: str
    commands: str
    since: str


PRINT_CSV = "report quality fidelity records predict"
PRINT_JSON = f"{PRINT_CSV} check compile"
RENAMED = (
    Renamed("--filter kernel=", "--kernel-name regex:", "collect replay", "0.1.0"),
    Renamed("--filter draw=", "--draw ", "collect replay", "0.1.0"),
    Renamed("--filter stage=", "--stage ", "collect replay", "0.1.0"),
    Renamed("--filter skip=", "--launch-skip ", "collect replay", "0.1.0"),
    Renamed("--filter count=", "--launch-count ", "collect replay", "0.1.0"),
    Renamed("--max-cycles", "--max-instructions", "run debug", "0.1.0"),
    Renamed("--csv", "--format csv", PRINT_CSV, "0.1.0"),
    Renamed("--json", "--format json", PRINT_JSON, "0.1.0"),
)

# Options that users look for in these commands, and another one has.
ELSEWHERE = {"--vary": ("whatif advise", "`gpuprof vary`, which changes the program itself and compares its results")}


def owner(command: str, written: str) -> str | None:
    """The command that has an option which `command` has not; None where none is known."""
    commands, other = ELSEWHERE.get(written, ("", ""))
    return other if command in commands.split() else None


def new_spelling(command: str, written: str) -> str | None:
    """The new spelling of an option of `command`, None where `written` is not an old one."""
    for each in RENAMED:
        if command in each.commands.split() and (written == each.old or _has_value(each, written)):
            return f"{each.new}{shlex.quote(written.removeprefix(each.old)) if written != each.old else ''}"
    return None


def check_renamed(written: str) -> None:
    """Raises UsageError for an old spelling of an option of `collect` and `replay`."""
    if new := new_spelling("collect", written):
        raise UsageError(f"{written} is now {new}")


def _has_value(each: Renamed, written: str) -> bool:
    return each.old.endswith("=") and written.startswith(each.old)
