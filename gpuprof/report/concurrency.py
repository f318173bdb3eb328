"""Launches that ran at the same time."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gpuprof.report.model import ChipFacts, Launch
from gpuprof.report.number_text import duration, grouped


def overlaps(launches: list[Launch]) -> dict[int, int]:
    """How many others ran while each did, by launch."""
    starts = sorted(launch.start_cycle for launch in launches)
    ends = sorted(launch.end_cycle for launch in launches)
    return {
        launch.launch: max(0, bisect_left(starts, launch.end_cycle) - bisect_right(ends, launch.start_cycle) - 1)
        for launch in launches
    }


def span_fact(launches: Sequence[Launch], chip: ChipFacts) -> str:
    """How long it was from the first one's start to the last one's end, where some ran at the same time: their
    durations sum to more. "" where none did.
    """
    ended = [launch for launch in launches if launch.complete]
    if not any(overlaps(ended).values()):
        return ""
    cycles = max(launch.end_cycle for launch in ended) - min(launch.start_cycle for launch in ended)
    time = f"{duration(cycles, chip.clock_mhz)}, " if chip.clock_mhz else ""
    return f"some at the same time: {time}{grouped(cycles)} cycles from the first start to the last end"
