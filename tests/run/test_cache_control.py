"""What caches hold when a launch is measured: `--cache`, `--repeat`, words of a launch, and `Device.measure`."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.base.cache_control import CacheControl, timings_text
from gpuprof.check.facts import measure
from gpuprof.correlate.database import reading
from gpuprof.errors import UsageError
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.run.target import Launches
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.running import Results

# Two ways to copy: the order in which a file has them must not decide which one is faster.
SOURCE = """
__global__ void forward(const float *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i]; }
__global__ void backward(const float *x, float *y) { int i = (15 - blockIdx.x) * 256 + threadIdx.x; y[i] = x[i]; }
__global__ void count(int *total) { atomicAdd(total, 1); }
"""
ARRAYS = "(x: f32[4096]=random, y: f32[4096])"
FORWARD, BACKWARD = f"forward<<<16, 256{{}}>>>{ARRAYS}", "backward<<<16, 256{}>>>(x, y)"


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "copies.cu"
    path.write_text(SOURCE)
    return path


def launched(file: Path, *texts: str, **settings) -> Results:
    results = Results()
    Launches(file, texts).run(Settings(observer=results, **settings))
    return results


def cycles(file: Path, *texts: str, **settings) -> list[int]:
    return [result.timing.cycles for result in launched(file, *texts, **settings).launches]


def alone(file: Path) -> tuple[int, int]:
    """Cycles of both kernels, each as the first of a run."""
    (forward,) = cycles(file, FORWARD.format(""))
    (backward,) = cycles(file, f"backward<<<16, 256>>>{ARRAYS}")
    return forward, backward


def test_cold_is_as_alone_in_any_order(file):
    forward, backward = alone(file)
    one_way = cycles(file, FORWARD.format(""), BACKWARD.format(""))
    other_way = cycles(file, f"backward<<<16, 256>>>{ARRAYS}", "forward<<<16, 256>>>(x, y)")
    assert one_way == [forward, backward] and other_way == [backward, forward]


def test_warm_is_the_second_of_two_that_keep(file):
    first, second = cycles(file, FORWARD.format(""), "forward<<<16, 256>>>(x, y)", cache="keep")
    assert second < first
    assert cycles(file, FORWARD.format(""), cache="warm") == [second]


@pytest.mark.parametrize(("cache", "expected"), [("cold", [0, 0, 0]), ("keep", [0, 1, 2]), ("warm", [1, 2, 3])])
def test_repetitions_are_the_launches_of_a_loop(file, cache, expected):
    """The same as in a loop that launches it again; the last is reported."""
    loop = cycles(file, FORWARD.format(""), *["forward<<<16, 256>>>(x, y)"] * 3, cache="keep")
    (result,) = launched(file, FORWARD.format(""), cache=cache, repeat=3).launches
    assert result.timing.repetitions.tolist() == [loop[number] for number in expected]
    assert result.timing.cycles == loop[expected[-1]]


def test_a_launch_is_carried_out_once(file):
    """However often it is timed: atomics add once, and the counters are those of one launch."""
    results = Results()
    gpu = open_device(Settings(observer=results))
    total = gpu.to_device(np.zeros(1, np.int32))
    kernels = gpu.load(file)
    with gpu.measure(cache="warm", repeat=4):
        kernels.count[8, 32](total)
    kernels.count[8, 32](total)
    assert total.copy_to_host().tolist() == [512]
    repeated, once = (each.timing.repetitions for each in results.launches)
    assert len(repeated) == 4 and once is None
    one, other = (each.counters.inst_executed.sum() for each in results.launches)
    assert one == other


def test_a_launch_says_how_it_is_measured_and_a_flag_goes_before_it(file):
    warm = "backward<<<16, 256, 0, 0, cache=warm>>>(x, y)"
    texts = FORWARD.format(""), BACKWARD.format(", cache=keep, repeat=2"), warm
    assert recorded_controls(file, *texts) == ["cold", "keep, timing 2 of 2", "warm"]
    assert recorded_controls(file, *texts, cache="keep", repeat=1) == ["keep", "keep", "keep"]


def recording(file: Path, *texts: str, **settings) -> Path:
    path = file.with_suffix(".gprec")
    with RecordWriter(path) as recorder:
        Launches(file, texts).run(Settings(recorder=recorder, sampling=Sampling(256), **settings))
    return path


def recorded_controls(file: Path, *texts: str, **settings) -> list[str]:
    path = recording(file, *texts, **settings)
    with reading(path) as database:
        return [launch.cache for launch in measure(database, path).launches.values()]


def test_a_replay_measures_as_it_was_recorded_or_as_it_is_told(file, tmp_path):
    path = recording(file, FORWARD.format(""), BACKWARD.format(", repeat=2"), save_stream=True)
    stream = read_stream(path)
    for settings, expected in [
        ({}, ["cold", "cold, timing 2 of 2"]),
        ({"cache": "warm"}, ["warm", "warm, timing 2 of 2"]),
        ({"repeat": 1}, ["cold", "cold"]),
    ]:
        again = tmp_path / "again.gprec"
        with RecordWriter(again) as recorder:
            replay(stream, Settings(recorder=recorder, sampling=stream.header.sampling, **settings))
        with reading(again) as database:
            assert [launch.cache for launch in measure(database, again).launches.values()] == expected


def test_repetitions_are_in_the_database(file):
    path = recording(file, FORWARD.format(""), cache="keep", repeat=3)
    with reading(path) as database:
        rows = database.execute("SELECT launch, repetition, cycles FROM repetitions").fetchall()
        ((total,),) = database.execute("SELECT cycles FROM launches")
    assert [row[:2] for row in rows] == [(0, 1), (0, 2), (0, 3)]
    assert rows[0][2] > rows[1][2] and rows[2][2] == total


def test_launches_in_flight_together_are_measured_together(file):
    """They run side by side; caches are emptied before the first of them, and all of them run again."""
    other = "backward<<<16, 256, 0, 2>>>(x, y)"
    together = cycles(file, FORWARD.format(", 0, 1"), other)
    results = launched(file, FORWARD.format(""), "forward<<<16, 256, 0, 1>>>(x, y)", other, repeat=2).launches
    first, *others = (result.timing for result in results)
    assert [timing.repetitions.tolist() for timing in others] == [[each, each] for each in together]
    assert others[1].start_cycle < others[0].end_cycle and first.end_cycle < others[0].start_cycle
    wrong = (
        "forward: launches in flight together are measured together, and one before it has cache cold; say the same "
        "of all of them"
    )
    texts = FORWARD.format(", 0, 1"), "forward<<<16, 256, 0, 2, cache=warm>>>(x, y)"
    with pytest.raises(UsageError, match=wrong):
        cycles(file, *texts)


def test_a_part_of_the_blocks_is_timed_once(file):
    with pytest.raises(UsageError, match="--sample-blocks times a part of the blocks, and --cache warm or --repeat"):
        cycles(file, FORWARD.format(""), cache="warm", sample_blocks=True)
    assert cycles(file, FORWARD.format(""), sample_blocks=True) == [alone(file)[0]]


def test_sampling_through_the_load_store_unit_is_charged_to_the_reported_timing(file):
    often = Sampling(period_cycles=32, mode="all", fifo_depth=64, drain_cycles=1, stream="lsu")
    texts = FORWARD.format(""), BACKWARD.format("")
    for cache in ("cold", "warm"):
        results = launched(file, *texts, cache=cache, sampling=often).launches
        plain = [each.timing.cycles - each.timing.disturbance_cycles for each in results]
        assert plain == cycles(file, *texts, cache=cache)


def test_what_measure_refuses():
    gpu = open_device(Settings())
    for given, why in [
        ({"cache": "hot"}, "measure: cache=hot: it must be one of cold, warm, keep"),
        ({"repeat": -1}, "measure: repeat=-1: it must be 1 to 10,000"),
        ({"repeat": 1.5}, "repeat must be an integer, not 1.5"),
    ]:
        with pytest.raises(UsageError, match=f"^{why}$"), gpu.measure(**given):
            pass


def test_words():
    assert str(CacheControl("warm")) == "warm"
    assert CacheControl("keep", 5).sentence == "keep, timing 5 of 5 (as the launches before left them)"
    assert timings_text([18486, 18069, 18069, 18069]) == "18,486 18,069 x3"
    assert [CacheControl(cache, 3).timings for cache in ("cold", "warm", "keep")] == [3, 4, 3]
