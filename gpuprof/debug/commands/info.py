"""`info`: facts at a stop."""

from gpuprof.debug.commands.command import Command, chosen
from gpuprof.debug.commands.cuda_focus import TABLES, threads
from gpuprof.debug.commands.show_values import displayed, with_text
from gpuprof.debug.commands.stops import info_breakpoints
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.replayer import described
from gpuprof.debug.symbols import Variable
from gpuprof.debug.values.c_types import in_form, shown
from gpuprof.errors import DebugError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES


def _values(debugger: Debugger, variables: list[Variable]) -> list[str]:
    thread, lines = debugger.thread, []
    for variable in variables:
        try:
            lines.append(f"{variable.name} = {with_text(debugger, thread.value(variable))}")
        except DebugError as error:
            lines.append(f"{variable.name} = {error}")
    return lines


def _locals(debugger: Debugger, rest: str) -> list[str]:
    variables = [each for each in debugger.thread.visible() if not each.is_argument]
    if not variables:
        return [_unknown(debugger) or "No locals."]
    return _values(debugger, variables)


def _args(debugger: Debugger, rest: str) -> list[str]:
    thread = debugger.thread
    variables = [each for each in thread.visible()[::-1] if each.is_argument]
    if not variables:
        return [f"{name} = {shown(value)}" for name, value in thread.params()] or [
            _unknown(debugger) or "No arguments."
        ]
    return _values(debugger, variables)


# State space of a variable -> the text of `info scope`.
LOCATIONS = {"": "optimized out", "register": "a variable in registers, where the compiler has not dropped it"}


def _scope(debugger: Debugger, rest: str) -> list[str]:
    """The variables that are visible at a location, those of the innermost block first."""
    if not rest:
        raise DebugError('requires an argument (an expression or variable): a location, as "break" takes it')
    resolved = debugger.find(rest)[0]
    variables = resolved.code.visible_at(resolved.instructions[0])
    if not variables:
        return [f"{rest} has no known variables."]
    lines = []
    for each in variables:
        location = LOCATIONS.get(each.space, f"a variable in {each.space} memory")
        lines.append(f"Symbol {each.name} is {location}, length {each.type.nbytes}.")
    return [f"Scope for {rest}:", *lines]


def _unknown(debugger: Debugger) -> str:
    """The reason for missing variables, if the compiler has dropped all."""
    code, frame = debugger.stop.code, debugger.thread.present
    if code.optimized is not None:
        return ""
    if frame.is_inlined:
        return "Variables of inlined functions are <optimized out>."
    if not code.symbols.scopes:
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
    matches = debugger.find(rest) if rest else []
    code, at = (
        (matches[0].code, matches[0].instructions[0]) if matches else (debugger.stop.code, debugger.thread.present.at)
    )
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
    location = f"{instruction.file}:{instruction.line}, " if instruction.location else ""
    return [
        f"{rest} was written last by kernel {writer.launch}, {described(writer.focus, launch)}",
        f"at {location}{instruction.pc:#x}: {instruction.text}",
    ]


def _allocations(debugger: Debugger, rest: str) -> list[str]:
    memory = debugger.timeline.entries[debugger.stop.launch].memory
    return [f"{each.address:#x}  {each.nbytes:>12} bytes  {each.name}".rstrip() for each in memory.allocations]


def _display(debugger: Debugger, rest: str) -> list[str]:
    return displayed(debugger)


def _frame(debugger: Debugger, rest: str) -> list[str]:
    """The selected frame."""
    thread, frames = debugger.thread, debugger.frames()
    frame, code = thread.present, debugger.stop.code
    lines = [f"Stack level {debugger.frame}, function {frame.function}, pc = {code.pc(frame.at):#x}"]
    if frame.location is not None:
        lines.append(f" {frame.location.file}:{frame.location.line}")
    if debugger.frame + 1 < len(frames):
        how = "inlined into" if frame.is_inlined else "called by"
        lines.append(f" {how} frame {debugger.frame + 1}, function {frames[debugger.frame + 1].function}")
    local = f"{thread.frame_base:#x} in local memory"
    return [*lines, f" its local variables begin at {local}"]


def _symbol(debugger: Debugger, rest: str) -> list[str]:
    """The function, variable or allocation that an address belongs to."""
    if not rest:
        raise DebugError("Give an address.")
    value = debugger.evaluate(rest)
    address = value.storage.address if value.storage and value.type.kind == "array" else int(value.number)
    for code in debugger.codes:
        at = (address - code.pc(0)) // INSTRUCTION_NBYTES
        if 0 <= at < len(code.instructions):
            function = code.function_at(at)
            return [f"{function.display} + {address - code.pc(function.first)} in section .text"]
        for name, start in code.module.global_symbols.items():
            if start <= address < start + code.nbytes_of(name):
                return [f"{name} + {address - start} in global memory"]
    memory = debugger.timeline.entries[debugger.stop.launch].memory
    for each in memory.allocations:
        if each.address <= address < each.address + each.nbytes:
            return [f"{each.name or 'an allocation'} + {address - each.address} in global memory"]
    return [f"No symbol matches {rest}."]


def _functions(debugger: Debugger, rest: str) -> list[str]:
    functions = [(code.pc(each.first), each) for code in debugger.codes for each in code.module.program.functions]
    return [
        f"{address:#x}  {each.display}{'' if each.is_kernel else '  (device function)'}"
        for address, each in functions
        if rest in each.display
    ] or ["No code is loaded." if not functions else f"No function has {rest!r:.40} in its name."]


def _variables(debugger: Debugger, rest: str) -> list[str]:
    """Module variables, in global and constant memory."""
    variables = sorted({each.name: each for code in debugger.codes for each in code.known.globals}.items())
    return [f"{each.type.name}  {name}" for name, each in variables if rest in name] or ["No variables."]


def _libraries(debugger: Debugger, rest: str) -> list[str]:
    return ["No shared libraries are listed: `info functions` has the kernels of all modules."]


def _threads(debugger: Debugger, rest: str) -> list[str]:
    return ["Host threads are not stopped. Those of the kernel:", *threads(debugger, "")]


def _program(debugger: Debugger, rest: str) -> list[str]:
    stop = debugger.stop
    return [f"{debugger.file} waits in launch {stop.launch}, in front of its event {stop.event} ({stop.reason})."]


def _source(debugger: Debugger, rest: str) -> list[str]:
    names = sorted({name for code in debugger.codes for name in code.files})
    return names or ["No code is loaded."]


INFOS = (
    Command("breakpoints", "", "Breakpoints and watchpoints.", info_breakpoints, ("b", "br", "watchpoints")),
    Command("registers", "[NAMES]", "Registers of the focused thread.", _registers, ("r",)),
    Command("locals", "", "Local variables of the selected frame.", _locals, ("lo",)),
    Command("args", "", "Arguments of the selected frame.", _args),
    Command("scope", "LOCATION", "The variables that are visible at a location.", _scope),
    Command("line", "[LOCATION]", "The code of a line.", _line),
    Command("cuda", "TABLE", "kernels, blocks, warps, lanes or threads.", _cuda),
    Command("last-write", "EXPRESSION", "Which thread wrote a variable or a byte last.", _last_write),
    Command("allocations", "", "The allocations of global memory.", _allocations),
    Command("display", "", "The expressions shown at each stop.", _display),
    Command("sources", "", "Files whose text is known.", _source),
    Command("frame", "", "The selected frame.", _frame, ("f",)),
    Command("symbol", "ADDRESS", "The function, variable or allocation at an address.", _symbol),
    Command("functions", "[PART]", "Kernels and device functions, by a part of their name.", _functions),
    Command("variables", "[PART]", "Variables of the modules, by a part of their name.", _variables),
    Command("threads", "", "The threads of the kernel, as `info cuda threads`.", _threads),
    Command("program", "", "The position of the program.", _program),
    Command("sharedlibrary", "", "There are none for kernels.", _libraries),
)


WITHOUT_STOP = ("breakpoints", "sources", "cuda", "display", "functions", "variables", "sharedlibrary")


def _info(debugger: Debugger, rest: str) -> list[str]:
    name, _, arguments = rest.strip().partition(" ")
    if not name:
        raise DebugError(f"Give one of: {', '.join(each.name for each in INFOS)}.")
    command = chosen(name, INFOS, "info command")
    needs_stop = command.name not in WITHOUT_STOP
    if needs_stop and (debugger.stop is None or debugger.stop.state is None):
        raise DebugError("The program is not being run.")
    return command.run(debugger, arguments.strip())


COMMANDS = (Command("info", "WHAT", "Show facts: `help info` lists them.", _info, ("i",)),)
