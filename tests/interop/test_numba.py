"""numba.cuda kernels launched as they are, on numpy arrays, against numpy. Without numba-cuda these skip."""

import math
import sys

import numba
import numpy as np
import pytest

import gpuprof.interop.numba as gpu_numba
from gpuprof.errors import KernelFault, UsageError
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.command import gpuprof, process, python_prints, write_files
from tests.support.matrices import long_from
from tests.support.running import Results
from tests.support.tools import lacking, module

module("numba_cuda", "interop")
cuda = module("numba.cuda", "interop")
try:
    gpu_numba.enable(device=open_device(Settings()))
    gpu_numba.disable()
except UsageError as error:
    lacking("numba-cuda", "interop", f"cannot compile here: {error}")

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")


@pytest.fixture
def results():
    return Results()


@pytest.fixture(params=["a100", "h200"])
def any_gpu(request, results):
    yield from enabled(results, request.param)


@pytest.fixture
def gpu(results):
    yield from enabled(results, "a100")


def enabled(results, chip):
    yield gpu_numba.enable(chip, device=open_device(Settings(observer=results), chip))
    gpu_numba.disable()


@pytest.fixture
def kernels():
    """The kernels anew: numba keeps what it compiled for the GPU of the test before."""
    sys.modules.pop("tests.support.numba_kernels", None)
    import tests.support.numba_kernels

    return tests.support.numba_kernels


def test_vectors(any_gpu, kernels):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    kernels.saxpy[4, 256](2.0, x, y)
    assert (y == 1 + 2 * x).all()


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128]
)
def test_elements(gpu, kernels, dtype):
    x, y = np.arange(10).astype(dtype), np.ones(10, dtype)
    kernels.saxpy[1, 32](3, x, y)
    assert (y == (1 + 3 * np.arange(10)).astype(dtype)).all()


def test_layouts(gpu, kernels):
    x, y = np.arange(200, dtype=np.float32), np.zeros(300, np.float32)
    kernels.saxpy[1, 128](1, x[198::-2], y[1:299:3])
    expected = np.zeros(300, np.float32)
    expected[1:299:3] = x[198::-2]
    assert (y == expected).all()


def test_an_array_twice_is_one_array(gpu, kernels):
    x = np.arange(64, dtype=np.float32)
    kernels.saxpy[1, 64](1, x, x)
    assert (x == 2 * np.arange(64)).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_shared_memory(any_gpu, kernels, order):
    a, out = np.random.default_rng(0).random((32, 48), np.float32), np.zeros((48, 32), np.float32, order=order)
    kernels.transpose[(3, 2), (16, 16)](np.asarray(a, order=order), out)
    assert (out == a.T).all()


def test_dynamic_shared_memory(gpu, kernels):
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    kernels.reverse[1, 64, 0, 256](x, out)
    assert (out == x[::-1]).all()


def test_matmul(gpu, kernels):
    a, b = (np.random.default_rng(0).integers(-8, 8, shape).astype(np.float32) for shape in ((32, 48), (48, 64)))
    c = np.zeros((32, 64), np.float32)
    kernels.matmul[(4, 2), (16, 16)](a, b, c)
    assert (c == a @ b).all()


def test_a_histogram(gpu, kernels):
    x, counts = np.random.default_rng(0).integers(0, 20, 1000), np.zeros(20, np.int32)
    kernels.histogram[4, 256](x, counts)
    assert (counts == np.bincount(x, minlength=20)).all()


def test_every_atomic(any_gpu, kernels):
    x = np.arange(1, 301, dtype=np.uint32)
    out, floats = np.array([0, 9999, 0, 2**32 - 1, 0, 0, 0, 0, 0], np.uint32), np.zeros(2)
    kernels.atomics[3, 128](x, out, floats)
    assert out.tolist() == [
        300,
        1,
        np.bitwise_or.reduce(x),
        0,
        np.bitwise_xor.reduce(x),
        2**32 - x.sum(),
        300 % 101,
        5,
        9,
    ]
    assert floats.tolist() == [x.sum(), 300]


@pytest.mark.parametrize("dtype, error", long_from(1, [(np.float32, 1e-6), (np.float64, 1e-14)]))
def test_special_functions(gpu, kernels, dtype, error):
    x, out = np.linspace(0.1, 5, 100).astype(dtype), np.zeros((13, 100), dtype)
    kernels.special_functions[1, 128](x, out)
    exact = x.astype(np.float64)
    erf, gamma, lgamma = (np.vectorize(function)(exact) for function in (math.erf, math.gamma, math.lgamma))
    expected = [
        np.sin(exact), np.exp(exact), np.log(exact), np.sqrt(exact), erf, exact**1.7, np.tanh(exact), gamma,
        np.arctan2(exact, 2),
        np.floor(exact), np.fmod(exact, 0.7), lgamma, np.hypot(exact, 1),
    ]  # fmt: skip
    assert np.allclose(out, expected, rtol=error, atol=error / 10)


def test_functions_of_the_warp(any_gpu, kernels):
    x, out = np.arange(32, dtype=np.int32), np.zeros((13, 32), np.uint32)
    kernels.warp_functions[1, 32](x, out)
    assert out[0, 0] == x.sum()
    assert (out[1] == sum(1 << lane for lane in range(11, 32))).all() and (out[2] == 1).all() and (out[3] == 0).all()
    assert (
        (out[4] == x ^ 1).all()
        and (out[5] == np.bitwise_count(x)).all()
        and (out[6] == 32 - np.array([n.bit_length() for n in x.tolist()])).all()
    )
    assert out[7].tolist() == [int(f"{n:032b}"[::-1], 2) for n in range(32)]
    assert (out[8] == x).all() and out[9].tolist() == [(n & -n).bit_length() for n in range(32)]
    assert out[10].tolist() == [0x55555555, 0xAAAAAAAA] * 16 and (out[11] == 0xFFFFFFFF).all() and (out[12] == 26).all()


def test_print(gpu, kernels, results):
    kernels.say[1, 3](np.arange(3))
    assert results.printed == "thread 0 has 0 0.000000\nthread 1 has 1 0.500000\nthread 2 has 2 1.000000\n"


def test_device_functions(gpu, kernels):
    x, out = np.arange(32.0), np.zeros(32)
    kernels.uses_a_device_function[1, 32](x, out)
    assert (out == 3 * x - 2).all()


def test_every_kind_of_number(any_gpu, kernels):
    out = np.zeros(10, np.complex128)
    kernels.scalars[1, 1](
        out,
        True,
        np.int8(-3),
        np.uint16(65535),
        2**40,
        np.float32(1.5),
        2.5,
        np.complex64(1 + 2j),
        3 + 4j,
        (7, (0, 8.5)),
    )
    assert out.tolist() == [1, -3, 65535, 2**40, 1.5, 2.5, 1 + 2j, 3 + 4j, 7, 8.5]


def test_local_arrays(gpu, kernels):
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    kernels.local_array[1, 32](x, out)
    assert out.tolist() == [sum(n * ((3 * k + n) % 8) * k for k in range(8)) for n in range(32)]


def test_records(gpu, kernels):
    kind = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
    rows, one, out = np.zeros(8, kind), np.array([(1, 2.5)], kind)[0], np.zeros(8)
    rows["a"] = np.arange(8)
    kernels.records[1, 8](rows, one, out)
    assert rows["b"].tolist() == list(range(8)) and (out == 2.5).all() and one.tolist() == (5, 2.5)


def test_the_grid_synchronises(any_gpu, kernels):
    for blocks in (4, 3):  # the counter of the barrier serves any number of blocks
        x, out = np.zeros(64 * blocks, np.int32), np.zeros(64 * blocks, np.int32)
        kernels.synchronises_the_grid[blocks, 64](x, out)
        assert (out == np.arange(64 * blocks)[::-1]).all() and (x == out + 1).all()


def test_an_exception_in_a_kernel(gpu, kernels):
    with pytest.raises(ValueError, match=r"line \d+, tid=\[0, 0, 6\] ctaid=\[0, 0, 0\]: too big"):
        kernels.raises[1, 32](np.arange(32))
    kernels.raises[1, 4](np.arange(4))


def test_constant_arrays(gpu, kernels):
    out = np.zeros(32, np.float32)
    kernels.constants[1, 32](out)
    assert (out == np.arange(32) % 10).all()


def test_half_precision(any_gpu, kernels):
    x = np.linspace(-2, 2, 32).astype(np.float16)
    y = np.zeros_like(x)
    kernels.half_precision[1, 32](x, y)
    assert (y == x * x + x).all()


def test_views_inside_the_kernel(gpu, kernels):
    a, out = np.arange(120, dtype=np.float32).reshape(2, 6, 10), np.zeros((6, 10), np.float32)
    kernels.plane[(1, 2), (8, 8)](a, out, 1)
    assert (out == a[1, :, ::-1]).all()


def test_the_functions_of_numba_cuda(gpu, kernels):
    x = cuda.to_device(np.arange(8.0))
    y = cuda.device_array_like(x)
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    start.record(stream)
    kernels.saxpy[1, 8, stream](1.0, x, y)
    end.record(stream)
    cuda.synchronize()
    assert (y.copy_to_host() == np.arange(8)).all() and cuda.event_elapsed_time(start, end) > 0
    kernels.saxpy.forall(8)(1.0, x, y)
    assert (y.copy_to_host() == 2 * np.arange(8)).all()
    assert cuda.is_available() and cuda.get_current_device().compute_capability == (8, 0)
    assert next(iter(kernels.saxpy.get_regs_per_thread().values())) > 0


def test_device_arrays_as_numba_has_them(gpu):
    x = cuda.to_device(np.arange(12.0))
    x[2:4] = 7
    x[5], x[-1] = 8, 9
    assert x.copy_to_host().tolist() == [0, 1, 7, 7, 4, 8, 6, 7, 8, 9, 10, 9]
    square = x.reshape(3, -1)
    square[1] = np.arange(4)
    square[2, 3] = -1
    assert square.shape == (3, 4) and np.asarray(square).tolist() == [[0, 1, 7, 7], [0, 1, 2, 3], [8, 9, 10, -1]]
    assert [piece.copy_to_host().tolist() for piece in square.ravel().split(5)] == [
        [0, 1, 7, 7, 0],
        [1, 2, 3, 8, 9],
        [10, -1],
    ]
    with pytest.raises(UsageError, match=r"cannot put float64\[3\] into float64\[2\]"):
        x[:2] = np.zeros(3)
    with pytest.raises(ValueError, match="cannot reshape"):
        x.reshape(5, 5)


def test_an_argument_too_many(gpu, kernels):
    x = np.zeros(8, np.float32)
    kernels.saxpy[1, 8](2.0, x, x)
    with pytest.raises(TypeError, match=r"saxpy\(\) takes 3 arguments, 4 were given"):
        kernels.saxpy[1, 8](2.0, x, x, x)


def test_vectorized_functions(gpu):
    @numba.vectorize(["float32(float32, float32)", "int64(int64, int64)"], target="cuda")
    def twice_and(a, b):
        return a * 2 + b

    @numba.guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
    def product(a, b, c):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    a, b = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.ones((2, 4, 2), np.float32)
    assert (twice_and(a, a) == 3 * a).all() and (twice_and(np.arange(9), 3) == 2 * np.arange(9) + 3).all()
    assert (twice_and(cuda.to_device(a), cuda.to_device(a)).copy_to_host() == 3 * a).all()
    assert (product(a, b) == a @ b).all()


def test_questions_that_only_a_driver_answers(gpu, kernels, capsys):
    assert cuda.detect() and "a100" in capsys.readouterr().out and len(cuda.gpus) == len(cuda.list_devices()) == 1
    with cuda.gpus[0] as device, cuda.stream().auto_synchronize():
        assert device is cuda.current_context().device
    managed = cuda.managed_array(4, np.float32)
    managed[:] = 1
    kernels.saxpy[1, 4](2.0, np.ones(4, np.float32), managed)
    assert managed.tolist() == [3, 3, 3, 3]
    event = cuda.event()
    assert not event.query()
    event.record()
    assert event.query()
    with pytest.raises(cuda.cudadrv.error.CudaSupportError, match="that the emulated GPU does not support"):
        cuda.cudadrv.driver.driver.cuCtxGetCurrent()


def test_a_kernel_for_a_signature(gpu):
    @cuda.jit("void(float32[:], int32)")
    def fill(x, n):
        x[cuda.grid(1)] = n

    x = np.zeros(4, np.float32)
    fill[1, 4](x, 3)
    assert (x == 3).all()


def test_hints_of_direction(gpu, kernels):
    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    kernels.saxpy[1, 8](1.0, cuda.In(x), cuda.InOut(y))
    assert (y == 2).all()


def test_a_reduction_of_numbas(gpu):
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000.0)) == 499500


def test_random_numbers(gpu):
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

    @cuda.jit
    def estimate(states, out):
        i = cuda.grid(1)
        inside = 0
        for _ in range(50):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y <= 1:
                inside += 1
        out[i] = 4 * inside / 50

    out = np.zeros(256, np.float32)
    estimate[4, 64](create_xoroshiro128p_states(256, seed=1), out)
    assert abs(out.mean() - math.pi) < 0.06, "three standard deviations"


def test_out_of_bounds_is_caught_and_named(gpu, kernels):
    with pytest.raises(KernelFault, match=r"counts int32\[20\]"):
        kernels.histogram[1, 32](np.full(32, 2000), np.zeros(20, np.int32))


def test_a_launch_is_named_as_it_was_written(gpu, kernels, results):
    kernels.saxpy[(2, 1), 128](2.0, np.ones(200, np.float32), np.ones(200, np.float32))
    assert results.launches[0].launch.name == "saxpy<<<2, 128>>>(2.0, float32[200], float32[200])"


SCRIPT = """import numpy as np
from numba import cuda

import gpuprof.interop.numba

gpuprof.interop.numba.enable()


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


x = np.arange(1000, dtype=np.float32)
double[4, 256](x)
print(x.sum())
"""


def test_a_script_is_recorded_with_its_python_lines(tmp_path):
    write_files(tmp_path, {"double.py": SCRIPT})
    try:
        assert gpuprof(tmp_path, "collect", "double.py")[0] == 0
    finally:
        gpu_numba.disable()
    code, page, _ = gpuprof(tmp_path, "report", "double.gprec", "--page", "source")
    assert code == 0 and "double  double.py:" in page
    assert [line.split()[1] for line in page.splitlines() if "cuda.grid" in line or "x[i] *= 2" in line] == ["11", "13"]


@pytest.mark.long
def test_a_plain_script_runs(tmp_path):
    assert python_prints(tmp_path, SCRIPT) == "999000.0\n"


DEBUGGED = """\
import gpuprof.interop.numba
gpuprof.interop.numba.enable()
import numpy as np
from numba import cuda
@cuda.jit
def scale(x, k):
    i = cuda.grid(1)
    if i < x.size:
        y = x[i] * k
        x[i] = y + 1
x = cuda.to_device(np.arange(40, dtype=np.float32))
scale[2, 32](x, np.float32(2))
print(x.copy_to_host()[:4])
"""


@pytest.mark.long
def test_a_session_of_the_debugger(tmp_path):
    """Stops at lines of Python. An array's parameters are parent, size, bytes, address, shape and stride."""
    write_files(tmp_path, {"scale.py": DEBUGGED, "session": "break scale.py:10\nrun\nprint *(float *)param_4@4\n"
                           "continue\nquit\n"})  # fmt: skip
    code, out, _ = process(tmp_path, "debug", "-x", "session", "scale.py")
    assert (code, out.split("\n")) == (0, [
        "Breakpoint 1 (scale.py:10) pending.",
        "Starting program: scale.py",
        "[Switching focus to CUDA kernel 0, block (0,0,0), thread (0,0,0), warp 0, lane 0]",
        "Breakpoint 1, scale<<<(2,1,1),(32,1,1)>>> (param_0=0x0, param_1=0x0, param_2=0x28, param_3=0x4, "
        "param_4=0x700000000, param_5=0x28, param_6=0x4, param_7=2) at scale.py:10",
        "10\t        x[i] = y + 1",
        "$1 = {0, 1, 2, 3}",
        "Continuing.",
        "[1. 3. 5. 7.]",
        "[Program exited normally]",
        "",
    ])  # fmt: skip
