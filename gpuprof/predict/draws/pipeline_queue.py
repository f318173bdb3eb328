"""Draws in sequence through the pipeline: when each begins and ends.

A unit processes the draws in order, and begins with the first item of a draw when that has arrived and the previous
draw has left. The waves of a stage run concurrently with those of previous draws where these leave the multiprocessors
idle: a wave's latency overlaps, its work does not. A draw continues in the next block as its first items leave one; its
last items leave no sooner than they arrived and were processed. Memory comes after the units, since most bytes are
those of the last one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.predict.draws.draw_memory import MEMORY
from gpuprof.predict.draws.times import PIXEL, DrawTimes

# The blocks after the command processor, in the order in which a draw passes them.
ORDER = (
    *("fetch", "vertex", "hull", "tessellate", "domain", "geometry", "assembly"),
    *("setup", "scan", "depth", PIXEL, "write", *MEMORY),
)
FROM_SCAN = frozenset(ORDER[ORDER.index("scan") :])


class Passed(NamedTuple):
    """float64 (chips,), cycles: `starts` when a draw's command began and `ends` when all of it had left, since its
    epoch began; and its `own` time, without its wait in the queue of the command processor.
    """

    starts: np.ndarray
    ends: np.ndarray
    own: np.ndarray


def passed(draws: Sequence[DrawTimes]) -> list[Passed]:
    """When each of the draws between two waits of the host passes; draws come in their order."""
    passes: list[Passed] = []
    free: dict[str, np.ndarray] = {}  # when a block is done with the draws so far
    command = last = np.zeros(len(draws[0].units["command"]))
    for times in draws:
        start = np.maximum(command, last) if times.draw.drains else command
        command = start + times.units["command"]
        began, end = _through(times, command, free)
        last = np.maximum(last, end)
        passes.append(Passed(start, end, times.units["command"] + end - began))
    return passes


def _through(times: DrawTimes, command: np.ndarray, free: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """When a draw enters the first block after the command processor, and leaves the last."""
    first = last = command  # when its first and its last item left the block before
    began = None
    for name in ORDER:
        if name in times.stages:
            at, stage = first, times.stages[name]
            latency = stage.block - stage.busy
            free[name] = np.maximum(first, free.get(name, 0)) + stage.busy
            first, last = first + latency, np.maximum(last, free[name]) + latency
        elif name in times.units:
            at, cycles = np.maximum(first, free.get(name, 0)), times.units[name]
            of_item = cycles / _items(times, name)
            first, last = at + of_item, np.maximum(at + cycles, last + of_item)
            free[name] = last
            answered = times.answers.get(name, 0)
            first, last = first + answered, last + answered
        else:
            continue
        began = at if began is None else began
    return command if began is None else began, last


def _items(times: DrawTimes, unit: str) -> int:
    """Waves of the shader stage that a unit's items come from, or go to; from the scan on those of pixels, if there are
    any. 1 if there are none.
    """
    waves = {stage: len(stage_waves.start_cycles) for stage, stage_waves in times.draw.waves.items()}
    of_pixels = waves.pop(PIXEL, 0)
    return of_pixels if of_pixels and unit in FROM_SCAN else max([1, *waves.values()])
