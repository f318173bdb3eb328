"""Commands that examine nothing: they print, name folders, or give the reason why a command is refused here."""

import re
from pathlib import Path

from gpuprof.debug.commands.command import Command, refused
from gpuprof.debug.commands.cuda_focus import split
from gpuprof.debug.commands.show_values import storage_at, string_at
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.values.c_types import Value
from gpuprof.errors import DebugError

_CONVERSION = re.compile(r"%(?:%|[-+ #0]*\d{0,3}(?:\.\d{1,3})?(?:hh|h|ll|l|z)?([diuxXocfgeGps]))")
_LENGTH = re.compile(r"hh|h|ll|l|z")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "a": "\a"}


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)


def _echo(debugger: Debugger, rest: str) -> list[str]:
    text = _unescaped(rest)
    return text.removesuffix("\n").split("\n") if text else []


def _printf(debugger: Debugger, rest: str) -> list[str]:
    parts = re.match(r'"((?:\\.|[^\\"])*)"\s*(?:,(.*))?$', rest)
    if not parts:
        raise DebugError('Give a format and its values: printf "%d\\n", x')
    form, values = _unescaped(parts[1]), [debugger.evaluate(text) for text in split(parts[2] or "")]
    kinds = [match[1] for match in _CONVERSION.finditer(form) if match[1]]
    if len(kinds) != len(values):
        raise DebugError(f"The format has {len(kinds)} values, and {len(values)} are given.")
    left = iter(values)
    text = _CONVERSION.sub(lambda match: _converted(match, next(left), debugger) if match[1] else "%", form)
    return text.removesuffix("\n").split("\n")


def _converted(match: re.Match, value: Value, debugger: Debugger) -> str:
    kind = match[1]
    form = _LENGTH.sub("", match[0][:-1])
    if kind == "s":
        return f"{form}s" % _string(value, debugger).decode("utf-8", "replace")
    if kind in "fgeG":
        return f"{form}{kind}" % float(value.number)
    number = int(value.number)
    if kind == "p":
        return f"{form}s" % f"{number:#x}"
    if kind in "uxXo":
        number &= (1 << 8 * max(len(value.data), 4)) - 1
    return f"{form}{kind}" % (number & 0xFF if kind == "c" else number)


def _string(value: Value, debugger: Debugger) -> bytes:
    """The bytes of a string up to its zero, or as many as are shown of an array."""
    if value.type.kind not in ("pointer", "array") or value.type.element.nbytes != 1:
        raise DebugError(f"%s takes a string, and a {value.type.name} is not one.")
    if value.type.kind == "array":
        return value.data.split(b"\0")[0]
    return string_at(debugger.thread, storage_at(debugger.thread, value))


def _pwd(debugger: Debugger, rest: str) -> list[str]:
    return [f"Working directory {Path.cwd()}."]


FIXED = "The debugged program is FILE of the command line."
REFUSED = {
    "jump": "A thread goes where the program leads it; `set var` changes what it sees.",
    "return": "A function cannot be left early; `finish` runs to its end.",
    "thread": "Host threads are not stopped; `cuda thread T` switches between threads of kernels.",
    "attach": FIXED,
    "file": FIXED,
    "detach": "`kill` ends the program, `continue` runs it on.",
    "shell": "The debugger runs no other programs.",
    "handle": "Host code keeps its signals; Ctrl-C stops a kernel.",
    "signal": "Host code keeps its signals; Ctrl-C stops a kernel.",
    "checkpoint": "Each launch is one; `reverse-continue` and `reverse-step` go back.",
    "record": "Everything is recorded: `reverse-step` works at any time.",
    "tui": "There is no full-screen view; `list` and `disassemble` show the code.",
    "layout": "There is no full-screen view; `list` and `disassemble` show the code.",
    "catch": "Host code is not stopped; a kernel's fault stops in any case.",
    "python": "`gpuprof.debug.Debugger` is the debugger for Python.",
    "core-file": "There are no core dumps: run the program again, every run is the same.",
    "generate-core-file": "There are no core dumps: run the program again, every run is the same.",
}
COMMANDS = (
    Command("echo", "TEXT", "Print a text.", _echo),
    Command("printf", '"FORMAT", EXPRESSIONS', "Print values in C's formats.", _printf),
    Command("pwd", "", "Show the working folder.", _pwd),
)
REFUSALS = tuple(Command(name, "", why, refused(why)) for name, why in REFUSED.items())
