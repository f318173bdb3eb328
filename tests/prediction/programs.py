"""The tests of several launches: streams, events, waits. Each runs on a device as a script does."""

from collections.abc import Callable

import numpy as np

from gpuprof.device.api import Device, Module
from gpuprof.device.array import DeviceArray
from tests.prediction.corpus import OWN, PROGRAMS, ROOT, SAMPLES


def _module(gpu: Device, folder: str, file: str) -> Module:
    return gpu.load(ROOT / folder / f"{file}.cu")


def _numbers(gpu: Device, *shape: int) -> DeviceArray:
    """Numbers from 0 to 1, the same in every run."""
    count = int(np.prod(shape))
    return gpu.to_device(
        (np.arange(count, dtype=np.uint32) * 2654435761 % 65536 / 65536).astype(np.float32).reshape(shape)
    )


def _zeros(gpu: Device, *shape: int) -> DeviceArray:
    return gpu.device_array(shape, np.float32)


def vectors_in_turn(gpu: Device) -> None:
    """Four launches on the default stream; the vectors stay in the L2."""
    saxpy = _module(gpu, SAMPLES, "saxpy").saxpy
    n = 432 * 256
    x, y = _numbers(gpu, n), _numbers(gpu, n)
    for _ in range(4):
        saxpy[432, 256](n, 0.5, x, y)


def two_streams(gpu: Device) -> None:
    """A product beside vectors."""
    saxpy, tiled = _module(gpu, SAMPLES, "saxpy").saxpy, _module(gpu, SAMPLES, "matmul").tiled
    first, second = gpu.stream(), gpu.stream()
    n = 864 * 256
    x, y, a, b, c = (
        _numbers(gpu, n),
        _numbers(gpu, n),
        _numbers(gpu, 128, 128),
        _numbers(gpu, 128, 128),
        _zeros(gpu, 128, 128),
    )
    for _ in range(2):
        tiled[(8, 8), (16, 16), first](a, b, c, 128)
        saxpy[864, 256, second](n, 0.5, x, y)
    gpu.synchronize()


def fork_and_join(gpu: Device) -> None:
    """Two branches behind one launch, and one launch behind both."""
    scans, special = _module(gpu, OWN, "scans"), _module(gpu, OWN, "special")
    first, second = gpu.stream(), gpu.stream()
    n = 216 * 256
    data, sums, floats = gpu.device_array(n, np.int32), gpu.device_array(n, np.int32), _numbers(gpu, n)
    forked, joined = gpu.event(), gpu.event()
    scans.scan_warps[216, 256, first](data, sums)
    forked.record(first)
    forked.wait(second)
    special.sines[216, 256, second](floats, 16)
    joined.record(second)
    scans.scan_shared[216, 256, first](sums, data)
    joined.wait(first)
    special.divisions[216, 256, first](floats, 4)
    gpu.synchronize()


def steps_of_a_plane(gpu: Device) -> None:
    """Six steps, two planes that change places."""
    step = _module(gpu, OWN, "stencils").five_points_tiled
    planes = [_numbers(gpu, 256, 320), _zeros(gpu, 256, 320)]
    for k in range(6):
        step[(20, 16), (16, 16)](planes[k % 2], planes[1 - k % 2], 320, 256)


def small_grids_side_by_side(gpu: Device) -> None:
    """Eight streams of 14 blocks each: together they fill an A100 once."""
    hashes = _module(gpu, OWN, "special").hashes
    arrays = [gpu.to_device(np.arange(14 * 256, dtype=np.uint32)) for _ in range(8)]
    for array in arrays:
        hashes[14, 256, gpu.stream()](array, 64)
    gpu.synchronize()


def short_launches(gpu: Device) -> None:
    """Twelve launches whose time is their launching."""
    small = _module(gpu, OWN, "small")
    out = _zeros(gpu, 3072)
    for k in range(12):
        small.one_word[8 * (k + 1), 32](out)


def waits_between(gpu: Device) -> None:
    """Three command buffers, two streams in each."""
    matmul, stencils = _module(gpu, SAMPLES, "matmul"), _module(gpu, OWN, "stencils")
    first, second = gpu.stream(), gpu.stream()
    a, b, c = _numbers(gpu, 128, 128), _numbers(gpu, 128, 128), _zeros(gpu, 128, 128)
    planes = [_numbers(gpu, 256, 256), _zeros(gpu, 256, 256)]
    for k in range(3):
        matmul.blocked[(4, 4), (16, 8), first](a, b, c, 128)
        stencils.five_points[(8, 32), (32, 8), second](planes[k % 2], planes[1 - k % 2], 256, 256)
        gpu.synchronize()


def sums_of_sums(gpu: Device) -> None:
    """A reduction in two launches, of three vectors."""
    sequential = _module(gpu, SAMPLES, "reduction").sequential
    for _ in range(3):
        numbers, sums, total = _numbers(gpu, 256 * 256), _zeros(gpu, 256), _zeros(gpu, 1)
        sequential[256, 256](numbers, sums)
        sequential[1, 256](sums, total)


def a_layer(gpu: Device) -> None:
    """A product, a softmax and a scaled sum on one stream, and a wait."""
    tiled, saxpy = _module(gpu, SAMPLES, "matmul").tiled, _module(gpu, SAMPLES, "saxpy").saxpy
    softmax = _module(gpu, PROGRAMS, "softmax").softmax
    stream = gpu.stream()
    a, b, c, d = _numbers(gpu, 192, 192), _numbers(gpu, 192, 192), _zeros(gpu, 192, 192), _zeros(gpu, 192, 192)
    for _ in range(2):
        tiled[(12, 12), (16, 16), stream](a, b, c, 192)
        softmax[192, 192, stream](c, d, 192)
        saxpy[144, 256, stream](192 * 192, 0.5, d, a)
    gpu.synchronize()


def counts_and_sums(gpu: Device) -> None:
    """Bins in shared memory, then bins of the whole grid, then their prefix sums."""
    histogram, scans = _module(gpu, SAMPLES, "histogram"), _module(gpu, OWN, "scans")
    data = gpu.to_device((np.arange(65536, dtype=np.uint32) * 2654435761) >> np.uint32(7))
    bins, sums = gpu.device_array(256, np.uint32), gpu.device_array(256, np.int32)
    histogram.shared_atomics[64, 256](data, 65536, bins)
    histogram.global_atomics[64, 256](data, 65536, bins)
    scans.scan_warps[1, 256](gpu.device_array(256, np.int32), sums)


def urgent_beside_patient(gpu: Device) -> None:
    """Two streams of different priority, whose grids do not fit side by side."""
    special = _module(gpu, OWN, "special")
    patient, urgent = gpu.stream(), gpu.stream(priority=-1)
    long, short = _numbers(gpu, 1296 * 256), _numbers(gpu, 216 * 256)
    special.sines[1296, 256, patient](long, 8)
    special.sines[216, 256, urgent](short, 8)
    special.sines[216, 256, urgent](short, 8)
    gpu.synchronize()


def rows_of_a_matrix(gpu: Device) -> None:
    """A sparse matrix is made, and multiplied by a vector in two ways at the same time."""
    spmv = _module(gpu, SAMPLES, "spmv")
    first, second = gpu.stream(), gpu.stream()
    starts, columns = gpu.device_array(4097, np.int32), gpu.device_array(65536, np.int32)
    values, x, y, z = _zeros(gpu, 65536), _numbers(gpu, 4096), _zeros(gpu, 4096), _zeros(gpu, 4096)
    spmv.make_matrix[16, 256](4096, starts, columns, values)
    spmv.warp_row[512, 256, first](4096, starts, columns, values, x, y)
    spmv.scalar_row[16, 256, second](4096, starts, columns, values, x, z)
    gpu.synchronize()


def sorted_and_transposed(gpu: Device) -> None:
    """A sort on one stream, three transposes on another, one wait in the midst."""
    scans, transpose = _module(gpu, OWN, "scans"), _module(gpu, SAMPLES, "transpose")
    first, second = gpu.stream(), gpu.stream()
    keys = gpu.to_device(np.arange(108 * 512, dtype=np.uint32)[::-1].copy())
    ordered, a, b = gpu.device_array(108 * 512, np.uint32), _numbers(gpu, 256, 256), _zeros(gpu, 256, 256)
    scans.sort_bitonic[108, 256, first](keys, ordered)
    transpose.padded[(8, 8), (32, 8), second](b, a, 256)
    gpu.synchronize()
    transpose.naive[(8, 8), (32, 8), second](a, b, 256)
    transpose.coalesced[(8, 8), (32, 8), second](b, a, 256)
    gpu.synchronize()


TESTS: dict[str, Callable[[Device], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        vectors_in_turn,
        two_streams,
        fork_and_join,
        steps_of_a_plane,
        small_grids_side_by_side,
        short_launches,
        waits_between,
        sums_of_sums,
        a_layer,
        counts_and_sums,
        urgent_beside_patient,
        rows_of_a_matrix,
        sorted_and_transposed,
    )
}
