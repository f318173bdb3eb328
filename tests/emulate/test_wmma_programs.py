"""Whole kernels on the tensor pipe: CUDA C++ with mma.h, and PTX with ldmatrix and mma.sync, against numpy in higher
precision.
"""

import ml_dtypes
import numpy as np
import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from tests.paths import TESTS
from tests.support.matrices import long_from
from tests.support.nvidia_tools import skip_without_nvcc
from tests.support.ptx_support import run_kernel

PROGRAM = TESTS / "programs" / "wmma.cu"


@pytest.fixture(scope="module", params=[3, 0, "nvcc"], ids=["O3", "O0", "nvcc"])
def program(request):
    """By our own headers and compiler at two levels, and by nvcc with its headers where it is installed."""
    if request.param == "nvcc":
        skip_without_nvcc()
        return assemble_program(compile_nvcc(PROGRAM, arch="sm_80"))
    return assemble_program(compile_cuda(PROGRAM, optimize=request.param))


def kernel_named(program, name: str) -> str:
    return next(f.name for f in program.functions if f.display == name)


RNG = np.random.default_rng(11)
KERNELS = {
    # name: shape, elements of A and B, type of C and of D
    "halves": ((32, 8, 16), np.float16, np.float16, np.float16),
    "widened": ((8, 32, 16), np.float16, np.float16, np.float32),
    "bfloats": ((8, 32, 16), ml_dtypes.bfloat16, np.float32, np.float32),
    "tensor_floats": ((16, 16, 8), np.float32, np.float32, np.float32),
    "doubles": ((8, 8, 4), np.float64, np.float64, np.float64),
    "bytes": ((32, 8, 16), np.int8, np.int32, np.int32),
    "unsigned_bytes": ((16, 16, 16), np.uint8, np.int32, np.int32),
}


@pytest.mark.parametrize("name", long_from(5, KERNELS))
def test_every_type(program, name):
    (m, n, k), t, c_type, d_type = KERNELS[name]
    if np.issubdtype(t, np.integer):
        a, b = (RNG.integers(np.iinfo(t).min, np.iinfo(t).max, shape).astype(t) for shape in ((m, k), (n, k)))
    else:
        a, b = (RNG.integers(-64, 64, shape).astype(t) for shape in ((m, k), (n, k)))  # sums are exact
    c = RNG.integers(-50, 50, (m, n)).astype(c_type)
    raw = run_kernel(program, kernel_named(program, name), [a, b, c, np.zeros((n, m), d_type)])[3]
    exact = a.astype(np.float64) @ b.astype(np.float64).T + c.astype(np.float64)
    np.testing.assert_array_equal(np.frombuffer(raw, d_type).reshape(n, m).T, exact.astype(d_type))


def test_bits(program):
    a, b = (RNG.integers(0, 1 << 32, (8, 4), np.uint32) for _ in "ab")
    c = RNG.integers(-50, 50, (8, 8)).astype(np.int32)
    raw = run_kernel(program, kernel_named(program, "bits"), [a, b, c, np.zeros((8, 8), np.int32)])[3]
    pairs = np.bitwise_count(a[:, None] ^ b[None]).sum(axis=2, dtype=int) + np.bitwise_count(a[:, None] & b[None]).sum(
        axis=2, dtype=int
    )
    np.testing.assert_array_equal(np.frombuffer(raw, np.int32).reshape(8, 8), c + pairs)


def test_nibbles_saturate(program):
    a, b = (RNG.integers(0, 256, (8, 16)).astype(np.uint8) for _ in "ab")
    c = RNG.choice([0x7FFFFFF0, -0x7FFFFFF0], (8, 8)).astype(np.int32)
    raw = run_kernel(program, kernel_named(program, "nibbles"), [a, b, c, np.zeros((8, 8), np.int32)])[3]
    left, right = (
        np.stack([(v << 4).astype(np.int8) >> 4, v.astype(np.int8) >> 4], axis=2).reshape(8, 32).astype(int)
        for v in (a, b)
    )
    wanted = np.clip(c + left @ right.T, -(1 << 31), (1 << 31) - 1)
    np.testing.assert_array_equal(np.frombuffer(raw, np.int32).reshape(8, 8), wanted)


def test_a_tiled_product(program):
    from gpuprof.device.commands import Launch
    from gpuprof.device.memory import AddressSpace
    from gpuprof.device.module import load
    from gpuprof.emulate.run import emulate
    from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
    from tests.support.emulate_harness import CHIP

    m, n, k = 64, 96, 48
    a, b = RNG.standard_normal((m, k)).astype(np.float16), RNG.standard_normal((k, n)).astype(np.float16)
    memory = AddressSpace()
    module = load(program, memory)
    places = [memory.allocate(size, "x").address for size in (a.nbytes, b.nbytes, 4 * m * n)]
    memory.write(places[0], a)
    memory.write(places[1], b)
    function = next(f for f in program.functions if f.name == kernel_named(program, "tiled"))
    params = np.array(places, np.uint64).tobytes() + np.array([n, k], np.int32).tobytes() + np.float32(0.5).tobytes()
    launch = Launch(0, module, function, (n // 32, m // 32, 1), (128, 1, 1), 0, params, 0, "tiled")
    counters = LaunchCounters.zeros(len(module.code))
    for _ in emulate(launch, memory, chip=CHIP, max_warp_instructions=2_000_000, counters=counters):
        pass
    found = np.frombuffer(memory.read(places[2], 4 * m * n), np.float32).reshape(m, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # One rounding to f32 for each of the three steps of k, and the scaling, which is exact.
    bound = 3 * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    assert (np.abs(found / 0.5 - exact) <= bound).all()
