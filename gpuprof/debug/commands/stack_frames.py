"""Commands that show where the focused thread is."""

from gpuprof.debug.code_locations import PTX, same_file
from gpuprof.debug.commands.command import Command
from gpuprof.debug.commands.settings import count_of
from gpuprof.debug.commands.stop_text import frame_text, line_text, source_line
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError


def _backtrace(debugger: Debugger, rest: str) -> list[str]:
    frames = debugger.frames()
    if rest.strip().isdecimal():
        frames = frames[: int(rest)]
    return [f"#{index}  {frame_text(debugger, frame, index)}" for index, frame in enumerate(frames)]


def _select(debugger: Debugger, index: int) -> list[str]:
    frames = debugger.frames()
    debugger.frame = index
    return [f"#{index}  {frame_text(debugger, frames[index], index)}", line_text(debugger)]


def _frame(debugger: Debugger, rest: str) -> list[str]:
    frames = debugger.frames()
    index = int(rest) if rest.isdecimal() else debugger.frame
    if rest and (not rest.isdecimal() or index >= len(frames)):
        raise DebugError(f"No frame at level {rest:.20}.")
    return _select(debugger, index)


def _up(debugger: Debugger, rest: str) -> list[str]:
    count = int(rest) if rest.isdecimal() else 1
    last = len(debugger.frames()) - 1
    if debugger.frame == last:
        raise DebugError("Initial frame selected; you can't go up.")
    return _select(debugger, min(debugger.frame + count, last))


def _down(debugger: Debugger, rest: str) -> list[str]:
    count = int(rest) if rest.isdecimal() else 1
    debugger.frames()
    if debugger.frame == 0:
        raise DebugError("Bottom (innermost) frame selected; you can't go down.")
    return _select(debugger, max(debugger.frame - count, 0))


def _list(debugger: Debugger, rest: str) -> list[str]:
    file, line = debugger.shown_line
    size = count_of(debugger, "listsize")
    if rest:
        spec = debugger.linespec(rest)
        if spec.line:
            file, line = spec.file, spec.line
        else:
            resolved = debugger.find(rest)[0]
            location = resolved.code.instructions[resolved.instructions[0]].location
            if location is None:
                raise DebugError(f"No source is known of {rest}.")
            file, line = location.file, location.line
        first = max(1, line - size // 2)
    elif debugger.listed and debugger.listed[0] == file and debugger.listed[2] is debugger.stop:
        first = debugger.listed[1]
    else:
        first = max(1, line - size // 2)
    own = debugger.own_lines if not debugger.codes and same_file(str(debugger.file), file) else []
    known: list[tuple[int, str]] = []
    while len(known) < size and (text := _source(debugger, own, file, first + len(known))) is not None:
        known.append((first + len(known), text))
    if not known:
        raise DebugError(f"Line number {first} out of range; or no source of {file} is known.")
    debugger.listed = (file, known[-1][0] + 1, debugger.stop)
    return [f"{number}\t{text}" for number, text in known]


def _source(debugger: Debugger, own: list[str], file: str, line: int) -> str | None:
    """`own`: lines of the debugged file, used while no code is loaded."""
    for code in debugger.codes:
        if (text := source_line(code, file, line)) is not None:
            return text
    return own[line - 1] if 0 < line <= len(own) else None


def _disassemble(debugger: Debugger, rest: str) -> list[str]:
    """gpuprof's instructions, between the PTX lines from which they were assembled."""
    code = debugger.stop.code if debugger.stop and debugger.stop.state else None
    if rest:
        resolved = debugger.find(rest)[0]
        code, at = resolved.code, resolved.instructions[0]
    elif code is None:
        raise DebugError("The program is not being run.")
    else:
        at = debugger.thread.present.at
    here = debugger.thread.present.at if debugger.stop.state and debugger.stop.code is code else -1
    function = code.function_at(at)
    lines, ptx_line = [f"Dump of assembler code for function {function.display}:"], 0
    for number in range(function.first, function.first + function.count):
        instruction = code.instructions[number]
        if instruction.ptx_line != ptx_line and (text := source_line(code, PTX, instruction.ptx_line)):
            lines.append(f"{instruction.ptx_line}\t{text.strip()}")
        ptx_line = instruction.ptx_line
        arrow = "=>" if number == here else "  "
        lines.append(f"{arrow} {code.pc(number):#x} <+{16 * (number - function.first)}>:\t{instruction.text}")
    return [*lines, "End of assembler dump."]


COMMANDS = (
    Command(
        "backtrace", "[N]", "The functions around the focused thread, inlined ones too.", _backtrace, ("bt", "where")
    ),
    Command("frame", "[N]", "Select a frame of the backtrace.", _frame, ("f",)),
    Command("up", "[N]", "Select the caller's frame.", _up, (), True),
    Command("down", "[N]", "Select the callee's frame.", _down, (), True),
    Command("list", "[LOCATION]", "Show lines of the source.", _list, ("l",), True),
    Command(
        "disassemble", "[FUNCTION]", "Show PTX and instructions; an arrow is at the next one.", _disassemble, ("disas",)
    ),
)
