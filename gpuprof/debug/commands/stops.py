"""Commands for breakpoints and watchpoints."""

import re
from collections.abc import Callable

from gpuprof.debug.breakpoints import Breakpoint, Watchpoint
from gpuprof.debug.commands.command import Command, numbers_of
from gpuprof.debug.commands.command_blocks import texts
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.replayer import WATCH_NAMES
from gpuprof.errors import DebugError

_IF = re.compile(r"(?:^|\s)if\b(?=[\s(])")


def _parts(rest: str) -> tuple[str, str]:
    """A location and its condition."""
    match = _IF.search(rest)
    return (rest[: match.start()].strip(), rest[match.end() :].strip()) if match else (rest.strip(), "")


def _break(is_temporary: bool) -> Callable[[Debugger, str], list[str]]:
    def run(debugger: Debugger, rest: str) -> list[str]:
        location, condition = _parts(rest)
        point = debugger.break_at(location, condition, is_temporary)
        return [f"{'Temporary breakpoint' if is_temporary else 'Breakpoint'} {point.number} {where(point)}"]

    return run


def where(point: Breakpoint) -> str:
    """The location of a breakpoint, in the loaded code."""
    if not point.resolved:
        return f"({point.spec}) pending."
    addresses = [resolved.code.pc(at) for resolved in point.resolved for at in resolved.instructions]
    location = f"file {point.spec.file}, line {point.resolved[0].line}." if point.spec.line else f"{point.spec}."
    if len(addresses) > 1:
        return f"at {addresses[0]:#x}: {location.rstrip('.')}. ({len(addresses)} locations)"
    return f"at {addresses[0]:#x}: {location}"


def _watch(kind: str) -> Callable[[Debugger, str], list[str]]:
    def run(debugger: Debugger, rest: str) -> list[str]:
        text, condition = _parts(rest)
        if not text:
            raise DebugError("Argument required (expression to compute).")
        point = debugger.watch(text, kind, condition)
        return [f"{WATCH_NAMES[kind]} {point.number}: {text}"]

    return run


def _delete(debugger: Debugger, rest: str) -> list[str]:
    for number in numbers_of(rest) if rest else list(debugger.points.all):
        debugger.points.remove(number)
    return []


def _point(debugger: Debugger, number: int) -> Breakpoint | Watchpoint:
    if number not in debugger.points.all:
        raise DebugError(f"No breakpoint number {number}.")
    return debugger.points.all[number]


def _enable(is_enabled: bool) -> Callable[[Debugger, str], list[str]]:
    def run(debugger: Debugger, rest: str) -> list[str]:
        for number in numbers_of(rest) if rest else list(debugger.points.all):
            _point(debugger, number).is_enabled = is_enabled
        debugger.points.changed()
        return []

    return run


def _condition(debugger: Debugger, rest: str) -> list[str]:
    number, _, condition = rest.partition(" ")
    if not number.isdecimal():
        raise DebugError("Argument required (breakpoint number).")
    _point(debugger, int(number)).condition = condition.strip()
    return [] if condition.strip() else [f"Breakpoint {number} now unconditional."]


def _ignore(debugger: Debugger, rest: str) -> list[str]:
    words = rest.split()
    if len(words) != 2 or not all(map(str.isdecimal, words)):
        raise DebugError("Give a breakpoint's number and how often it is passed.")
    number, count = map(int, words)
    _point(debugger, number).ignore = count
    return [f"Will ignore next {count} crossings of breakpoint {number}."]


def info_breakpoints(debugger: Debugger, rest: str) -> list[str]:
    if not debugger.points.all:
        return ["No breakpoints or watchpoints."]
    lines = [f"{'Num':<8}{'Type':<15}{'Disp':<5}{'Enb':<4}What"]
    for point in debugger.points.all.values():
        kind = {"watch": "hw watchpoint", "rwatch": "read watchpoint", "awatch": "acc watchpoint"}.get(
            point.kind, point.kind
        )
        disposition = "del" if point.is_temporary else "keep"
        what = str(point.spec) if isinstance(point, Breakpoint) else point.text
        pending = " <PENDING>" if isinstance(point, Breakpoint) and not point.resolved else ""
        lines.append(f"{point.number:<8}{kind:<15}{disposition:<5}{'y' if point.is_enabled else 'n':<4}{what}{pending}")
        if point.condition:
            lines.append(f"        stop only if {point.condition}")
        if point.hits:
            lines.append(f"        breakpoint already hit {point.hits} time{'s' if point.hits > 1 else ''}")
        lines += (f"        {line}" for line in texts(point.commands))
    return lines


LOCATION = "[LOCATION] [if CONDITION]"
WHAT = "EXPRESSION [if CONDITION]"
COMMANDS = (
    Command(
        "break", LOCATION, "Stop at LINE, FILE:LINE, ptx:LINE, FUNCTION or *ADDRESS.", _break(False), ("b", "br", "brk")
    ),
    Command("tbreak", LOCATION, "Stop at a location once.", _break(True), ("tb",)),
    Command("watch", WHAT, "Stop when a kernel changes a variable, an element or a byte.", _watch("watch")),
    Command("rwatch", WHAT, "Stop when a kernel reads it.", _watch("rwatch")),
    Command("awatch", WHAT, "Stop when a kernel reads or writes it.", _watch("awatch")),
    Command("delete", "[NUMBERS]", "Delete breakpoints and watchpoints; all without numbers.", _delete, ("d",)),
    Command("enable", "[NUMBERS]", "Enable them.", _enable(True)),
    Command("disable", "[NUMBERS]", "Disable them.", _enable(False)),
    Command("condition", "NUMBER [CONDITION]", "Change the condition of a breakpoint.", _condition),
    Command("ignore", "NUMBER COUNT", "Pass a breakpoint COUNT times.", _ignore),
)
