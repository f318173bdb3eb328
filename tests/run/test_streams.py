"""Streams, events and launches in flight, from CUDA C++ to the recording."""

import errno
from functools import partial
from io import BytesIO

import numpy as np
import pytest

import gpuprof
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.trace import Order
from gpuprof.errors import GpuprofError, KernelFault, UsageError
from gpuprof.run.launching.pending import Shelf
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.running import Results, run_source
from tests.support.timing_support import access, piece, warp

SPIN = """
__global__ void spin(float *x, int n)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
__global__ void add(int *x, int step) { x[blockIdx.x * blockDim.x + threadIdx.x] += step; }
__global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
__global__ void beyond(int *x) { x[1 << 28] = 1; }
"""


def spans(results: Results) -> list[tuple[int, int]]:
    return [(result.timing.start_cycle, result.timing.end_cycle) for result in results.launches]


@pytest.fixture
def gpu(tmp_path):
    path = tmp_path / "kernels.cu"
    path.write_text(SPIN)
    results = Results()
    device = open_device(Settings(observer=results))
    return device, device.load(path), results


def test_launches_on_two_streams_run_at_the_same_time(tmp_path):
    launches = [
        f"spin<<<8, 64, 0, {stream}>>>({name}: f32[64]=random, 400)" for stream, name in ((1, "a"), (2, "b"), (0, "c"))
    ]
    _, together = run_source(tmp_path, SPIN, *launches)
    (first, first_end), (second, second_end), (third, _) = spans(together)
    overhead = gpuprof.chips.load_chip("a100").launch_cycles
    # Both are asked for at cycle 0 and come through together; the default stream waits for both.
    assert first == second == overhead
    assert third == max(first_end, second_end) + overhead
    # They hardly disturb each other: 16 blocks on 108 SMs.
    cycles = [result.timing.cycles for result in together.launches[:2]]
    assert max(cycles) - min(cycles) < 0.05 * min(cycles)


def test_a_stream_keeps_its_order(tmp_path):
    _, results = run_source(tmp_path, SPIN, *["spin<<<1, 64, 0, 3>>>(f32[64]=random, 50)"] * 3)
    overhead = gpuprof.chips.load_chip("a100").launch_cycles
    ends = [end for _, end in spans(results)]
    assert [start for start, _ in spans(results)] == [overhead, ends[0] + overhead, ends[1] + overhead]


def test_results_are_those_of_the_order_asked(gpu):
    """Copies and launches on many streams without a wait: what each sees is what was asked before it."""
    device, module, results = gpu
    x = device.to_device(np.arange(64, dtype=np.int32))
    one, two = device.stream(), device.stream(priority=-1)
    module.add[2, 32, one](x, 5)
    module.twice[2, 32, two](x)
    x[:8].copy_to_device(np.zeros(8, np.int32), two)
    module.add[2, 32, one](x, 1)
    assert results.launches == []  # nothing has been waited for
    expected = (np.arange(64) + 5) * 2
    expected[:8] = 0
    assert (x.copy_to_host() == expected + 1).all()
    assert [result.launch.index for result in results.launches] == [0, 1, 2]


def test_events(gpu):
    """An event of a stream happens when what is before it there ends; another stream can wait for it."""
    device, module, results = gpu
    arrays = [device.to_device(np.zeros(64, np.float32)) for _ in range(2)]
    one, two = device.stream(), device.stream()
    begin, middle, end = device.event(), device.event(), device.event()
    begin.record(one)
    module.spin[1, 64, one](arrays[0], 300)
    middle.record(one)
    middle.wait(two)
    module.spin[1, 64, two](arrays[1], 100)
    end.record(two)
    assert results.launches == []
    milliseconds = begin.elapsed_time(end)
    (_, first_end), (second, second_end) = spans(results)
    assert (middle.cycle, end.cycle) == (first_end, second_end)
    assert second == first_end + device.chip.launch_cycles
    assert milliseconds == (second_end - begin.cycle) / (device.chip.clock_mhz * 1e3)


def test_numpy_arguments_on_a_stream(gpu):
    device, module, _ = gpu
    x = np.ones(32, np.int32)
    module.add[1, 32, device.stream()](x, 4)
    assert (x == 5).all()


def test_a_fault_comes_out_where_somebody_waits(gpu):
    device, module, results = gpu
    x = device.to_device(np.zeros(32, np.int32))
    stream = device.stream()
    module.add[1, 32, stream](x, 1)
    module.beyond[1, 1, stream](x)
    with pytest.raises(KernelFault, match="beyond"):
        device.synchronize()
    module.add[1, 32](x, 2)
    assert (x.copy_to_host() == 3).all() and [result.launch.index for result in results.launches] == [2]


def test_after_a_fault_events_and_streams_go_on(gpu):
    device, module, results = gpu
    x = device.to_device(np.zeros(32, np.int32))
    stream, event = device.stream(), device.event()
    module.beyond[1, 1, stream](x)
    event.record(stream)
    with pytest.raises(KernelFault, match="beyond"):
        x.copy_to_host()
    assert event.cycle == 0
    event.wait(stream)
    module.add[1, 32, stream](x, 2)
    assert (x.copy_to_host() == 2).all() and spans(results)[0][0] == device.chip.launch_cycles


def test_the_limit_of_cycles_is_for_each_launch(tmp_path):
    """What a launch waits for before it starts does not count."""
    launches = ["spin<<<1, 64, 0, 1>>>(x: f32[64]=random, 100)", "spin<<<1, 64, 0, 1>>>(x, 100)"]
    _, results = run_source(tmp_path, SPIN, *launches, max_cycles=4200)
    assert spans(results)[1][0] > 4200 > max(result.timing.cycles for result in results.launches)


def test_many_launches_are_bounded(gpu, monkeypatch):
    """The host waits when too many are in flight, as it does for a full queue."""
    device, module, results = gpu
    monkeypatch.setattr("gpuprof.run.launching.pending.MOST_FLIGHTS", 4)
    x = device.to_device(np.zeros(32, np.int32))
    for _ in range(6):
        module.add[1, 32, 1](x, 1)
    assert len(results.launches) == 4
    assert (x.copy_to_host() == 6).all() and len(results.launches) == 6


def test_what_is_refused(gpu):
    device, module, _ = gpu
    x = device.to_device(np.zeros(32, np.int32))
    with pytest.raises(UsageError, match="dependent launches need sm_90; a100 is sm_80"):
        module.add[1, 32, 1, "dependent"](x, 1)
    with pytest.raises(UsageError, match="a stream's priority must be an integer, not 'high'"):
        device.stream(priority="high")
    with pytest.raises(UsageError, match=f"a stream's priority of {1 << 31}: it must be "):
        device.stream(priority=1 << 31)


def test_what_is_put_by_comes_back_as_ordered(tmp_path):
    """A shelf with room for one piece in memory keeps the others in a file; pieces of a chunk come in their order,
    chunks in theirs.
    """
    made = [
        piece([warp([0] * k, [access([k, k + 1])] * k)], first_block=k)._replace(number=number) for k, number in PUT_BY
    ]
    shelf = Shelf(
        "traces", "stop", in_memory_nbytes=sum(value.nbytes for value in made[0] if isinstance(value, np.ndarray))
    )
    for some in made:
        shelf.put(some)
    for order, expected in zip((Order(), Order(), Order(1), Order(2), Order(1)), (0, 1, 2, 4, 3), strict=True):
        found = shelf.take(order)
        assert (found.first_block, found.number) == PUT_BY[expected]
        assert all(np.array_equal(a, b) for a, b in zip(found, made[expected], strict=True))
    assert len(shelf) == 0 and shelf.take(Order()) is None


def test_what_is_put_by_has_an_end():
    """Pieces of 4,056 bytes and a little more as written, each a chunk: memory has room for none, the file for two."""
    made = [piece([warp([0] * 500)], first_block=k) for k in range(3)]
    shelf = Shelf("traces of x", "wait for x", in_memory_nbytes=0, most_nbytes=10_000)
    shelf.put(made[0])
    shelf.put(made[1])
    with pytest.raises(
        GpuprofError,
        match=r"^traces of x need more than a temporary file of 9\.31e-06 GiB; wait for x$",
    ):
        shelf.put(made[2])
    assert shelf.take(Order()).first_block == 0


def test_a_full_disk_under_what_is_put_by(monkeypatch):
    class Full(BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gpuprof.run.launching.pending.tempfile.TemporaryFile", lambda **options: Full())
    with pytest.raises(
        GpuprofError,
        match="traces of x cannot be written: No space left on device; set TMPDIR to a folder with more room, or wait "
        "for x",
    ):
        Shelf("traces of x", "wait for x", in_memory_nbytes=0).put(piece([warp([0])]))


def test_a_launch_that_is_overtaken_and_does_not_end(gpu, monkeypatch):
    """Its trace has an end before the disk: 16 warps in a loop of 4,000 rounds, sixteen of them unrolled at most, make
    32,000 bytes and more.
    """
    monkeypatch.setattr("gpuprof.run.launching.pending.Shelf", partial(Shelf, in_memory_nbytes=1000, most_nbytes=30000))
    device, module, _ = gpu
    x, y = device.to_device(np.zeros(64, np.float32)), device.to_device(np.zeros(32, np.int32))
    module.spin[8, 64, device.stream()](x, 4000)
    module.add[1, 32, device.stream()](y, 1)
    with pytest.raises(
        GpuprofError,
        match=r"traces of a launch that later ones overtake need .* GiB.*wait for that launch .* --max-cycles$",
    ):
        device.synchronize()
    module.add[1, 32](y, 2)  # all that was in flight is gone, as after a fault, and the device goes on
    assert y.copy_to_host().tolist() == [2] * 32


PUT_BY = [(1, 0), (2, 0), (1, 1), (1, 2), (2, 1)]  # first block and number of pieces, as they are made


def test_a_launch_in_the_midst_of_another(tmp_path, monkeypatch):
    """The later launch has priority and starts first; the earlier one is emulated before it all the same, in many
    segments.
    """
    monkeypatch.setattr("gpuprof.run.launching.launcher.emulate", partial(emulate, segment_nbytes=2048))
    path = tmp_path / "kernels.cu"
    path.write_text(SPIN)
    results = Results()
    device = open_device(Settings(observer=results, max_cycles=10**7))
    module = device.load(path)
    x = device.to_device(np.ones(1 << 16, np.int32))
    y = device.to_device(np.ones(64, np.float32))
    late, soon = device.stream(), device.stream(priority=-1)
    module.spin[500, 64, late](y, 300)
    module.add[256, 256, late](x, 5)
    module.twice[256, 256, soon](x)
    assert (x.copy_to_host() == 12).all()
    (_, _), (added, _), (doubled, _) = spans(results)
    assert doubled < added


DEPENDENT = """
__global__ void first(float *x, int n)
{
    asm volatile("griddepcontrol.launch_dependents;");
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
__global__ void second(const float *x, float *y, int n)
{
    float v = y[threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    y[threadIdx.x] = v + x[threadIdx.x];
}
"""


def test_a_dependent_launch_hides_its_beginning(tmp_path):
    first = "first<<<1, 64, 0, 1>>>(x: f32[64]=random, 2000)"
    seconds = [f"second<<<1, 64, 0, 1{how}>>>(x, y: f32[64]=random, 500)" for how in ("", ", dependent")]
    plain, dependent = (run_source(tmp_path, DEPENDENT, first, second, chip_name="h200") for second in seconds)
    assert (plain[0]["y"].copy_to_host() == dependent[0]["y"].copy_to_host()).all()
    (_, first_end), (begin, end) = spans(plain[1])
    assert begin == first_end + gpuprof.chips.load_chip("h200").launch_cycles
    (_, first_end), (early, early_end) = spans(dependent[1])
    assert early < first_end < early_end < end
    # What comes behind the wait is some loads and stores: the second launch's loop is over by then.
    assert early_end - first_end < 2500 < end - begin
