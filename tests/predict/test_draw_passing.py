"""Draws behind each other in the pipeline, by cases that were computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.predict.draws.draw_records import after_kernels
from gpuprof.predict.draws.draw_stages import StageTimes
from gpuprof.predict.draws.pipeline_queue import passed
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.shader_waves import Waves
from gpuprof.predict.draws.times import DrawTimes


def numbers(cycles):
    return np.array([float(cycles)])


def draw(units, vertex, pixel=None, waves=1, drains=False):
    """`vertex` and `pixel`: (cycles of the stage, of these busy); so many waves of each."""
    both = {"vertex": vertex} | ({"pixel": pixel} if pixel else {})
    trace = {stage: Waves(np.zeros(waves, np.int64), np.ones(waves, np.int64)) for stage in both}
    recorded = RecordedDraw(0, "d", 0, drains, 0, 0, 1, {}, {}, {}, trace, {})
    stages = {stage: StageTimes(numbers(block), numbers(busy), numbers(block)) for stage, (block, busy) in both.items()}
    return DrawTimes(recorded, {unit: numbers(cycles) for unit, cycles in units.items()}, stages, {}, None, None)


ONE = draw({"command": 10, "fetch": 20, "setup": 8, "write": 4}, (100, 0), (200, 50))


@pytest.mark.parametrize(
    "draws, times",
    [
        # one after the other: 10 + 20 + 100 + 8 + 200 + 4
        ([ONE], [(0, 342, 342)]),
        # Latencies overlap. The second one's fetch begins behind the first one's at 30. Its pixels wait for the first
        # one's work of 50, which ends at 188: they are worked on until 238, and leave 150 later.
        ([ONE, ONE], [(0, 342, 342), (10, 392, 10 + 392 - 30)]),
        # the next pass waits
        ([ONE, draw({"command": 10, "fetch": 20}, (100, 0), drains=True)], [(0, 342, 342), (342, 472, 130)]),
        # Four waves: the first leaves fetch at 25 of 100 cycles, and its shader at 75; the last one leaves that at 150.
        # Its share of the setup, 10 of 40, comes behind that.
        ([draw({"command": 0, "fetch": 100, "setup": 40}, (50, 0), waves=4)], [(0, 160, 160)]),
        # a setup that is slower than fetch: from the first wave at 75 on
        ([draw({"command": 0, "fetch": 100, "setup": 400}, (50, 0), waves=4)], [(0, 475, 475)]),
        # nothing but a command
        ([DrawTimes(ONE.draw, {"command": numbers(7)}, {}, {}, None, None)], [(0, 7, 7)]),
    ],
)
def test_when_draws_begin_and_end(draws, times):
    assert [tuple(float(cycles[0]) for cycles in each) for each in passed(draws)] == times


def test_draws_after_kernels():
    """Launches 0, 4, 7, and 8 are kernels; draw 1's vertices begin behind one, as draw 3's do."""
    shaders = {1: (0, "vertex"), 2: (0, "pixel"), 3: (0, "pixel"), 5: (1, "vertex"), 6: (2, "vertex"), 9: (3, "vertex")}
    assert after_kernels(shaders, range(10)) == {0, 1, 3}
    assert after_kernels(shaders, shaders) == set()


def test_a_command_processor_that_is_slow():
    """The others wait for it: draws end as far apart as it takes, and their own time has its command."""
    found = passed([draw({"command": 1000, "fetch": 20}, (100, 10))] * 3)
    assert [(float(each.starts[0]), float(each.ends[0]), float(each.own[0])) for each in found] == [
        (0, 1120, 1120),
        (1000, 2120, 1120),
        (2000, 3120, 1120),
    ]


def test_items_wait_until_memory_answers():
    """Of 20 waves: the first leaves fetch at 5, is answered at 55, and leaves its shader at 155, the last at 250. Each
    is written in 2 cycles, and answered 30 later.
    """
    one = draw({"command": 0, "fetch": 100, "write": 40}, (100, 0), waves=20)
    found = passed([replace(one, answers={"fetch": numbers(50), "write": numbers(30)})])
    assert [float(each.ends[0]) for each in found] == [100 + 50 + 100 + 40 / 20 + 30]


def test_half_the_time_of_a_unit():
    """Twice the rate of fetch: its 20 cycles are 10."""
    assert [float(each.ends[0]) for each in passed([ONE.with_twice("fetch")])] == [332]
    assert ONE.with_twice("depth") == ONE
