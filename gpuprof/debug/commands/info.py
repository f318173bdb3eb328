"""`info`: what there is to know at a stop."""

from gpuprof.debug.commands.command import Command, chosen
from gpuprof.debug.commands.cuda import TABLES
from gpuprof.debug.commands.data import displayed
from gpuprof.debug.commands.stops import info_breakpoints
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.symbols import Variable
from gpuprof.debug.timeline import described
from gpuprof.debug.types import in_form, shown
from gpuprof.errors import DebugError


def _values(debugger: Debugger, variables: list[Variable]) -> list[str]:
    thread, lines = debugger.thread, []
    for variable in variables:
        try:
            lines.append(f"{variable.name} = {shown(thread.value(variable))}")
        except DebugError as error:
            lines.append(f"{variable.name} = {error}")
    return lines


def _locals(debugger: Debugger, rest: str) -> list[str]:
    found = [each for each in debugger.thread.visible() if not each.is_argument]
    if not found:
        return [_unknown(debugger) or "No locals."]
    return _values(debugger, found)


def _args(debugger: Debugger, rest: str) -> list[str]:
    thread = debugger.thread
    found = [each for each in thread.visible()[::-1] if each.is_argument]
    if not found:
        return [f"{param.name} = {shown(value)}" for param, value in thread.params()] or [
            _unknown(debugger) or "No arguments."
        ]
    return _values(debugger, found)


def _unknown(debugger: Debugger) -> str:
    """Why there are no variables, where the compiler has not kept any."""
    frame = debugger.thread.present
    if frame.is_inlined:
        return "Variables of inlined functions are <optimized out>."
    if not debugger.stop.code.symbols.scopes:
        return "Variables are <optimized out>: the code was not compiled for a debugger."
    return ""


def _registers(debugger: Debugger, rest: str) -> list[str]:
    thread = debugger.thread
    if thread.has_exited:
        raise DebugError(f"{thread.name} has exited")
    wanted = [word.removeprefix("$") for word in rest.split()]
    lines = []
    for name in wanted:
        if thread.register(f"${name}") is None:
            raise DebugError(f"Invalid register `{name:.20}'")
    known = [("pc", thread.register("$pc")), *thread.registers()]
    for name, value in known:
        if not wanted or name in wanted:
            plain = shown(value) if name != "pc" else debugger.stop.code.function_at(thread.at).display
            lines.append(f"{name:<8}{in_form(value, 'x'):<20}{plain}")
    return lines


def _line(debugger: Debugger, rest: str) -> list[str]:
    found = debugger.find(rest) if rest else []
    code, at = (found[0].code, found[0].places[0]) if found else (debugger.stop.code, debugger.thread.present.at)
    location = code.instructions[at].location
    if location is None:
        return [f"No line number information available for address {code.pc(at):#x}."]
    numbers = [each.number for each in code.instructions if each.location == location]
    ptx = code.instructions[at].ptx_line
    return [f'Line {location.line} of "{location.file}" starts at address {code.pc(numbers[0]):#x} '
            f"({len(numbers)} instructions); PTX line {ptx}."]  # fmt: skip


def _cuda(debugger: Debugger, rest: str) -> list[str]:
    name, _, arguments = rest.strip().partition(" ")
    if not name:
        raise DebugError(f"Give one of: {', '.join(each.name for each in TABLES)}.")
    return chosen(name, TABLES, "info cuda command").run(debugger, arguments)


def _last_write(debugger: Debugger, rest: str) -> list[str]:
    if not rest:
        raise DebugError("Give an expression or an address.")
    writer = debugger.last_write(rest)
    if writer is None:
        return [f"No kernel has written {rest} before."]
    launch = debugger.timeline.entries[writer.launch].launch
    instruction = writer.code.instructions[writer.at]
    place = f"{instruction.file}:{instruction.line}, " if instruction.location else ""
    return [
        f"{rest} was written last by kernel {writer.launch}, {described(writer.focus, launch)}",
        f"at {place}{instruction.pc:#x}: {instruction.text}",
    ]


def _allocations(debugger: Debugger, rest: str) -> list[str]:
    memory = debugger.timeline.entries[debugger.stop.launch].memory
    return [f"{each.address:#x}  {each.nbytes:>12} bytes  {each.name}".rstrip() for each in memory.allocations]


def _display(debugger: Debugger, rest: str) -> list[str]:
    return displayed(debugger)


def _source(debugger: Debugger, rest: str) -> list[str]:
    names = sorted({name for code in debugger.codes for name in code.files})
    return names or ["No code is loaded."]


INFOS = (
    Command("breakpoints", "", "Breakpoints and watchpoints.", info_breakpoints, ("b", "br", "watchpoints")),
    Command("registers", "[NAMES]", "Registers of the focused thread.", _registers, ("r",)),
    Command("locals", "", "Local variables of the selected frame.", _locals, ("lo",)),
    Command("args", "", "Arguments of the selected frame.", _args),
    Command("line", "[PLACE]", "The code of a line.", _line),
    Command("cuda", "TABLE", "kernels, blocks, warps, lanes or threads.", _cuda),
    Command("last-write", "EXPRESSION", "Which thread wrote a variable or a byte last.", _last_write),
    Command("allocations", "", "The allocations of global memory.", _allocations),
    Command("display", "", "What is shown at each stop.", _display),
    Command("sources", "", "Files whose text is known.", _source),
)


def _info(debugger: Debugger, rest: str) -> list[str]:
    name, _, arguments = rest.strip().partition(" ")
    if not name:
        raise DebugError(f"Give one of: {', '.join(each.name for each in INFOS)}.")
    command = chosen(name, INFOS, "info command")
    needs_stop = command.name not in ("breakpoints", "sources", "cuda", "display")
    if needs_stop and (debugger.stop is None or debugger.stop.state is None):
        raise DebugError("The program is not being run.")
    return command.run(debugger, arguments.strip())


COMMANDS = (Command("info", "WHAT", "Show facts: `help info` lists them.", _info, ("i",)),)
