"""What lay before: earlier places of the same run. Each function leaves the run where it says, and gives the stop.

`resume(order)` runs on and gives the next stop.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gpuprof.debug.breakpoints import WRITES, Points, Watchpoint
from gpuprof.debug.event_timeline import Timeline
from gpuprof.debug.locations import LoadedCode
from gpuprof.debug.plans import Instant, Order, Standing, Stop, row_of, runs, standing
from gpuprof.debug.thread import Focus, focus_of
from gpuprof.emulate.blocks import Block
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.watch.executed import Executed
from gpuprof.errors import DebugError

Resume = Callable[[Order], Stop]
NO_HISTORY = "No more reverse-execution history."


def go(resume: Resume, timeline: Timeline, launch: int, event: int) -> Stop:
    """To the place in front of an event. Raises DebugError where its launch is no longer kept."""
    _check(timeline, launch)
    return resume(Order(rewind=Instant(launch, event), until=event, minds_points=False))


def _check(timeline: Timeline, launch: int) -> None:
    if timeline.entries[launch].checkpoint is None:
        raise DebugError(f"{NO_HISTORY} The memory of launch {launch} is no longer kept.")


def windows(timeline: Timeline, launch: int, end: int | None) -> Iterator[tuple[int, int | None]]:
    """The events of a launch before `end`, None for all, in parts that begin with a kept state: the last one first."""
    _check(timeline, launch)
    entry = timeline.entries[launch]
    while end is None or end > 0:
        state = entry.states.before(entry.n_events if end is None else end - 1)
        begin = state.event if state else 0
        yield begin, end
        end = begin


class Told(NamedTuple):
    event: int
    standing: Standing


def of_thread(resume: Resume, timeline: Timeline, here: Stop, focus: Focus) -> Iterator[Told]:
    """What a thread has done in its launch until now, the last first. Runs what is asked for, and no more."""
    runs_of: list[tuple[int, int, int, int]] = []  # first event and instruction, how many, depth of calls

    def look(executed: Executed, event: int) -> None:
        if event < here.event and row_of(executed, focus) is not None:
            runs_of.append((event, executed.at, 1, executed.depth))

    def overlook(block: Block, lanes: Lanes, event: int) -> bool:
        if runs(lanes, focus):
            runs_of.append((event, block.first, block.n_instructions, lanes.depth))
        return True

    known: dict[tuple[int, int], Standing] = {}
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
                    known[key] = standing(here.code, *key)
                yield Told(event + k, known[key])


# Each gives the event to go back to of those told, the last first, or the first one there is; None where there is none.
# `now`: where the thread stands, `start`: where its selected frame does.


def _first_with(told: Iterator[Told], is_meant: Callable[[Standing], bool]) -> int | None:
    event = None
    for each in told:
        event = each.event
        if is_meant(each.standing):
            break
    return event


def step_target(told: Iterator[Told], now: Standing, into_functions: bool) -> int | None:
    """Where the line begins that the thread ran last: this one in its midst, else the one before."""
    found: Told | None = None
    event = None
    for each in told:
        event = each.event
        if each.standing.line is None or not (into_functions or each.standing.depth <= now.depth):
            continue
        if found is not None and not _same_line(found.standing, each.standing):
            break
        found = each
    return event if found is None else found.event


def _same_line(a: Standing, b: Standing) -> bool:
    return a.line == b.line and a.call_depth == b.call_depth


TARGETS: dict[str, Callable[[Iterator[Told], Standing, Standing], int | None]] = {
    "stepi": lambda told, now, start: _first_with(told, lambda each: True),
    "nexti": lambda told, now, start: _first_with(told, lambda each: each.call_depth <= now.call_depth),
    "finish": lambda told, now, start: _first_with(told, lambda each: each.depth < start.depth),
    "step": lambda told, now, start: step_target(told, now, True),
    "next": lambda told, now, start: step_target(told, now, False),
}


def last_stop(resume: Resume, timeline: Timeline, points: Points, here: Stop) -> Stop:
    """To the last breakpoint or watchpoint before; without one, to the begin of what is kept."""
    counts = {number: (point.hits, point.ignore) for number, point in points.all.items()}
    temporary = [point for point in points.all.values() if point.is_temporary]
    for point in points.all.values():
        point.is_temporary, point.ignore = False, 0
    try:
        found, launch = None, here.launch
        while found is None and launch >= 0 and timeline.entries[launch].checkpoint is not None:
            found = _last_in(resume, timeline, launch, here.event if launch == here.launch else None)
            launch -= 1
        if found is None:
            stop = go(resume, timeline, launch + 1, 0)
            return replace(stop, reason="history", text=(NO_HISTORY,))
        stop = go(resume, timeline, found.launch, found.event)
        timeline.focus = found.focus
        return replace(stop, reason=found.reason, focus=found.focus, text=found.text, points=found.points)
    finally:
        for number, point in points.all.items():
            point.hits, point.ignore = counts[number]
            point.is_temporary = point in temporary


def _last_in(resume: Resume, timeline: Timeline, launch: int, event: int | None) -> Stop | None:
    """The last stop of a launch before an event; None: before its end."""
    for begin, end in windows(timeline, launch, event):
        until, found = _one_more(end, event), None
        order = Order(rewind=Instant(launch, begin), until=until, ends_with_launch=True)
        while (stop := resume(order)).reason in ("breakpoint", "watchpoint", "launch"):
            found, order = stop, Order(until=until, ends_with_launch=True)
        if found is not None:
            return found
    return None


def _one_more(end: int | None, last: int | None) -> int | None:
    """What the last event of a part has done is seen in front of the next one."""
    return end if end is None or end == last else end + 1


class Writer(NamedTuple):
    """Who wrote: a thread, by an instruction, before an event of a launch."""

    launch: int
    event: int
    focus: Focus
    at: int
    code: LoadedCode


def last_write(resume: Resume, timeline: Timeline, here: Stop, point: Watchpoint) -> Writer | None:
    """Who wrote a byte of `point` last before now; None for no kernel. The run stands here again."""
    found, launch = None, here.launch
    while found is None and launch >= 0 and timeline.entries[launch].checkpoint is not None:
        found = _last_write_in(resume, timeline, launch, here.event if launch == here.launch else None, point)
        launch -= 1
        if point.place.space != "global":
            break
    go(resume, timeline, here.launch, here.event)
    return found


def _last_write_in(
    resume: Resume, timeline: Timeline, launch: int, event: int | None, point: Watchpoint
) -> Writer | None:
    found: list[Writer] = []
    before: list[tuple[Executed, int]] = []  # told last: what it has written is known now
    code = timeline.code_of(timeline.entries[launch].launch)

    def look(executed: Executed, now: int) -> None:
        for last, then in before:
            if place := point.in_ranges(last, launch, WRITES):
                focus = focus_of(last.state(), int(last.warps[place[0]]), place[1])
                found[:] = [Writer(launch, then, focus, last.at, code)]
        before[:] = [(executed, now)]
        if event is not None and now >= event:
            return
        lanes = point.lanes(executed, launch, WRITES)
        if lanes is not None:
            row, lane = (int(each[-1]) for each in lanes.nonzero())
            focus = focus_of(executed.state(), int(executed.warps[row]), lane)
            found[:] = [Writer(launch, now, focus, executed.at, code)]

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
        if found:
            return found[0]
    return None
