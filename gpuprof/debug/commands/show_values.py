"""Commands that show and change values."""

import re
from collections.abc import Iterator

from gpuprof.debug.commands.command import Command
from gpuprof.debug.commands.settings import is_on
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.thread import Thread
from gpuprof.debug.values.c_types import (
    BASIC,
    MOST_ELEMENTS,
    Storage,
    Value,
    array_of,
    described,
    in_form,
    in_lines,
    shown,
)
from gpuprof.debug.values.evaluation import is_assignment
from gpuprof.errors import DebugError, NoValue

_FORM = re.compile(r"/(\d*)([a-z]*)(?:\s+|$)")
SIZES = {"b": 1, "h": 2, "w": 4, "g": 8}
MOST_UNITS = 10_000


def _format(rest: str) -> tuple[int, str, str]:
    """Count, letters and the rest of `/4xw EXPRESSION`."""
    match = _FORM.match(rest)
    if not match:
        return 1, "", rest
    return int(match[1] or 1), match[2], rest[match.end() :]


def text_of(debugger: Debugger, form: str, expression: str) -> str:
    try:
        return with_text(debugger, debugger.evaluate(expression), form)
    except NoValue as instead:
        return str(instead)


def with_text(debugger: Debugger, value: Value, form: str = "") -> str:
    """A value; a pointer to characters is followed by the text, as in gdb."""
    is_text = value.type.kind == "pointer" and value.type.element is not None and value.type.element.kind == "char"
    if form or not is_text or not value.number:
        return shown(value, form)
    try:
        thread = debugger.thread
        data = string_at(thread, storage_at(thread, value))
    except DebugError as error:
        return f"{value.number:#x} <error: {error}>"
    return f"{value.number:#x} {_text(data)}"


def _print(debugger: Debugger, rest: str) -> list[str]:
    _, form, expression = _format(rest)
    if not expression:
        raise DebugError("Give an expression.")
    try:
        value = debugger.assign(expression) if is_assignment(expression) else debugger.evaluate(expression)
        is_pretty = value.type.kind == "struct" and is_on(debugger, "print pretty")
        text = in_lines(value, form) if is_pretty else with_text(debugger, value, form)
    except NoValue as instead:  # no error, as in gdb: a script continues
        value, text = instead, str(instead)
    debugger.values.append(value)
    return f"${len(debugger.values)} = {text}".split("\n")


def _examine(debugger: Debugger, rest: str) -> list[str]:
    count, letters, expression = _format(rest)
    if not expression:
        raise DebugError("Argument required (starting display address).")
    size = next((SIZES[letter] for letter in letters if letter in SIZES), 4)
    form = next((letter for letter in letters if letter not in SIZES), "x")
    if not 0 < count <= MOST_UNITS:
        raise DebugError(f"{count} units cannot be shown")
    value, thread = debugger.evaluate(expression), debugger.thread
    if value.type.kind == "float":
        raise DebugError(f"a {value.type.name} is not an address")
    if form == "i":
        return _instructions(debugger, value.number, count)
    storage = storage_at(thread, value)
    if form == "s":
        return list(_strings(thread, storage, count))
    unit = BASIC["float" if size == 4 else "double"] if form == "f" and size >= 4 else INTEGERS[size]
    lines, texts, per_line = [], [], {1: 8, 2: 8, 4: 4, 8: 2}[size]
    for number in range(count):
        here = Storage(storage.space, storage.address + number * size)
        if number % per_line == 0:
            texts = []
            lines.append((thread.generic(here), texts))
        texts.append(in_form(Value(unit, thread.fetch(here, size)), {"x": "z"}.get(form, form)))
    return [f"{address:#x}:\t" + "\t".join(texts) for address, texts in lines]


def storage_at(thread: Thread, value: Value) -> Storage:
    """The storage at an address, or of an array or a struct."""
    if value.storage is not None and value.storage.space.startswith("@"):
        return Storage(value.storage.space[1:], value.number)
    return (
        value.storage if value.type.kind in ("array", "struct") and value.storage else thread.storage_of(value.number)
    )


def _strings(thread: Thread, storage: Storage, count: int) -> Iterator[str]:
    """The text of consecutive strings."""
    for _ in range(count):
        data = string_at(thread, storage)
        yield f"{thread.generic(storage):#x}:\t{_text(data)}"
        # A truncated string has no zero after it.
        storage = Storage(storage.space, storage.address + len(data) + (len(data) < MOST_ELEMENTS))


def _text(data: bytes) -> str:
    """The text in quotes; dots mark a truncated one."""
    return shown(Value(array_of(BASIC["char"], len(data)), data)) + ("..." if len(data) == MOST_ELEMENTS else "")


def string_at(thread: Thread, storage: Storage) -> bytes:
    """The bytes of a string up to its zero, or as many as are shown of an array."""
    data = b""
    while (
        len(data) < MOST_ELEMENTS
        and (byte := thread.fetch(Storage(storage.space, storage.address + len(data)), 1)) != b"\0"
    ):
        data += byte
    return data


INTEGERS = {1: BASIC["unsigned char"], 2: BASIC["unsigned short"], 4: BASIC["unsigned int"], 8: BASIC["unsigned long"]}


def _instructions(debugger: Debugger, address: int, count: int) -> list[str]:
    code = debugger.stop.code
    first, rest = divmod(address - code.module.load_base, 16)
    if rest or not 0 <= first < len(code.instructions):
        raise DebugError(f"No instruction at {address:#x}.")
    return [f"{'=>' if at == debugger.thread.at else '  '} {code.pc(at):#x}:\t{code.instructions[at].text}"
            for at in range(first, min(first + count, len(code.instructions)))]  # fmt: skip


def _display(debugger: Debugger, rest: str) -> list[str]:
    if not rest:
        return displayed(debugger)
    _, form, expression = _format(rest)
    number = max(debugger.displays, default=0) + 1
    text = text_of(debugger, form, expression) if debugger.is_running else ""
    debugger.displays[number] = (form, expression)
    return [f"{number}: {_head(form, expression)} = {text}"] if debugger.is_running else []


def _head(form: str, expression: str) -> str:
    return f"/{form} {expression}" if form else expression


def displayed(debugger: Debugger) -> list[str]:
    """The lines shown at each stop; expressions without a value there are left out."""
    lines = []
    for number, (form, expression) in debugger.displays.items():
        try:
            lines.append(f"{number}: {_head(form, expression)} = {text_of(debugger, form, expression)}")
        except DebugError:
            continue
    return lines


def _undisplay(debugger: Debugger, rest: str) -> list[str]:
    numbers = [int(word) for word in rest.split() if word.isdecimal()] or list(debugger.displays)
    for number in numbers:
        if number not in debugger.displays:
            raise DebugError(f"Could not find display number {number}.")
        del debugger.displays[number]
    return []


def _whatis(debugger: Debugger, rest: str) -> list[str]:
    if not rest:
        raise DebugError("Give an expression.")
    return [f"type = {debugger.type_of(rest).name}"]


def _ptype(debugger: Debugger, rest: str) -> list[str]:
    """The type with the members of a struct and the names of an enum."""
    if not rest:
        raise DebugError("Give an expression or a type.")
    return f"type = {described(debugger.type_of(rest))}".split("\n")


COMMANDS = (
    Command(
        "print", "[/F] EXPRESSION", "Show a value, as x, d, u, o, t, a, c, f or z.", _print, ("p", "inspect", "call")
    ),
    Command("x", "[/NFU] ADDRESS", "Show N units of memory in format F, of size U: b, h, w, g.", _examine),
    Command("display", "[/F] [EXPRESSION]", "Show a value at each stop.", _display, ("disp",)),
    Command("undisplay", "[NUMBERS]", "Stop showing it.", _undisplay),
    Command("whatis", "EXPRESSION", "Show the type of a value.", _whatis),
    Command("ptype", "EXPRESSION", "Show a type with its members.", _ptype),
)
