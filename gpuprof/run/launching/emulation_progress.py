"""Launches as stages of work: their names, positions and progress, for people that wait."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

from gpuprof.base.stages import Stage, stage
from gpuprof.base.wording import launch_text, plural
from gpuprof.device import commands as cmd
from gpuprof.emulate.core.faults import place_of
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters

Watched = Iterable[tuple[cmd.Launch, LaunchCounters]]


def under_way(watched: Watched) -> AbstractContextManager[Stage]:
    """The stage of launches that are timed together; `timing` counts their blocks inside."""
    watched = list(watched)
    return stage(_names([launch for launch, _ in watched]), look=lambda shown: _look(watched, shown))


def emulating(watched: Watched) -> AbstractContextManager[Stage]:
    """The stage of launches that are emulated to their end, timed or not."""
    watched = list(watched)

    def look(shown: Stage) -> None:
        _look(watched, shown)
        shown.done = sum(counters.pulse.blocks for _, counters in watched)

    n_blocks = sum(launch.n_blocks for launch, _ in watched)
    return stage("emulating", "blocks", n_blocks, look=look)


def stopped_at(watched: Watched) -> str:
    """A sentence on where an interrupt found the launch that ran; "" where none had begun."""
    shown = Stage("")
    for launch, counters in watched:
        if counters.pulse.at >= 0:
            shown.what = _names([launch])
            _look([(launch, counters)], shown)
    n_instructions = plural(shown.warp_instructions, "warp instruction", "warp instructions")
    return f"{shown.what}: stopped at {shown.place}, after {n_instructions}" if shown.place else ""


def _names(launches: list[cmd.Launch]) -> str:
    first = launches[0]
    text = launch_text(first.function.display, first.grid, first.block)
    return f"{text} and {plural(len(launches) - 1, 'other', 'others')}" if len(launches) > 1 else text


def _look(watched: list[tuple[cmd.Launch, LaunchCounters]], shown: Stage) -> None:
    shown.warp_instructions = sum(counters.pulse.warp_instructions for _, counters in watched)
    for launch, counters in watched:
        # Emulated in order: the last that has begun is the one that runs.
        if counters.pulse.at >= 0:
            shown.place = place_of(launch.module.program, counters.pulse.at)
