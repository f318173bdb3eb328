"""What lay before: earlier places of the same run. Each function leaves the run where it says, and gives the stop.

`resume(order)` runs on and gives the next stop.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gpuprof.debug.places import LoadedCode
from gpuprof.debug.plans import Order, Standing, row_of, standing
from gpuprof.debug.points import WRITES, Points, Watchpoint
from gpuprof.debug.thread import Focus, focus_of
from gpuprof.debug.timeline import Stop, Timeline
from gpuprof.emulate.watch.executed import Executed
from gpuprof.errors import DebugError

Resume = Callable[[Order], Stop]
NO_HISTORY = "No more reverse-execution history."


def go(resume: Resume, timeline: Timeline, launch: int, event: int) -> Stop:
    """To the place in front of an event. Raises DebugError where its launch is no longer kept."""
    _check(timeline, launch)
    return resume(Order(rewind=launch, until=event, minds_points=False))


def _check(timeline: Timeline, launch: int) -> None:
    if timeline.entries[launch].checkpoint is None:
        raise DebugError(f"{NO_HISTORY} The memory of launch {launch} is no longer kept.")


class Told(NamedTuple):
    event: int
    standing: Standing


def of_thread(resume: Resume, timeline: Timeline, here: Stop, focus: Focus) -> list[Told]:
    """What a thread has done in its launch until now. The run stands here again."""
    told: list[Told] = []

    def look(executed: Executed, event: int) -> None:
        if event < here.event and row_of(executed, focus) is not None:
            told.append(Told(event, standing(here.code, executed.at, executed.depth)))

    _again(resume, timeline, here, look)
    return told


def _again(resume: Resume, timeline: Timeline, here: Stop, look) -> Stop:
    _check(timeline, here.launch)
    return resume(Order(rewind=here.launch, until=here.event, minds_points=False, look=look))


def step_target(told: list[Told], now: Standing, into_functions: bool) -> int | None:
    """The event where the line begins that the thread ran last: this one in its midst, else the one before. None where
    there is none.
    """
    known = [each for each in told if each.standing.line is not None]
    if not into_functions:
        known = [each for each in known if each.standing.depth <= now.depth]
    runs = _runs(known)
    return runs[-1][0].event if runs else None


def _same_line(a: Standing, b: Standing) -> bool:
    return a.line == b.line and a.call_depth == b.call_depth


def _runs(told: list[Told]) -> list[list[Told]]:
    """Parts that stand in one line each."""
    runs: list[list[Told]] = []
    for each in told:
        if runs and _same_line(runs[-1][-1].standing, each.standing):
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs


def last_stop(resume: Resume, timeline: Timeline, points: Points, here: Stop) -> Stop:
    """To the last breakpoint or watchpoint before; without one, to the begin of what is kept."""
    counts = {number: (point.hits, point.ignore) for number, point in points.all.items()}
    temporary = [point for point in points.all.values() if point.is_temporary]
    for point in points.all.values():
        point.is_temporary, point.ignore = False, 0
    try:
        found, launch = None, here.launch
        while found is None and launch >= 0 and timeline.entries[launch].checkpoint is not None:
            found = _last_in(resume, launch, here.event if launch == here.launch else None)
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


def _last_in(resume: Resume, launch: int, event: int | None) -> Stop | None:
    """The last stop of a launch before an event; None: before its end."""
    found, order = None, Order(rewind=launch, until=event, ends_with_launch=True)
    while (stop := resume(order)).reason in ("breakpoint", "watchpoint"):
        found, order = stop, Order(until=event, ends_with_launch=True)
    return found


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
    before: list[Executed] = []
    code = timeline.code_of(timeline.entries[launch].launch)

    def look(executed: Executed, now: int) -> None:
        for last in before:
            if place := point.in_ranges(last, launch, WRITES):
                focus = focus_of(last.state(), int(last.warps[place[0]]), place[1])
                found[:] = [Writer(launch, now - 1, focus, last.at, code)]
        before[:] = [executed]
        if event is not None and now >= event:
            return
        lanes = point.lanes(executed, launch, WRITES)
        if lanes is not None:
            row, lane = (int(each[-1]) for each in lanes.nonzero())
            focus = focus_of(executed.state(), int(executed.warps[row]), lane)
            found[:] = [Writer(launch, now, focus, executed.at, code)]

    resume(Order(rewind=launch, until=event, minds_points=False, look=look, ends_with_launch=True))
    return found[0] if found else None
