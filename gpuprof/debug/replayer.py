"""The listener of one run of a launch: it stops the run as the order and the points require."""

import time
from collections.abc import Iterator

import numpy as np

from gpuprof.debug.breakpoints import Breakpoint, Watchpoint, holds, may_hold, seen_text
from gpuprof.debug.code_locations import LoadedCode
from gpuprof.debug.history import saved_state
from gpuprof.debug.plans import Order, Rewind, Step, Stop, position_of, row_of, runs
from gpuprof.debug.thread import WARP, Focus, Thread, coordinates, focus_of, text_of, warp_of
from gpuprof.device.commands import Launch
from gpuprof.emulate.blocks import Block
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import Executed
from gpuprof.emulate.watch.listener import WatchRequests
from gpuprof.emulate.watched_chunk import WatchedChunk
from gpuprof.errors import DebugError, KernelFault

# Pause between saved states: seconds of the thread's own time, or a multiple of the time that saving one takes.
LEAST_PAUSE_SECONDS = 0.15
PAUSE_SHARE = 20
BLOCKS_PER_CHECK = 16  # of the clock


class Replayer:
    """The listener of launch `number` of an `event_timeline.Timeline`. `event`: the first event. Before event
    `quiet_until` there are no stops; if that is not 0, all events are reported from it on.
    """

    def __init__(self, timeline, number: int, event: int = 0, quiet_until: int = 0):
        self.timeline, self.number = timeline, number
        self.entry = timeline.entries[number]
        self.code = timeline.code_of(self.entry.launch)
        self.wanted = WatchRequests(frozenset(range(len(self.code.instructions))), state=True)
        self.now = event - 1  # the event that is about to happen
        self.last: Executed | None = None
        self.quiet_until = quiet_until
        self.has_seen_all = True  # event `now` was reported, too
        self.block_event = 0  # the first one of the block that was skipped last
        self._memory = self.entry.checkpoint  # an earlier checkpoint
        self._saved_event = event
        self._saved_at, self._pause_seconds, self._blocks_left = (
            time.thread_time(),
            LEAST_PAUSE_SECONDS,
            BLOCKS_PER_CHECK,
        )
        self._version = -1
        self._blocks: frozenset[int] | None = None  # basic blocks with breakpoints
        self._minded: dict[int, bool] = {}  # basic block -> may it access a watched byte?
        self._breaks: dict[int, list[Breakpoint]] = {}
        self._watches: list[Watchpoint] = []
        self._touched: list[tuple[Watchpoint, Focus, int]] = []  # by the last instruction: point, thread, instruction
        self._follow()

    def block(self, run) -> None: ...

    def after(self, executed: Executed) -> None: ...

    def _follow(self) -> None:
        """Takes over the current points."""
        points = self.timeline.points
        if self._version == points.version:
            return
        self._version, self._breaks, self._blocks, self._minded = points.version, {}, None, {}
        for point in points.breakpoints():
            for at in point.instructions(self.code) if point.is_enabled else ():
                self._breaks.setdefault(at, []).append(point)
        self._watches = [point for point in points.watchpoints() if point.is_enabled]

    # Skipped blocks

    def passes_over(self, block: Block, lanes: Lanes) -> bool:
        self._request_rest(lanes.chunk)
        if not self._may_pass(block, lanes):
            return False
        self.block_event, self.has_seen_all = self.now + 1, False
        self.now += block.n_instructions
        return True

    def _may_pass(self, block: Block, lanes: Lanes) -> bool:
        last, order = self.now + block.n_instructions, self.timeline.order
        if self.quiet_until:
            return last < self.quiet_until
        if self.timeline.is_interrupted or (order.until is not None and last >= order.until):
            return False
        if order.breaks_on_launch and self.now < 0:
            return False
        if order.minds_points and self._is_minded(block, lanes.chunk):
            return False
        if order.step is not None and order.step.launch == self.number and self._may_step(order.step, lanes):
            return False
        return order.look is None or (order.overlook is not None and order.overlook(block, lanes, self.now + 1))

    def _is_minded(self, block: Block, chunk: WatchedChunk) -> bool:
        """True if a breakpoint or a watchpoint may stop in a block, or still has to report the previous event."""
        if self._touched or (self._watches and self.last is not None and self.last.ranges):
            return True
        if self._blocks is None:
            numbers = np.searchsorted(chunk.module.graph.starts, [*self._breaks], "right") - 1
            self._blocks = frozenset(numbers.tolist())
        if block.index in self._blocks:
            return True
        if self._watches and block.index not in self._minded:
            code = chunk.module.graph.block(block.index).instructions
            self._minded[block.index] = any(
                point.may_touch(inst, point.operations) for inst in code for point in self._watches
            )
        return bool(self._watches) and self._minded[block.index]

    def _may_step(self, step: Step, lanes: Lanes) -> bool:
        """True if the followed thread runs with these lanes, or runs no more."""
        warp = warp_of(lanes.chunk, step.focus)
        if warp is None or not int(lanes.chunk.live[warp]) >> step.focus.thread % WARP & 1:
            return True
        return runs(lanes, step.focus)

    # Saved states

    def _request_rest(self, chunk: WatchedChunk) -> None:
        self._blocks_left -= 1
        if not self._blocks_left:
            self._blocks_left = BLOCKS_PER_CHECK
            chunk.is_due = time.thread_time() - self._saved_at >= self._pause_seconds

    def rests(self, chunk: WatchedChunk) -> None:
        """Saves the state if it is time to. Pending reports of watchpoints on the last event are not part of it."""
        begin = time.thread_time()
        states = self.entry.states
        is_pending = bool(self._touched) or (self.last is not None and bool(self.last.ranges))
        if self.entry.is_changed or is_pending or begin - self._saved_at < self._pause_seconds:
            return
        if not any(self._saved_event < each.event <= self.now + 1 for each in states.all):
            made = saved_state(self.now + 1, chunk, self.entry.memory, self.entry.counters, self._memory)
            states.add(made)
            self._memory = made.memory
        self._saved_at, self._saved_event = time.thread_time(), self.now + 1
        self._pause_seconds = max(LEAST_PAUSE_SECONDS, PAUSE_SHARE * (self._saved_at - begin))

    def before(self, executed: Executed) -> None:
        self.now += 1
        self.has_seen_all = True
        if self.now < self.quiet_until:
            self.last, self._touched = executed, []
            return
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
        """The focused thread if it runs the instruction, otherwise the first that does."""
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
        here = position_of(self.code, executed.at, executed.depth)
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
        """Counts a hit; True if it stops."""
        point.hits += 1
        if point.ignore:
            point.ignore -= 1
            return False
        if point.is_temporary:
            self.timeline.points.remove(point.number)
        return True

    def _meets(self, point: Breakpoint, executed: Executed) -> Focus | None:
        """The thread that a breakpoint stops: the focused one if possible."""
        near = self._near(executed)
        if not point.condition:
            return near
        return first_match(point.condition, executed, self.code, near, point.frame(self.code, executed.at))

    # Watchpoints. An instruction is reported before it runs; its changes are visible before the next one.

    def _touching(self, executed: Executed):
        for point in self._watches:
            lanes = point.lanes(executed, self.number, point.operations)
            if lanes is not None:
                point.value = self._read(executed, point) or point.value
                row, lane = (int(each[0]) for each in np.nonzero(lanes))
                yield point, focus_of(executed.state(), int(executed.warps[row]), lane), executed.at

    def _read(self, executed: Executed, point: Watchpoint) -> bytes | None:
        if point.storage.space != "global" and point.launch != self.number:
            return None
        try:
            thread = Thread(executed.state(), self.code, point.owner)
        except DebugError:
            if point.storage.space != "global":
                return None
            thread = Thread(executed.state(), self.code, first_focus(executed))
        return thread.state.read(point.storage.space, point.storage.address, point.type.nbytes, thread.lane)

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
                location = f" ({where.file}:{where.line})" if where.location else ""
                text.append(f"{described(focus, self.entry.launch)} did it at {where.pc:#x}{location}")
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
            access = point.in_ranges(self.last, self.number, point.operations)
            if access is not None:
                row, lane = access
                warp = int(self.last.warps[row])
                yield point, focus_of(self.last.state(), warp, lane), self.last.at

    def fault(self, error: KernelFault) -> None:
        """Stops after a kernel fault, on which a GPU would trap, to examine the state."""
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
    """The first thread of an event: the lowest of its lowest block."""
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


def first_match(condition: str, executed: Executed, code: LoadedCode, first: Focus, frame: int) -> Focus | None:
    """The thread for which a condition holds in a frame: `first` if it does, otherwise the lowest; None for none.
    Raises DebugError if the condition has a value for no thread.
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
