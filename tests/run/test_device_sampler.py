"""`Device.sampler`: registers that a script sets in mid-stream, and what the recording says was in force."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.device import commands as cmd
from gpuprof.errors import UsageError
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.launch import LEDGER
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import changed, described, registers
from gpuprof.timing.sampling.filter import filter_of_text

SPIN = """
extern "C" __global__ void spin(float *x, int n)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
extern "C" __global__ void other(float *x, int n)
{
    for (int i = 0; i < n; i++) x[threadIdx.x] += 1.0f;
}
extern "C" __global__ void one_spins(float *x, int n)
{
    if (blockIdx.x == 0 && blockIdx.y == 1 && blockIdx.z == 1)
        for (int i = 0; i < n; i++) x[threadIdx.x] += 1.0f;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "spin.cu"
    path.write_text(SPIN)
    device = open_device(Settings())
    return device.executor.compile(path), device.executor._images


def recording(folder: Path, program, script, sampling=Sampling(32, "all", fifo_depth=4096, drain_cycles=1), **settings):  # noqa: B008 (frozen)
    """The recording of `script(gpu, launch)`, where launch(kernel, stream) runs it on two blocks of two warps."""
    compiled, images = program
    path = folder / "s.gprec"
    with RecordWriter(path) as recorder:
        gpu = open_device(Settings(sampling=sampling, recorder=recorder, **settings))
        gpu.executor._images |= images
        module = gpu.submit(cmd.Load(compiled))
        x = gpu.device_array(64, np.float32)

        def launch(name="spin", stream=0, n=40, grid=(2, 1, 1), cluster=(1, 1, 1)):
            (function,) = [function for function in compiled.functions if function.name == name]
            params = x.address.to_bytes(8, "little") + n.to_bytes(4, "little")
            arguments = (gpu.executor.n_launches, module, function, grid, (64, 1, 1), 0, params, stream, name, cluster)
            return gpu.submit(cmd.Launch(*arguments))

        script(gpu, launch)
        gpu.executor.finish()
    return read_recording(path)


def what(recording):
    """Of each launch: how many samples it has, and the registers of its own."""
    return [(len(launch.samples), launch.begin.get("sampling")) for _, launch in sorted(recording.launches.items())]


def test_registers_are_read_and_set(tmp_path, program):
    def script(gpu, launch):
        sampler = gpu.sampler
        assert sampler.registers == registers(Sampling(32, "all", fifo_depth=4096, drain_cycles=1))
        assert (sampler.period_cycles, sampler.mode, sampler.filter(sm=0) is None) == (32, "all", False)
        assert sampler.registers["filter"] == "sm=0"
        sampler.period_cycles = np.int64(512)
        sampler.set(mode="random", seed=7)
        assert (sampler.period_cycles, sampler.mode, sampler.seed, sampler.registers["filter"]) == (
            512,
            "random",
            7,
            "sm=0",
        )
        with sampler.set(seed=8) as inside:
            assert inside.seed == 8
        assert sampler.seed == 7 and "period_cycles" in dir(sampler)
        for register, value, message in (
            ("period", 3, "the sampler has no register 'period'; it has period_cycles, mode"),
            ("period_cycles", 3, "sampling period 3: it must be 0"),
            ("period_cycles", "512", "the sampler's register period_cycles is a number, not '512'"),
            ("mode", 1, "the sampler's register mode is text, not 1"),
            ("mode", None, "the sampler's register mode takes a number or text, not None"),
        ):
            with pytest.raises(UsageError, match=message):
                setattr(sampler, register, value)
        with pytest.raises(UsageError, match="the sampler has no register 'period'"):
            _ = sampler.period
        assert not hasattr(sampler, "_repr_html_") and sampler.period_cycles == 512

    recording(tmp_path, program, script)


def test_filters_of_a_script(tmp_path, program):
    def script(gpu, launch):
        sampler = gpu.sampler

        def there():
            return sampler.registers["filter"]

        sampler.filter(sm=[0, range(2, 4)], block=range(16), kernel="^spin$", stream=gpu.stream())
        assert there() == "sm=0,2-3 block=0-15 'kernel=^spin$' stream=1"
        with sampler.only(block=3, warp=0):
            assert there() == "sm=0,2-3 block=3 warp=0 'kernel=^spin$' stream=1"
            with sampler.off():
                assert there().endswith(" off")
                sampler.on()
            assert there() == "sm=0,2-3 block=3 warp=0 'kernel=^spin$' stream=1"
        assert there() == "sm=0,2-3 block=0-15 'kernel=^spin$' stream=1"
        sampler.filter(launch_cycles="100-", launch={1, 0})
        assert filter_of_text(there()) == filter_of_text("launch=0-0,1 launch-cycles=100-")
        sampler.filter()
        assert there() == ""
        for value in (1.5, True, range(0), None, [None]):
            with pytest.raises(UsageError, match=r"sampling filter '?sm"):
                sampler.filter(sm=value)
        with pytest.raises(UsageError, match="unknown key 'sms'"):
            sampler.filter(sms=1)
        with pytest.raises(UsageError, match="a100 has multiprocessors 0 to 107"):
            sampler.only(sm=108)
        assert there() == ""

    recording(tmp_path, program, script)


def test_launches_keep_the_filter_they_were_asked_for_with(tmp_path, program):
    """All four run at the same time, beside each other; the filter changes between them, which no launch waits for."""

    def plain(gpu, launch):
        for k in range(4):
            launch(stream=k + 1)

    def script(gpu, launch):
        launch(stream=1)
        with gpu.sampler.only(block=0, warp=1):
            launch(stream=2)
        with gpu.sampler.off():
            launch(stream=3)
        launch(stream=4)

    everything, filtered = recording(tmp_path, program, plain), recording(tmp_path, program, script)
    usual = {"period_cycles": 32, "mode": "all", "seed": 0, "fifo_depth": 4096, "drain_cycles": 1, "record": "wide"}
    assert everything.meta["sampling"] == filtered.meta["sampling"] == usual
    own = [None, usual | {"filter": "block=0 warp=1"}, usual | {"filter": "off"}, None]
    assert [sampling for _, sampling in what(filtered)] == own
    for k in range(4):
        one, other = everything.launches[k], filtered.launches[k]
        wanted = [np.ones(len(one.samples), bool), (one.samples["block"] == 0) & (one.samples["warp"] == 1)][k == 1] & (
            k != 2
        )
        assert other.samples.tobytes() == one.samples[wanted].tobytes()
        assert (other.end["start_cycle"], other.end["cycles"]) == (one.end["start_cycle"], one.end["cycles"])
        assert other.rows[LEDGER].tobytes() == one.rows[LEDGER].tobytes()
        assert other.end["samples_due"] == len(other.samples)
    assert len(filtered.launches[1].samples) > 5


def test_blocks_have_their_linear_index_wherever_their_cluster_stands(tmp_path, program):
    """Clusters of 2 x 2 x 2 run one after the other: block (0, 1, 1) of a grid of 2 x 4 x 2 is the 11th by index, the
    7th to run.
    """
    chip = load_chip("h200")

    def plain(gpu, launch):
        launch("one_spins", n=600, grid=(2, 4, 2), cluster=(2, 2, 2))

    def only(gpu, launch):
        with gpu.sampler.only(block=0 + 2 * 1 + 2 * 4 * 1):
            plain(gpu, launch)

    everything, filtered = (
        recording(tmp_path, program, script, chip=chip).launches[0].samples for script in (plain, only)
    )
    blocks, counts = np.unique(everything["block"], return_counts=True)
    assert blocks.tolist() == list(range(16))
    assert counts[10] > 5 * np.delete(counts, 10).max()
    assert filtered.tobytes() == everything[everything["block"] == 10].tobytes()


def test_other_registers_wait_for_what_is_in_flight(tmp_path, program):
    def script(gpu, launch):
        launch(stream=1)
        launch(stream=2)
        gpu.sampler.period_cycles = 64
        launch(stream=3)
        gpu.sampler.set(period_cycles=0)
        launch(stream=4)

    found = recording(tmp_path, program, script)
    cycles = [found.launches[k].samples["cycle"] if k < 3 else None for k in range(4)]
    assert any(cycle % 64 for cycle in cycles[0]) and any(cycle % 64 for cycle in cycles[1]) and not any(cycles[2] % 64)
    assert found.launches[2].end["start_cycle"] >= max(found.launches[k].end["end_cycle"] for k in (0, 1))
    (_, first), (_, second), (_, third), (n, last) = what(found)
    assert first is second is None and (third["period_cycles"], last["period_cycles"], n) == (64, 0, 0)


def test_what_the_host_decides(tmp_path, program):
    """Kernel, stream, task and count are decided launch by launch, from the start on."""

    def script(gpu, launch):
        launch("spin", 1)
        launch("other", 1)
        with gpu.task("step"), gpu.task("load"):
            launch("other", 2)
        launch("other", 2)

    def sampled(text):
        found = recording(tmp_path, program, script, Sampling(32, "all", filter=filter_of_text(text)))
        assert filter_of_text(found.meta["sampling"]["filter"]) == filter_of_text(text)
        assert {sampling for _, sampling in what(found)} == {None}  # the same registers for all
        return [k for k, (n, _) in enumerate(what(found)) if n]

    assert sampled("kernel=^other$") == [1, 2, 3] and sampled("kernel=other stream=2") == [2, 3]
    assert (
        sampled("task=^step/load$") == [2]
        and sampled("kernel=other skip=1 count=1") == [2]
        and sampled("launch=0,3") == [0, 3]
    )


def test_a_saved_stream_sets_the_sampler_again(tmp_path, program):
    """A filter of the run comes back, too; what the replay sets otherwise goes before what the script set."""

    def script(gpu, launch):
        launch()
        assert gpu.sampler.set(period_cycles=64, filter="block=0")
        launch()
        gpu.sampler.filter(warp=1)
        launch()

    sampling = Sampling(32, "all", filter=filter_of_text("warp=0-3 kernel=spin"))
    saved = recording(tmp_path, program, script, sampling, save_stream=True)
    stream = read_stream(tmp_path / "s.gprec")
    assert stream.header.sampling == sampling

    def again(sampling):
        with RecordWriter(tmp_path / "again.gprec") as recorder:
            replay(stream, Settings(sampling=sampling, recorder=recorder))
        return [launch.samples for _, launch in sorted(read_recording(tmp_path / "again.gprec").launches.items())]

    assert [some.tobytes() for some in again(sampling)] == [
        launch.samples.tobytes() for _, launch in sorted(saved.launches.items())
    ]
    first, second, third = again(replace(sampling, period_cycles=128))
    assert not any((some["cycle"] % 128).any() for some in (first, second, third))
    assert set(first["block"]) == {0, 1} and set(second["block"]) == {0} and set(third["warp"]) == {1}


def test_plain_values():
    sampling = changed(Sampling(64), [("filter", "sm=1 off"), ("mode", "all")])
    assert sampling == Sampling(64, "all", filter=filter_of_text("off sm=1"))
    assert described(sampling) == {"period_cycles": 64, "mode": "all", "seed": 0, "filter": "sm=1 off"}
    assert changed(Sampling(), registers(sampling).items()) == sampling
