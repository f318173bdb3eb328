"""When to stop next. A step follows one thread: all others run on, in the emulator's order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.debug.locations import LoadedCode
from gpuprof.debug.thread import WARP, Focus, warp_of
from gpuprof.emulate.blocks import Block
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import Executed
from gpuprof.emulate.watch.watch_state import State


class Standing(NamedTuple):
    """Where a thread stands: how deep in calls, how deep in functions inlined there, and in which line: file, line and
    call sites; None where no source is known, and where its function still puts arguments in their places.
    """

    at: int
    call_depth: int
    inline_depth: int
    line: tuple | None

    @property
    def depth(self) -> tuple[int, int]:
        return self.call_depth, self.inline_depth


def standing(code: LoadedCode, at: int, call_depth: int) -> Standing:
    location = code.instructions[at].location
    if location is None or code.is_head(at):
        return Standing(at, call_depth, 0, None)
    line = location.file, location.line, location.inlined_at, code.first_of(at)
    return Standing(at, call_depth, len(list(code.instructions[at].frames)) - 1, line)


Arrived = Callable[[Standing, LoadedCode], bool]


def by_instruction(start: Standing) -> Arrived:
    return lambda here, code: True


def over_instruction(start: Standing) -> Arrived:
    return lambda here, code: here.call_depth <= start.call_depth


def by_line(start: Standing) -> Arrived:
    return lambda here, code: here.line is not None and _is_elsewhere(here, start)


def _is_elsewhere(here: Standing, start: Standing) -> bool:
    return here.line != start.line or here.call_depth != start.call_depth


def over_line(start: Standing) -> Arrived:
    return lambda here, code: here.line is not None and here.depth <= start.depth and _is_elsewhere(here, start)


def past_line(start: Standing) -> Arrived:
    """To a line behind this one of the same function, or out of it: not back to the head of a loop."""

    def arrived(here: Standing, code: LoadedCode) -> bool:
        if here.line is None or here.depth > start.depth or start.line is None:
            return False
        return here.depth < start.depth or (here.line[0] == start.line[0] and here.line[1] > start.line[1])

    return arrived


def out_of_function(start: Standing) -> Arrived:
    return lambda here, code: here.depth < start.depth


def to_places(places: frozenset[int], start: Standing) -> Arrived:
    """To some instructions, or out of the function."""
    return lambda here, code: here.at in places or here.depth < start.depth


@dataclass
class Step:
    """Follows thread `focus` of launch `launch`, `count` times, until it has arrived."""

    launch: int
    focus: Focus
    start: Standing
    plan: Callable[[Standing], Arrived]
    count: int = 1

    def __post_init__(self):
        self._arrived = self.plan(self.start)

    def looks(self, here: Standing, code: LoadedCode) -> bool:
        """Whether the last of the steps ends in front of an instruction that the thread is about to run."""
        if not self._arrived(here, code):
            return False
        self.count -= 1
        if self.count:
            self._arrived = self.plan(here)
        return not self.count


Look = Callable[[Executed, int], None]  # an instruction, and the number of its event
# A basic block that `lanes` are about to run as a whole, and the number of its first event. Whether that is all there
# is to know; else each of its events is told.
Overlook = Callable[[Block, Lanes, int], bool]


class Instant(NamedTuple):
    """In front of an event of a launch."""

    launch: int
    event: int


class Rewind(Exception):
    """The launches run again from an instant on, or from a kept state before it."""

    def __init__(self, to: Instant):
        super().__init__(to)
        self.to = to


@dataclass
class Order:
    """How the launches run on. `rewind`: from a kept state at this instant or before it, else from here. `until`: stop
    in front of this event of its launch, whatever else is wanted. `minds_points`: breakpoints and watchpoints stop it.
    `look`: is told of each event, but of blocks that `overlook` leaves out. `ends_with_launch`: stop when the launch
    has ended that runs first.
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
    """The row of an event that has a thread among its active lanes."""
    rows = (executed.grid_blocks == focus.block) & (executed.warps_of_block == focus.thread // WARP)
    for row in rows.nonzero()[0].tolist():
        if int(executed.masks[row]) >> focus.thread % WARP & 1:
            return row
    return None


def runs(lanes: Lanes, focus: Focus) -> bool:
    """Whether a thread is one of the active lanes."""
    warp = warp_of(lanes.chunk, focus)
    rows = () if warp is None else (lanes.step_warps == warp).nonzero()[0].tolist()
    return any(int(lanes.step_masks[row]) >> focus.thread % WARP & 1 for row in rows)


@dataclass(eq=False)
class Stop:
    """Why and where everything waits: in front of event `event` of launch `launch` (its number here, from 0).

    `reason`: breakpoint, watchpoint, step, launch, exited (the thread that was followed), until, interrupt, fault,
    launch_end, history (there is no further back), exit, error. `text`: what is to be said. `state` and
    `code` are None where no launch runs.
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
