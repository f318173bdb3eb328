"""The texts of positions and stops."""

from gpuprof.base.processes import how_ended
from gpuprof.debug.code_locations import PTX, Frame, LoadedCode, same_file
from gpuprof.debug.commands.command_blocks import is_silent
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.plans import Stop
from gpuprof.debug.thread import WARP, Focus, Thread, coordinates, text_of
from gpuprof.debug.values.c_types import shown
from gpuprof.device.commands import Launch
from gpuprof.errors import DebugError


def focus_text(focus: Focus, launch: Launch, number: int) -> str:
    block, thread = coordinates(focus.block, launch.grid), coordinates(focus.thread, launch.block)
    warp, lane = divmod(focus.thread, WARP)
    return f"kernel {number}, block {text_of(block)}, thread {text_of(thread)}, warp {warp}, lane {lane}"


def launch_text(launch: Launch) -> str:
    grid, block = (",".join(map(str, extent)) for extent in (launch.grid, launch.block))
    return f"{launch.function.display}<<<({grid}),({block})>>>"


def source_line(code: LoadedCode, file: str, line: int) -> str | None:
    """The text of a line of a known source."""
    if file == PTX:
        lines = code.ptx_lines
    else:
        text = next((text for path, text in code.files.items() if same_file(path, file)), None)
        if text is None:
            return None
        lines = text.split("\n")
    return lines[line - 1] if 0 < line <= len(lines) else None


def arguments_text(thread: Thread) -> str:
    """`(n=100, x=0x700000000)`: the known arguments of a frame."""
    texts = []
    visible = [each for each in thread.visible()[::-1] if each.is_argument]
    for variable in visible:
        try:
            texts.append(f"{variable.name}={short(thread, variable)}")
        except DebugError as error:
            texts.append(f"{variable.name}={error}")
    if not visible and not thread.present.is_inlined:
        texts = [f"{name}={shown(value, 'x' if value.type.nbytes == 8 and value.type.kind == 'int' else '')}"
                 for name, value in thread.params()]  # fmt: skip
    return f"({', '.join(texts)})"


def short(thread: Thread, variable) -> str:
    """A value on one line of a frame: pointers without their types, structs not at all."""
    value = thread.value(variable)
    if value.type.kind in ("struct", "array"):
        return "..."
    return f"{value.number:#x}" if value.type.kind == "pointer" else shown(value)


def frame_text(debugger: Debugger, frame: Frame, index: int) -> str:
    """`k<<<(2,1,1),(64,1,1)>>> (n=100) at k.cu:7`."""
    here = debugger.stop
    is_kernel = not frame.is_inlined and here.code.function_at(frame.at).is_kernel
    name = launch_text(here.state.chunk.launch) if is_kernel else frame.function
    thread = Thread(here.state, here.code, debugger.focus, index)
    location = (
        f" at {frame.location.file}:{frame.location.line}" if frame.location else f" ({here.code.pc(frame.at):#x})"
    )
    return f"{name} {arguments_text(thread)}{location}"


def line_text(debugger: Debugger) -> str:
    """The line of the selected frame, with its number; without a source, the instruction."""
    here, frame = debugger.stop, debugger.thread.present
    if frame.location is not None:
        text = source_line(here.code, frame.location.file, frame.location.line)
        if text is not None:
            return f"{frame.location.line}\t{text}"
        return f"{frame.location.line}\tin {frame.location.file}"
    return instruction_text(here.code, frame.at)


def instruction_text(code: LoadedCode, at: int) -> str:
    return f"=> {code.pc(at):#x} <+{16 * (at - code.first_of(at))}>:\t{code.instructions[at].text}"


def stop_lines(debugger: Debugger, stop: Stop, before: tuple | None, by_instruction: bool = False) -> list[str]:
    """The lines printed at a stop. `before`: launch, focus and frame's function at the previous position."""
    if stop.state is None:
        return _end_lines(stop)
    if any(is_silent(point.commands) for point in debugger.points.stopped(stop.points)):
        return []
    lines = []
    number = debugger.timeline.entries[stop.launch].launch
    if before is None or before[:2] != (stop.launch, stop.focus):
        lines.append(f"[Switching focus to CUDA {focus_text(stop.focus, number, stop.launch)}]")
    lines += stop.text
    for point in stop.points if stop.reason == "breakpoint" else ():
        lines.append(f"Breakpoint {point}, {frame_text(debugger, debugger.frames()[0], 0)}")
    if debugger.thread.has_exited:
        return lines
    frame = debugger.frames()[0]
    is_elsewhere = before is None or before[2] != (frame.function, len(debugger.frames()))
    if stop.reason != "breakpoint" and (is_elsewhere or stop.reason in ("interrupt", "fault", "watchpoint")):
        lines.append(frame_text(debugger, frame, 0))
    lines.append(line_text(debugger))
    if by_instruction and frame.location is not None:
        lines.append(instruction_text(stop.code, frame.at))
    return lines


def _end_lines(stop: Stop) -> list[str]:
    """Raises DebugError, as gdb does where a program cannot be run on."""
    if stop.reason == "error":
        raise DebugError("\n".join((*stop.text, "[Program ended by an error]")))
    if stop.exit_code < 0:
        return [f"Program terminated with {how_ended(stop.exit_code)}."]
    how = "normally" if not stop.exit_code else f"with code {stop.exit_code:02o}"
    return [f"[Program exited {how}]"]
