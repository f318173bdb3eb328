"""Earlier positions of the same run. Each function leaves the run at the position in its name, and gives the stop.

`resume(order)` runs on and gives the next stop.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gpuprof.debug.breakpoints import WRITES, Points, Watchpoint
from gpuprof.debug.code_locations import LoadedCode
from gpuprof.debug.event_timeline import Timeline
from gpuprof.debug.plans import Instant, Order, Position, Stop, position_of, row_of, runs
from gpuprof.debug.thread import Focus, focus_of
from gpuprof.emulate.blocks import Block
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import Executed
from gpuprof.errors import DebugError

Resume = Callable[[Order], Stop]
NO_HISTORY = "No more reverse-execution history."


def go(resume: Resume, timeline: Timeline, launch: int, event: int) -> Stop:
    """Runs to the position before an event. Raises DebugError if the memory of its launch was dropped."""
    _check(timeline, launch)
    return resume(Order(rewind=Instant(launch, event), until=event, minds_points=False))


def _check(timeline: Timeline, launch: int) -> None:
    if timeline.entries[launch].checkpoint is None:
        raise DebugError(f"{NO_HISTORY} The memory of launch {launch} is no longer stored.")


def windows(timeline: Timeline, launch: int, end: int | None) -> Iterator[tuple[int, int | None]]:
    """The events of a launch before `end`, None for all, in parts that begin with a saved state: the last one first."""
    _check(timeline, launch)
    entry = timeline.entries[launch]
    while end is None or end > 0:
        state = entry.states.before(entry.n_events if end is None else end - 1)
        begin = state.event if state else 0
        yield begin, end
        end = begin


class PastEvent(NamedTuple):
    event: int
    position: Position


def past_of_thread(resume: Resume, timeline: Timeline, here: Stop, focus: Focus) -> Iterator[PastEvent]:
    """The events of a thread in its launch until now, the last first. Runs only the parts that the caller consumes."""
    runs_of: list[tuple[int, int, int, int]] = []  # first event and instruction, how many, depth of calls

    def look(executed: Executed, event: int) -> None:
        if event < here.event and row_of(executed, focus) is not None:
            runs_of.append((event, executed.at, 1, executed.depth))

    def overlook(block: Block, lanes: Lanes, event: int) -> bool:
        if runs(lanes, focus):
            runs_of.append((event, block.first, block.n_instructions, lanes.depth))
        return True

    known: dict[tuple[int, int], Position] = {}
    for begin, end in windows(timeline, here.launch, here.event):
        runs_of.clear()
        start = Instant(here.launch, begin)
        resume(Order(rewind=start, until=end, minds_points=False, look=look, overlook=overlook))
        for event, first, count, depth in reversed(runs_of):
            if event >= end:
                continue
            for k in range(count - 1, -1, -1):
                key = first + k, depth
                if key not in known:
                    known[key] = position_of(here.code, *key)
                yield PastEvent(event + k, known[key])


# Each gives the event to go back to, from the thread's past, the last event first; None if there is none.
# `now`: the position of the thread, `start`: that of its selected frame.


def _first_with(past: Iterator[PastEvent], is_meant: Callable[[Position], bool]) -> int | None:
    event = None
    for each in past:
        event = each.event
        if is_meant(each.position):
            break
    return event


def step_target(past: Iterator[PastEvent], now: Position, into_functions: bool) -> int | None:
    """The begin of the line that the thread ran last: the current one if the thread is within it, otherwise the
    previous one.
    """
    candidate: PastEvent | None = None
    event = None
    for each in past:
        event = each.event
        if each.position.line is None or not (into_functions or each.position.depth <= now.depth):
            continue
        if candidate is not None and not _same_line(candidate.position, each.position):
            break
        candidate = each
    return event if candidate is None else candidate.event


def _same_line(a: Position, b: Position) -> bool:
    return a.line == b.line and a.call_depth == b.call_depth


TARGETS: dict[str, Callable[[Iterator[PastEvent], Position, Position], int | None]] = {
    "stepi": lambda past, now, start: _first_with(past, lambda each: True),
    "nexti": lambda past, now, start: _first_with(past, lambda each: each.call_depth <= now.call_depth),
    "finish": lambda past, now, start: _first_with(past, lambda each: each.depth < start.depth),
    "step": lambda past, now, start: step_target(past, now, True),
    "next": lambda past, now, start: step_target(past, now, False),
}


def last_stop(resume: Resume, timeline: Timeline, points: Points, here: Stop) -> Stop:
    """Runs back to the previous breakpoint or watchpoint; without one, to the begin of the stored history."""
    counts = {number: (point.hits, point.ignore) for number, point in points.all.items()}
    temporary = [point for point in points.all.values() if point.is_temporary]
    for point in points.all.values():
        point.is_temporary, point.ignore = False, 0
    try:
        previous, launch = None, here.launch
        while previous is None and launch >= 0 and timeline.entries[launch].checkpoint is not None:
            previous = _last_in(resume, timeline, launch, here.event if launch == here.launch else None)
            launch -= 1
        if previous is None:
            stop = go(resume, timeline, launch + 1, 0)
            return replace(stop, reason="history", text=(NO_HISTORY,))
        stop = go(resume, timeline, previous.launch, previous.event)
        timeline.focus = previous.focus
        return replace(stop, reason=previous.reason, focus=previous.focus, text=previous.text, points=previous.points)
    finally:
        for number, point in points.all.items():
            point.hits, point.ignore = counts[number]
            point.is_temporary = point in temporary


def _last_in(resume: Resume, timeline: Timeline, launch: int, event: int | None) -> Stop | None:
    """The last stop of a launch before an event; None: before its end."""
    for begin, end in windows(timeline, launch, event):
        until, last = _one_more(end, event), None
        order = Order(rewind=Instant(launch, begin), until=until, ends_with_launch=True)
        while (stop := resume(order)).reason in ("breakpoint", "watchpoint", "launch"):
            last, order = stop, Order(until=until, ends_with_launch=True)
        if last is not None:
            return last
    return None


def _one_more(end: int | None, last: int | None) -> int | None:
    """The effects of a part's last event are visible only before the next event."""
    return end if end is None or end == last else end + 1


class Writer(NamedTuple):
    """The write of a thread, by an instruction, before an event of a launch."""

    launch: int
    event: int
    focus: Focus
    at: int
    code: LoadedCode


def last_write(resume: Resume, timeline: Timeline, here: Stop, point: Watchpoint) -> Writer | None:
    """The last write to a byte of `point` before now; None if no kernel wrote it. The run ends at its current
    position.
    """
    writer, launch = None, here.launch
    while writer is None and launch >= 0 and timeline.entries[launch].checkpoint is not None:
        writer = _last_write_in(resume, timeline, launch, here.event if launch == here.launch else None, point)
        launch -= 1
        if point.storage.space != "global":
            break
    go(resume, timeline, here.launch, here.event)
    return writer


def _last_write_in(
    resume: Resume, timeline: Timeline, launch: int, event: int | None, point: Watchpoint
) -> Writer | None:
    writers: list[Writer] = []
    before: list[tuple[Executed, int]] = []  # the last reported event: its writes are known now
    code = timeline.code_of(timeline.entries[launch].launch)

    def look(executed: Executed, now: int) -> None:
        for last, then in before:
            if access := point.in_ranges(last, launch, WRITES):
                focus = focus_of(last.state(), int(last.warps[access[0]]), access[1])
                writers[:] = [Writer(launch, then, focus, last.at, code)]
        before[:] = [(executed, now)]
        if event is not None and now >= event:
            return
        lanes = point.lanes(executed, launch, WRITES)
        if lanes is not None:
            row, lane = (int(each[-1]) for each in lanes.nonzero())
            focus = focus_of(executed.state(), int(executed.warps[row]), lane)
            writers[:] = [Writer(launch, now, focus, executed.at, code)]

    def overlook(block: Block, lanes: Lanes, now: int) -> bool:
        if before and before[0][0].ranges:
            return False
        code = lanes.chunk.module.graph.block(block.index).instructions
        return not any(point.may_touch(each, WRITES) for each in code)

    for begin, end in windows(timeline, launch, event):
        before.clear()
        order = Order(rewind=Instant(launch, begin), until=_one_more(end, event), minds_points=False, look=look,
                      overlook=overlook, ends_with_launch=True)  # fmt: skip
        resume(order)
        if writers:
            return writers[0]
    return None
