"""Runs launches under an order, and runs them again up to an exact event.

What the session asks for comes here one launch at a time. Each is kept with a checkpoint. When it has ended, and nobody
is in the past, the session goes on: memory is then as without a debugger.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from gpuprof.debug.history import MOST_NBYTES, Checkpoint, checkpoint, kept_nbytes
from gpuprof.debug.places import LoadedCode
from gpuprof.debug.plans import Order, row_of, standing
from gpuprof.debug.points import READS, WRITES, Breakpoint, Points, Watchpoint, holds, may_hold, seen_text
from gpuprof.debug.thread import WARP, Focus, Thread, coordinates, focus_of, text_of
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.log.counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.watch.executed import Executed
from gpuprof.emulate.watch.listener import Wanted
from gpuprof.emulate.watch.state import State
from gpuprof.errors import DebugError, KernelFault


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


@dataclass(eq=False)
class Entry:
    """A launch that was asked for. `n_events`: of a whole run, -1 before one has ended."""

    launch: Launch
    memory: AddressSpace
    counters: LaunchCounters
    run: Callable
    checkpoint: Checkpoint | None
    n_events: int = -1


class Rewind(Exception):
    """The launches run again from number `launch` on."""

    def __init__(self, launch: int):
        super().__init__(launch)
        self.launch = launch


class Timeline:
    """The launches of one run, and what holds for the one that is under way. `ask` tells a stop, and gives the order
    that follows it.
    """

    def __init__(self, points: Points, ask: Callable[[Stop], Order], order: Order):
        self.points, self.ask, self.order = points, ask, order
        self.entries: list[Entry] = []
        self.codes: dict[int, LoadedCode] = {}  # by id of their modules, which the entries keep
        self.focus = Focus(0, 0)
        self.is_interrupted = False

    def carry_out(self, launch: Launch, memory: AddressSpace, counters: LaunchCounters, run: Callable) -> None:
        """`run(counters=..., listener=...)`: the launch's emulation, as an iterator."""
        before = self.entries[-1].checkpoint if self.entries else None
        made = checkpoint(memory, before)
        self.entries.append(Entry(launch, memory, counters, run, made))
        self._bound()
        self.code_of(launch)
        number = len(self.entries) - 1
        is_fresh = True
        while number < len(self.entries):
            try:
                self._play(number, is_fresh)
                number, is_fresh = number + 1, False
            except Rewind as rewind:
                number, is_fresh = rewind.launch, False

    def _bound(self) -> None:
        kept = [entry for entry in self.entries if entry.checkpoint]
        while len(kept) > 1 and kept_nbytes([entry.checkpoint for entry in kept]) > MOST_NBYTES:
            kept.pop(0).checkpoint = None

    def code_of(self, launch: Launch) -> LoadedCode:
        key = id(launch.module)
        if key not in self.codes:
            self.codes[key] = LoadedCode(launch.module)
            for point in self.points.breakpoints():
                point.resolve(list(self.codes.values()))
            self.points.changed()
        return self.codes[key]

    def _play(self, number: int, is_fresh: bool) -> None:
        """Runs a launch to its end. Raises Rewind where another is to run."""
        entry = self.entries[number]
        if not is_fresh:
            entry.checkpoint.restore(entry.memory)
            entry.launch.module.refresh_constants(entry.memory)
            clear(entry.counters)
        player = _Player(self, number)
        steps = entry.run(counters=entry.counters, listener=player)
        try:
            for _ in steps:
                pass
        except KernelFault as error:
            player.fault(error)
            raise
        finally:
            steps.close()
        entry.n_events = player.now + 1
        player.ended()


def clear(counters: LaunchCounters) -> None:
    """All zero again: the launch is run anew."""
    fresh = LaunchCounters.zeros(len(counters.inst_executed))
    for each in fields(counters):
        if each.name in COUNTER_NAMES:
            getattr(counters, each.name)[:] = 0
        else:
            setattr(counters, each.name, getattr(fresh, each.name))


class _Player:
    """The listener of one run of a launch."""

    def __init__(self, timeline: Timeline, number: int):
        self.timeline, self.number = timeline, number
        self.entry = timeline.entries[number]
        self.code = timeline.code_of(self.entry.launch)
        self.wanted = Wanted(frozenset(range(len(self.code.instructions))), state=True)
        self.now = -1  # the event that is about to happen
        self.last: Executed | None = None
        self._version = -1
        self._breaks: dict[int, list[Breakpoint]] = {}
        self._watches: list[Watchpoint] = []
        self._touched: list[tuple[Watchpoint, Focus, int]] = []  # by the last instruction: who, and where
        self._follow()

    def block(self, run) -> None: ...

    def after(self, executed: Executed) -> None: ...

    def _follow(self) -> None:
        """Takes over the points as they are now."""
        points = self.timeline.points
        if self._version == points.version:
            return
        self._version, self._breaks = points.version, {}
        for point in points.breakpoints():
            for at in point.places(self.code) if point.is_enabled else ():
                self._breaks.setdefault(at, []).append(point)
        self._watches = [point for point in points.watchpoints() if point.is_enabled]

    def before(self, executed: Executed) -> None:
        self.now += 1
        order = self.timeline.order
        if order.look is not None:
            order.look(executed, self.now)
        stop = self._reason(executed, order)
        self.last = executed
        while stop is not None:
            self._hand_over(stop)
            stop = self._interrupted(executed)
        self._touched = list(self._touching(executed)) if self._watches else []

    def _hand_over(self, stop: Stop) -> None:
        order = self.timeline.ask(stop)
        self.timeline.order = order
        if order.rewind is not None:
            target, order.rewind = order.rewind, None
            raise Rewind(target)
        self._follow()

    def _stop(self, reason: str, executed: Executed, focus: Focus, *text: str, points: tuple[int, ...] = ()) -> Stop:
        self.timeline.focus = focus
        return Stop(reason, self.number, self.now, focus, text, points, executed.state(), self.code)

    def _reason(self, executed: Executed, order: Order) -> Stop | None:
        focus = self.timeline.focus
        if order.until == self.now:
            return self._stop("until", executed, focus)
        if self.timeline.is_interrupted:
            return self._interrupted(executed)
        if order.minds_points and (stop := self._watchpoint(executed) or self._breakpoint(executed)):
            return stop
        if order.breaks_on_launch and self.now == 0:
            return self._stop("launch", executed, first_focus(executed))
        return self._stepped(executed, order)

    def _interrupted(self, executed: Executed) -> Stop | None:
        if not self.timeline.is_interrupted:
            return None
        self.timeline.is_interrupted = False
        return self._stop("interrupt", executed, self._near(executed), "Program received signal SIGINT, Interrupt.")

    def _near(self, executed: Executed) -> Focus:
        """The focused thread if it runs the instruction, else the first that does."""
        focus = self.timeline.focus
        return focus if row_of(executed, focus) is not None else first_focus(executed)

    def _stepped(self, executed: Executed, order: Order) -> Stop | None:
        step = order.step
        if step is None or step.launch != self.number:
            return None
        row = row_of(executed, step.focus)
        if row is None:
            if self._has_exited(executed, step.focus):
                order.step = None
                block, thread = step.focus
                return self._stop(
                    "exited", executed, first_focus(executed), f"thread {thread} of block {block} has exited"
                )
            return None
        here = standing(self.code, executed.at, executed.depth)
        return self._stop("step", executed, step.focus) if step.looks(here, self.code) else None

    def _has_exited(self, executed: Executed, focus: Focus) -> bool:
        chunk = executed.chunk
        for position in range(chunk.n_blocks):
            if int(chunk.launch.grid_blocks(chunk.first_block + position)) == focus.block:
                warp = position * chunk.warps_per_block + focus.thread // WARP
                return not int(chunk.live[warp]) >> focus.thread % WARP & 1
        return True

    def _breakpoint(self, executed: Executed) -> Stop | None:
        for point in self._breaks.get(executed.at, ()):
            try:
                focus, text = self._meets(point, executed), ()
            except DebugError as error:
                focus = self._near(executed)
                text = (f"Error in testing condition for breakpoint {point.number}:", str(error))
            if focus is not None and self._counts(point):
                return self._stop("breakpoint", executed, focus, *text, points=(point.number,))
        return None

    def _counts(self, point: Breakpoint | Watchpoint) -> bool:
        """Counts a hit; whether it stops."""
        point.hits += 1
        if point.ignore:
            point.ignore -= 1
            return False
        if point.is_temporary:
            self.timeline.points.remove(point.number)
        return True

    def _meets(self, point: Breakpoint, executed: Executed) -> Focus | None:
        """The thread that a breakpoint stops: the focused one if it can be."""
        near = self._near(executed)
        if not point.condition:
            return near
        return met(point.condition, executed, self.code, near, point.frame(self.code, executed.at))

    # Watchpoints. An instruction is told of before it runs; what it has changed is seen in front of the next one.

    def _touching(self, executed: Executed):
        for point in self._watches:
            point_operations = {"watch": WRITES, "rwatch": READS, "awatch": (*WRITES, *READS)}[point.kind]
            lanes = point.lanes(executed, self.number, point_operations)
            if lanes is not None:
                point.value = self._read(executed, point) or point.value
                row, lane = (int(each[0]) for each in np.nonzero(lanes))
                yield point, focus_of(executed.state(), int(executed.warps[row]), lane), executed.at

    def _read(self, executed: Executed, point: Watchpoint) -> bytes | None:
        if point.place.space != "global" and point.launch != self.number:
            return None
        try:
            thread = Thread(executed.state(), self.code, point.owner)
        except DebugError:
            if point.place.space != "global":
                return None
            thread = Thread(executed.state(), self.code, first_focus(executed))
        return thread.state.read(point.place.space, point.place.address, point.type.nbytes, thread.lane)

    def _watchpoint(self, executed: Executed) -> Stop | None:
        touched = self._touched + list(self._touching_ranges())
        self._touched = []
        for point, focus, at in touched:
            text = [f"{WATCH_NAMES[point.kind]} {point.number}: {point.text}", ""]
            new = self._read(executed, point)
            if point.kind == "watch" and (new is None or new == point.value):
                continue
            if new is not None:
                text += seen_text(point, point.value or new, new)
            if point.condition and not self._condition_holds(point, executed, focus):
                continue
            if self._counts(point):
                where = self.code.instructions[at]
                place = f" ({where.file}:{where.line})" if where.location else ""
                text.append(f"{described(focus, self.entry.launch)} did it at {where.pc:#x}{place}")
                return self._stop("watchpoint", executed, focus, *text, points=(point.number,))
        return None

    def _condition_holds(self, point: Watchpoint, executed: Executed, focus: Focus) -> bool:
        try:
            return holds(point.condition, Thread(executed.state(), self.code, focus))
        except DebugError:
            return True

    def _touching_ranges(self):
        if self.last is None or not self.last.ranges:
            return
        for point in self._watches:
            operations = {"watch": WRITES, "rwatch": READS, "awatch": (*WRITES, *READS)}[point.kind]
            place = point.in_ranges(self.last, self.number, operations)
            if place is not None:
                row, lane = place
                warp = int(self.last.warps[row])
                yield point, focus_of(self.last.state(), warp, lane), self.last.at

    def fault(self, error: KernelFault) -> None:
        """The kernel did what a GPU would trap on: a last look at it."""
        executed = self.last
        if executed is None or self.timeline.order.until is not None:
            return
        stop = self._stop("fault", executed, self._near(executed), str(error))
        self._hand_over(stop)

    def ended(self) -> None:
        order = self.timeline.order
        if order.ends_with_launch:
            stop = Stop("launch_end", self.number, self.now + 1, self.timeline.focus, (), (), None, self.code)
            self._hand_over(stop)


WATCH_NAMES = {
    "watch": "Hardware watchpoint",
    "rwatch": "Hardware read watchpoint",
    "awatch": "Hardware access (read/write) watchpoint",
}


def described(focus: Focus, launch: Launch) -> str:
    block, thread = coordinates(focus.block, launch.grid), coordinates(focus.thread, launch.block)
    return f"block {text_of(block)}, thread {text_of(thread)}"


def first_focus(executed: Executed) -> Focus:
    """The first thread of an event: of its lowest block, and there the lowest."""
    row = min(range(len(executed.masks)), key=lambda k: (int(executed.grid_blocks[k]), int(executed.warps_of_block[k])))
    mask = int(executed.masks[row])
    lane = (mask & -mask).bit_length() - 1
    return focus_of(executed.state(), int(executed.warps[row]), lane)


def foci(executed: Executed) -> Iterator[Focus]:
    """All active threads of an event, by block and thread."""
    blocks, warps = executed.grid_blocks.tolist(), executed.warps_of_block.tolist()
    for row in sorted(range(len(blocks)), key=lambda k: (blocks[k], warps[k])):
        mask = int(executed.masks[row])
        for lane in range(WARP):
            if mask >> lane & 1:
                yield Focus(blocks[row], WARP * warps[row] + lane)


def met(condition: str, executed: Executed, code: LoadedCode, first: Focus, frame: int) -> Focus | None:
    """The thread for which a condition holds in a frame: `first` if it does, else the lowest; None for none. Raises
    DebugError where it has a value for no thread.
    """
    state, errors, n_known = executed.state(), [], 0
    launch = state.chunk.launch
    for focus in (first, *foci(executed)):
        if not may_hold(condition, focus, launch):
            continue
        try:
            if holds(condition, Thread(state, code, focus, frame)):
                return focus
            n_known += 1
        except DebugError as error:
            errors.append(error)
    if errors and not n_known:
        raise errors[0]
    return None
