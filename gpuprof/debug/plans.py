"""Conditions for the next stop, and the stop itself. A step follows one thread: all others run on, in the emulator's
order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.debug.code_locations import LoadedCode
from gpuprof.debug.thread import WARP, Focus, warp_of
from gpuprof.emulate.blocks import Block
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import Executed
from gpuprof.emulate.watch.watch_state import State


class Position(NamedTuple):
    """The position of a thread: its depth in calls, its depth in functions inlined there, and its line: file, line,
    call sites and function; None without a known source, and where its function still stores its arguments.
    """

    at: int
    call_depth: int
    inline_depth: int
    line: tuple | None

    @property
    def depth(self) -> tuple[int, int]:
        return self.call_depth, self.inline_depth


def position_of(code: LoadedCode, at: int, call_depth: int) -> Position:
    location = code.instructions[at].location
    if location is None or code.is_head(at):
        return Position(at, call_depth, 0, None)
    line = location.file, location.line, location.inlined_at, code.first_of(at)
    return Position(at, call_depth, len(list(code.instructions[at].frames)) - 1, line)


Arrived = Callable[[Position, LoadedCode], bool]


def by_instruction(start: Position) -> Arrived:
    return lambda here, code: True


def over_instruction(start: Position) -> Arrived:
    return lambda here, code: here.call_depth <= start.call_depth


def by_line(start: Position) -> Arrived:
    return lambda here, code: here.line is not None and _is_elsewhere(here, start)


def _is_elsewhere(here: Position, start: Position) -> bool:
    return here.line != start.line or here.call_depth != start.call_depth


def over_line(start: Position) -> Arrived:
    return lambda here, code: here.line is not None and here.depth <= start.depth and _is_elsewhere(here, start)


def past_line(start: Position) -> Arrived:
    """The condition for a later line of the same function, or for a return: not for the head of a loop."""

    def arrived(here: Position, code: LoadedCode) -> bool:
        if here.line is None or here.depth > start.depth or start.line is None:
            return False
        return here.depth < start.depth or (here.line[0] == start.line[0] and here.line[1] > start.line[1])

    return arrived


def out_of_function(start: Position) -> Arrived:
    return lambda here, code: here.depth < start.depth


def to_instructions(targets: frozenset[int], start: Position) -> Arrived:
    """The condition for some instructions, or for a return from the function."""
    return lambda here, code: here.at in targets or here.depth < start.depth


@dataclass
class Step:
    """Follows thread `focus` of launch `launch`, `count` times, until it has arrived."""

    launch: int
    focus: Focus
    start: Position
    plan: Callable[[Position], Arrived]
    count: int = 1

    def __post_init__(self):
        self._arrived = self.plan(self.start)

    def looks(self, here: Position, code: LoadedCode) -> bool:
        """True if the last of the steps ends before an instruction that the thread is about to run."""
        if not self._arrived(here, code):
            return False
        self.count -= 1
        if self.count:
            self._arrived = self.plan(here)
        return not self.count


Look = Callable[[Executed, int], None]  # an instruction, and the number of its event
# A basic block that `lanes` are about to run, and the number of its first event. True if that is sufficient; otherwise
# each of its events is reported.
Overlook = Callable[[Block, Lanes, int], bool]


class Instant(NamedTuple):
    """The time just before an event of a launch."""

    launch: int
    event: int


class Rewind(Exception):
    """Raised to run launches again from an instant on, starting at a saved state before it."""

    def __init__(self, to: Instant):
        super().__init__(to)
        self.to = to


@dataclass
class Order:
    """How the launches continue. `rewind`: from a saved state at this instant or before it, otherwise from here.
    `until`: stop before this event of its launch in any case. `minds_points`: breakpoints and watchpoints stop it.
    `look` is called with each event, except in blocks that `overlook` skips. `ends_with_launch`: stop when the launch
    that runs first has ended.
    """

    step: Step | None = None
    rewind: Instant | None = None
    until: int | None = None
    minds_points: bool = True
    look: Look | None = None
    overlook: Overlook | None = None
    ends_with_launch: bool = False
    breaks_on_launch: bool = False


def row_of(executed: Executed, focus: Focus) -> int | None:
    """The row of an event whose active lanes include a thread; None without such a row."""
    rows = (executed.grid_blocks == focus.block) & (executed.warps_of_block == focus.thread // WARP)
    for row in rows.nonzero()[0].tolist():
        if int(executed.masks[row]) >> focus.thread % WARP & 1:
            return row
    return None


def runs(lanes: Lanes, focus: Focus) -> bool:
    """True if a thread is one of the active lanes."""
    warp = warp_of(lanes.chunk, focus)
    rows = () if warp is None else (lanes.step_warps == warp).nonzero()[0].tolist()
    return any(int(lanes.step_masks[row]) >> focus.thread % WARP & 1 for row in rows)


@dataclass(eq=False)
class Stop:
    """The reason and position of a stop: before event `event` of launch `launch` (its number in this run, from 0).

    `reason`: breakpoint, watchpoint, step, launch, exited (the followed thread), until, interrupt, fault, launch_end,
    history (no earlier history), exit, error. `text`: the lines to print. `state` and `code` are None where no launch
    runs.
    """

    reason: str
    launch: int = -1
    event: int = -1
    focus: Focus | None = None
    text: tuple[str, ...] = ()
    points: tuple[int, ...] = ()
    state: State | None = None
    code: LoadedCode | None = None
    exit_code: int = 0
