"""tests/programs/collectives.cu, written out in numpy: what every lane of each group must hold."""

import numpy as np
import pytest

import gpuprof
from tests.paths import TESTS
from tests.support.nvidia_tools import needs_nvcc

PROGRAM = TESTS / "programs" / "collectives.cu"
N = 128
COMPILERS = ("clang", pytest.param("nvcc", marks=needs_nvcc))


@pytest.fixture(params=COMPILERS)
def gpu_and_program(request):
    gpu = gpuprof.Device()
    return gpu, gpu.load(PROGRAM, compiler=request.param)


def groups(labels) -> list[list[int]]:
    """The lanes of each warp that have the same label, by thread number."""
    warps = np.arange(N).reshape(-1, 32)
    return [
        [t for t in warp if labels[t] == label] for warp in warps for label in dict.fromkeys(labels[t] for t in warp)
    ]


def spread(parts: list[list[int]], of_part) -> np.ndarray:
    """One value a thread: `of_part(threads)` gives those of a part, or one for all of it. Threads of no part have 0."""
    result = np.zeros(N, np.int64)
    for part in parts:
        result[part] = of_part(part)
    return result


def bits(flags) -> int:
    return sum(int(flag) << i for i, flag in enumerate(flags))


def expected(x: np.ndarray) -> list[np.ndarray]:
    warps, tiles = groups(np.zeros(N)), [list(range(i, i + 8)) for i in range(0, N, 8)]
    same, odd, thirds = groups(x % 3), groups(x & 1), [[t for t in warp if t % 3 == 0] for warp in groups(np.zeros(N))]

    def before(part):
        return np.cumsum(x[part]) - x[part]

    numbers = {}  # a label's number in its warp, in the order in which lanes show them
    for part in same:
        numbers[part[0]] = sum(other[0] // 32 == part[0] // 32 and other[0] < part[0] for other in same)
    return [
        spread(tiles, lambda part: x[part].sum()),
        spread(warps, lambda part: x[part].min()),
        spread(tiles, lambda part: x[part].astype(np.int64).prod().astype(np.int32)),
        spread(warps, lambda part: np.cumsum(x[part])),
        spread(tiles, before),
        spread(warps, lambda part: np.maximum.accumulate(x[part])),
        spread(same, lambda part: x[part].sum()),
        spread(same, lambda part: numbers[part[0]]),
        spread(same, lambda part: np.arange(len(part))),
        spread(same, before),
        spread(odd, lambda part: x[part].sum()),
        spread(odd, lambda part: bits(x[part] & 2 != 0)),
        spread(thirds, lambda part: x[part].max()),
        spread(thirds, lambda part: np.append(x[part][1:], x[part][-1])),
        spread(thirds, lambda part: x[part][-1]),
        spread(thirds, lambda part: np.cumsum(x[part])),
        np.arange(N) % 4 * 100 + 4,
        spread(warps, lambda part: part[int(np.argmax(x[part]))]),
        spread(tiles, lambda part: (x[part] == 3).any()),
        spread(tiles, lambda part: (x[part] > 0).all()),
        spread(tiles, lambda part: bits(x[part] & 1)),
        spread(warps, lambda part: x[part][0]),
    ]


def test_collectives(gpu_and_program):
    gpu, program = gpu_and_program
    x = np.random.default_rng(0).integers(1, 30, N).astype(np.int32)
    rows = expected(x)
    out, sums = gpu.device_array((len(rows), N), np.int32), gpu.device_array(N, np.float32)
    program.collectives[1, N](x, out, sums)
    for number, (row, want) in enumerate(zip(out.copy_to_host(), rows, strict=True)):
        assert row.tolist() == want.astype(np.int32).tolist(), f"row {number}"
    assert (sums.copy_to_host() == np.repeat(x.reshape(-1, 32).sum(1), 32)).all()


def test_copies_in_the_background(gpu_and_program):
    gpu, program = gpu_and_program
    x, out = np.random.default_rng(0).integers(0, 99, (5, 256)).astype(np.float32), gpu.device_array(256, np.float32)
    program.staged[1, 256](x, out, 5)
    assert (out.copy_to_host() == x.sum(0)[::-1]).all()


def test_the_whole_grid(gpu_and_program):
    gpu, program = gpu_and_program
    row = np.random.default_rng(0).random(600, dtype=np.float32)
    a, b = gpu.to_device(row), gpu.to_device(row)
    program.jacobi[4, 64](a, b, 600, 5)
    for _ in range(5):
        row[1:-1] = np.float32(0.5) * (row[:-2] + row[2:])
    assert (b.copy_to_host() == row).all()


def test_arrive_and_wait(gpu_and_program):
    gpu, program = gpu_and_program
    out = gpu.device_array((3, N), np.int32)
    program.arrive[1, N](out)
    assert (out.copy_to_host() == (N - 1 - np.arange(N)) * 3 + np.arange(3)[:, None]).all()
