"""Programs of the kind people bring, in tests/programs, each against numpy."""

import numpy as np
import pytest

import gpuprof
from tests.paths import TESTS

PROGRAMS = TESTS / "programs"
F32, I32, U32 = np.float32, np.int32, np.uint32


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def load(name, *instances):
    gpu = gpuprof.Device()
    return gpu, gpu.load(PROGRAMS / name, instantiate=instances)


def test_prefix_sum_with_look_back(rng):
    gpu, program = load("lookback.cu")
    n = 20_003
    numbers, out = rng.integers(-50, 50, n).astype(I32), gpu.device_array(n, I32)
    program.scan[(n + 511) // 512, 128](numbers, out, n)
    np.testing.assert_array_equal(out.copy_to_host(), np.cumsum(numbers))


def test_radix_sort(rng):
    gpu, program = load("radix.cu", "radix_sort<4>")
    keys = rng.integers(0, 1 << 32, 1024, dtype=U32)
    on_gpu = gpu.to_device(keys)
    program["radix_sort<4>"][1, 256](on_gpu, gpu.device_array(1024, U32), 1024)
    np.testing.assert_array_equal(on_gpu.copy_to_host(), np.sort(keys))


def test_a_barrier_across_the_grid(rng):
    gpu, program = load("grid_barrier.cu")
    row = rng.random(512).astype(F32)
    a, b = gpu.to_device(row), gpu.to_device(row)
    program.jacobi[4, 128](a, b, 512, 7)
    for _ in range(7):
        row[1:-1] = F32(0.5) * (row[:-2] + row[2:])
    np.testing.assert_array_equal(b.copy_to_host(), row)


def test_stream_compaction(rng):
    gpu, program = load("warp_aggregate.cu")
    numbers = rng.integers(-5, 5, 2000).astype(I32)
    out, n_found = gpu.device_array(2000, I32), gpu.device_array(1, I32)
    program.filter_k[8, 256](out, n_found, numbers, 2000)
    positive = numbers[numbers > 0]
    assert n_found.copy_to_host()[0] == positive.size
    np.testing.assert_array_equal(np.sort(out.copy_to_host()[: positive.size]), np.sort(positive))


def test_locks(rng):
    gpu, program = load("locks.cu")
    keys, heads, nodes = (
        rng.integers(0, 1000, 200).astype(I32),
        gpu.to_device(np.full(7, -1, I32)),
        gpu.device_array((200, 2), I32),
    )
    program.chain[2, 128](keys, 200, gpu.device_array(7, I32), heads, nodes, 7)
    lists = [[] for _ in range(7)]
    for bucket, node in enumerate(heads.copy_to_host()):
        while node >= 0:
            lists[bucket].append(int(node))
            node = nodes.copy_to_host()[node, 1]
    assert [sorted(each) for each in lists] == [list(np.flatnonzero(keys % 7 == bucket)) for bucket in range(7)]

    counter = gpu.device_array(1, I32)
    program.count[2, 64](counter)
    assert counter.copy_to_host()[0] == 128


def test_fourier_transform(rng):
    gpu, program = load("fft.cu", "fft<8>")
    signal = (rng.random((3, 256)) + 1j * rng.random((3, 256))).astype(np.complex64)
    data = gpu.to_device(signal.view(F32))
    program["fft<8>"][3, 128](data)
    np.testing.assert_allclose(data.copy_to_host().view(np.complex64), np.fft.fft(signal), atol=1e-3)


def test_softmax_and_layer_norm(rng):
    gpu, program = load("softmax.cu")
    x = rng.normal(size=(6, 333)).astype(F32)
    y = gpu.device_array(x.shape, F32)
    program.softmax[6, 128](x, y, 333)
    shares = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y.copy_to_host(), shares / shares.sum(1, keepdims=True), rtol=1e-5)

    half, gamma, beta = x.astype(np.float16), rng.random(333).astype(F32), rng.random(333).astype(F32)
    z = gpu.device_array(x.shape, np.float16)
    program.layernorm[6, 128](half, z, gamma, beta, 333, 1e-5)
    wide = half.astype(F32)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(z.copy_to_host(), expected, atol=4e-3)


def test_calls(rng):
    gpu, program = load("calls.cu")
    rows = rng.integers(0, 100, (32, 12)).astype(I32)
    on_gpu = gpu.to_device(rows)
    program.sort_rows[1, 32](on_gpu, 12)
    np.testing.assert_array_equal(on_gpu.copy_to_host(), np.sort(rows, axis=1))

    even, applied, lane = gpu.device_array(32, I32), gpu.device_array(32, I32), np.arange(32)
    program.call[1, 32](even, applied)
    np.testing.assert_array_equal(even.copy_to_host(), lane % 2 == 0)
    np.testing.assert_array_equal(applied.copy_to_host(), np.where(lane % 2, lane * 7, lane + 7))

    shapes, areas = gpu.device_array(32, np.uint64), gpu.device_array(32, F32)
    program.make_shapes[1, 32](shapes)
    program.areas[1, 32](shapes, areas)
    np.testing.assert_array_equal(areas.copy_to_host(), np.where(lane % 3, lane * lane, lane * F32(0.5)))


def test_cooperative_groups(rng):
    gpu, program = load("groups.cu")
    numbers = rng.integers(-9, 9, 128).astype(I32)
    total, tiles, shuffled = gpu.device_array(1, I32), gpu.device_array(8, I32), gpu.device_array(8, I32)
    program.sums[1, 128](numbers, total, tiles, shuffled)
    assert total.copy_to_host()[0] == numbers.sum()
    np.testing.assert_array_equal(tiles.copy_to_host(), numbers.reshape(8, 16).sum(1))
    np.testing.assert_array_equal(shuffled.copy_to_host(), numbers.reshape(8, 16).sum(1))

    out, n_found = gpu.device_array(128, I32), gpu.device_array(1, I32)
    program.compact[1, 128](numbers, out, n_found)
    positive = numbers[numbers > 0]
    assert n_found.copy_to_host()[0] == positive.size
    np.testing.assert_array_equal(np.sort(out.copy_to_host()[: positive.size]), np.sort(positive))
