"""The focus, and tables of running kernels, blocks, warps, lanes, threads."""

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby

import numpy as np

from gpuprof.debug.commands.command import Command, refused
from gpuprof.debug.commands.stop_text import focus_text, launch_text, line_text
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.plans import Stop
from gpuprof.debug.thread import WARP, Coordinates, Focus, Thread, coordinates, focus_of, text_of
from gpuprof.debug.values.c_types import shown
from gpuprof.debug.values.evaluation import evaluate
from gpuprof.errors import DebugError, NoValue

_WORD = re.compile(r"\s*(device|kernel|grid|block|thread|warp|lane)\b\s*(\(?[\d,\s]*\)?)")


def _linear(text: str, extent: Coordinates, what: str) -> int:
    """`7` or `(1,2)` as a linear index. Raises DebugError outside of the extent."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    x, y, z = extent
    if not 1 <= len(numbers) <= 3:
        raise DebugError(f"{text.strip()!r:.40} is not a {what}")
    if len(numbers) == 1 and "(" not in text:
        index = numbers[0]
        is_inside = index < x * y * z
    else:
        i, j, k = (*numbers, 0, 0)[:3]
        is_inside = i < x and j < y and k < z
        index = i + x * (j + y * k)
    if not is_inside:
        raise DebugError("Request cannot be satisfied. CUDA focus unchanged.")
    return index


def focus(debugger: Debugger, rest: str) -> list[str]:
    """`cuda block 1 thread (3,0,0)`, `cuda warp 1 lane 4`; without a number, shows the focus."""
    here = debugger.stop
    if here is None or here.state is None:
        raise DebugError("Focus not set on any active CUDA kernel.")
    launch = debugger.timeline.entries[here.launch].launch
    block, thread, at, changed = debugger.focus.block, debugger.focus.thread, 0, False
    said = []
    while at < len(rest.rstrip()):
        match = _WORD.match(rest, at)
        if rest[at:].split()[:1] == ["sm"]:
            raise DebugError(NO_SM)
        if not match or match.end() == at:
            raise DebugError(f'Unrecognized argument(s): "{rest[at:].strip():.40}".')
        name, text, at = match[1], match[2], match.end()
        if not text.strip():
            said.append(_part(name, here, block, thread))
            continue
        changed = True
        if name == "block":
            block = _linear(text, launch.grid, name)
        elif name == "thread":
            thread = _linear(text, launch.block, name)
        elif name == "warp":
            thread = _linear(text, (-(-launch.threads_per_block // WARP), 1, 1), name) * WARP + thread % WARP
        elif name == "lane":
            thread = thread // WARP * WARP + _linear(text, (WARP, 1, 1), name)
        elif name == "device":
            _linear(text, (1, 1, 1), name)
        elif _linear(text, (here.launch + 1, 1, 1), name) != here.launch:
            raise DebugError("Request cannot be satisfied. CUDA focus unchanged.")
    if not changed:
        return [", ".join(said) or focus_text(debugger.focus, launch, here.launch)]
    if thread >= launch.threads_per_block:
        raise DebugError("Request cannot be satisfied. CUDA focus unchanged.")
    debugger.focus = Focus(block, thread)
    text = f"[Switching focus to CUDA {focus_text(debugger.focus, launch, here.launch)}]"
    return [text, "The thread has exited." if debugger.thread.has_exited else line_text(debugger)]


def _part(name: str, here: Stop, block: int, thread: int) -> str:
    launch = here.state.chunk.launch
    values = {
        "device": 0,
        "kernel": here.launch,
        "grid": here.launch,
        "block": text_of(coordinates(block, launch.grid)),
        "thread": text_of(coordinates(thread, launch.block)),
        "warp": thread // WARP,
        "lane": thread % WARP,
    }
    return f"{name} {values[name]}"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns as wide as their widest cell; a star marks the row of the focus."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _here(debugger: Debugger) -> Stop:
    if debugger.stop is None or debugger.stop.state is None:
        raise DebugError("No CUDA kernels.")
    return debugger.stop


def kernels(debugger: Debugger, rest: str) -> list[str]:
    """All launches until now; a star marks the running one."""
    here, rows = _here(debugger), []
    for number, entry in enumerate(debugger.timeline.entries):
        launch = entry.launch
        state = "running" if number == here.launch else "ended" if number < here.launch else "later"
        rows.append(("*" if number == here.launch else "", number, launch.stream, state, launch_text(launch)))
    return table(("", "Kernel", "Stream", "State", "Invocation"), rows)


def blocks(debugger: Debugger, rest: str) -> list[str]:
    """The blocks that run now: those of the emulator's chunk."""
    here = _here(debugger)
    chunk, rows = here.state.chunk, []
    live = chunk.live.reshape(chunk.n_blocks, -1)
    for position in range(chunk.n_blocks):
        block = int(chunk.launch.grid_blocks(chunk.first_block + position))
        n_live = int(np.bitwise_count(live[position]).sum())
        mark = "*" if block == here.focus.block else ""
        rows.append((mark, text_of(coordinates(block, chunk.launch.grid)), "running" if n_live else "ended", n_live))
    return table(("", "BlockIdx", "State", "Threads"), rows)


def warps(debugger: Debugger, rest: str) -> list[str]:
    """The warps of the focused block and their positions. A warp has a row for each position of its lanes."""
    here = _here(debugger)
    places, chunk, rows = here.state.places, here.state.chunk, []
    for warp in range(chunk.warps_per_block):
        row = debugger.thread.lane.warp - here.focus.thread // WARP + warp
        live = int(chunk.live[row])
        mark = "*" if warp == here.focus.thread // WARP else ""
        if not live:
            rows.append((mark, warp, "0x00000000", "", "exited", ""))
        for at in sorted(set(places[row].tolist()) - {-1}):
            mask = sum(1 << lane for lane in range(WARP) if places[row][lane] == at)
            rows.append((mark, warp, f"0x{mask:08x}", f"{here.code.pc(at):#x}", _source(here, at), _text(here, at)))
    return table(("", "Wp", "Lanes", "PC", "Line", "Instruction"), rows)


def lanes(debugger: Debugger, rest: str) -> list[str]:
    """The 32 lanes of the focused warp. Arguments are expressions: each is a column."""
    here = _here(debugger)
    first = here.focus.thread // WARP * WARP
    lane_places = here.state.places[debugger.thread.lane.warp]
    expressions, rows = [text.strip() for text in split(rest)], []
    for text in expressions:
        _check(debugger, text)
    threads = here.state.chunk.launch.threads_per_block
    for lane in range(WARP):
        at = int(lane_places[lane])
        mark = "*" if first + lane == here.focus.thread else ""
        if first + lane >= threads:
            rows.append((mark, lane, "absent", "", "", "", *[""] * len(expressions)))
            continue
        thread = text_of(coordinates(first + lane, here.state.chunk.launch.block))
        if at < 0:
            rows.append((mark, lane, "exited", thread, "", "", *[""] * len(expressions)))
            continue
        active = "active" if at == debugger.thread.at else "divergent"
        values = [_value(debugger, Focus(here.focus.block, first + lane), text) for text in expressions]
        rows.append((mark, lane, active, thread, f"{here.code.pc(at):#x}", _source(here, at), *values))
    return table(("", "Ln", "State", "ThreadIdx", "PC", "Line", *expressions), rows)


def split(text: str) -> list[str]:
    """Splits text at commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [each for each in [*parts, text[start:]] if each.strip()]


def _check(debugger: Debugger, text: str) -> None:
    """Raises DebugError for an expression without a meaning in the focused thread, even if it has no value there."""
    with suppress(NoValue):
        debugger.evaluate(text)


def _value(debugger: Debugger, focus: Focus, text: str) -> str:
    try:
        return shown(evaluate(text, Thread(debugger.stop.state, debugger.stop.code, focus)))
    except DebugError as error:
        return str(error) if str(error).startswith("<") else "-"


def threads(debugger: Debugger, rest: str) -> list[str]:
    """Ranges of running threads at the same position, in the order of blocks."""
    here = _here(debugger)
    state, rows = here.state, []
    chunk, places = state.chunk, state.places
    by_block = []
    for warp in range(chunk.n_warps):
        for lane in range(WARP):
            if places[warp, lane] >= 0:
                by_block.append((focus_of(state, warp, lane), int(places[warp, lane])))
    by_block.sort()
    for (block, at), group in groupby(by_block, lambda each: (each[0].block, each[1])):
        members = [each[0].thread for each in group]
        first, last = (text_of(coordinates(thread, chunk.launch.block)) for thread in (members[0], members[-1]))
        mark = "*" if block == here.focus.block and here.focus.thread in members else ""
        where = text_of(coordinates(block, chunk.launch.grid))
        rows.append((mark, where, first, last, len(members), f"{here.code.pc(at):#x}", _source(here, at)))
    return table(("", "BlockIdx", "From", "To", "Count", "PC", "Line"), rows)


def _source(here: Stop, at: int) -> str:
    location = here.code.instructions[at].location
    return f"{location.file.rpartition('/')[2]}:{location.line}" if location else ""


def _text(here: Stop, at: int) -> str:
    return here.code.instructions[at].text


NO_SM = "Kernels are emulated without a chip's SMs here; `gpuprof collect` records when and where a block runs."


def devices(debugger: Debugger, rest: str) -> list[str]:
    """The only device, with the architecture of the running code."""
    return table(("", "Dev", "SM Type"), [("*", 0, _here(debugger).code.module.program.arch)])


NO_MANAGED = "Managed memory is memory like all other here: `info allocations` lists it."

COMMANDS = (Command("cuda", "[block B] [thread T] [warp W] [lane L]", "Show or switch the focused thread.", focus),)
TABLES = (
    Command("kernels", "", "All launches until now.", kernels),
    Command("blocks", "", "The blocks that run now.", blocks),
    Command("warps", "", "The warps of the focused block.", warps),
    Command("lanes", "[EXPRESSION, ...]", "The 32 lanes of the focused warp, with values.", lanes),
    Command("threads", "", "Ranges of threads at one location.", threads),
    Command("devices", "", "The GPU.", devices),
    Command("managed", "", NO_MANAGED, refused(NO_MANAGED)),
    Command("sms", "", NO_SM, refused(NO_SM)),
)
