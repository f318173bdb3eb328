"""memcheck: bulk copies, tiles of tensors, images and matrices of descriptors that leave memory. Each is a finding,
what is outside is read as 0 and not written, and the kernel goes on to its end."""

import numpy as np
import pytest

from gpuprof.device.tensormap import TensorMap
from gpuprof.trace.checkers.initcheck import Initcheck
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from tests.checkers.test_async_races import PRELUDE
from tests.support.planted import Planted

SOURCE = (
    PRELUDE
    + """
#define OWN __shared__ __align__(1024) int s[64]; __shared__ u64 full; int t = threadIdx.x; s[t] = -1; s[t + 32] = -1; \\
    if (t == 0) { init(&full, 1); fence(); } __syncthreads();
#define K(name) extern "C" __global__ void name
// Loads n bytes at `from` bytes behind x, to `to` bytes behind s.
K(load_bulk)(char *x, int *y, int from, int to, int n)
{
    OWN
    if (t == 0) { expect(&full, n); load((char *)s + to, x + from, n, &full); }
    wait(&full, 0);
    y[t] = s[t]; y[t + 32] = s[t + 32];
}
K(store_bulk)(char *x, int *y, int from, int to, int n)
{
    OWN
    s[t] = t + 1; s[t + 32] = t + 33;
    fence(); __syncthreads();
    if (t == 0) { store(x + to, (char *)s + from, n); commit(); written(); }
}
K(add_bulk)(char *x, int *y, int from, int to, int n)
{
    OWN
    s[t] = t + 1; s[t + 32] = t + 33;
    fence(); __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(x + to), "r"(at((char *)s + from)), "r"(n) : "memory");
        commit(); written();
    }
}
K(reports_nowhere)(char *x, int *y, int ahead)
{
    OWN
    if (t == 0) load(s, x, 256, &full + ahead);
    y[t] = 5;
}
struct __align__(64) Map { u64 words[16]; };
K(load_tile)(const __grid_constant__ Map map, int *y, int row, int to)
{
    OWN
    if (t == 0) {
        expect(&full, 128);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     at(s) + to), "l"(&map), "r"(0), "r"(row), "r"(at(&full)) : "memory");
    }
    wait(&full, 0);
    y[t] = s[t]; y[t + 32] = s[t + 32];
}
K(store_tile)(const __grid_constant__ Map map, int *y, int row, int from)
{
    OWN
    s[t] = t + 1; s[t + 32] = t + 33;
    fence(); __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(row), "r"(at(s) + from) : "memory");
        commit(); written();
    }
}
K(fetch)(int *y, cudaTextureObject_t texture) { y[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x); }
K(read_surface)(int *y, cudaSurfaceObject_t surface, int first) { y[threadIdx.x] = surf1Dread<int>(surface, 4 * threadIdx.x + first); }
K(write_surface)(int *y, cudaSurfaceObject_t surface, int first) { surf1Dwrite((int)threadIdx.x + 1, surface, 4 * threadIdx.x + first); }
K(add_surface)(int *y, cudaSurfaceObject_t surface, int first)
{
    asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(surface), "r"((int)(4 * threadIdx.x + first)), "r"(3) : "memory");
}
K(multiply_tiles)(float *y, int far)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[8 * 16];
    for (int k = threadIdx.x; k < 64 * 16; k += 128) a[k] = 0x3c00;
    if (threadIdx.x < 128) b[threadIdx.x] = 0x3c00;
    fence(); __syncthreads();
    float d[4];
    multiply(d, (char *)a + far, b);
    group(); multiplied<0>();
    for (int k = 0; k < 4; k++) y[4 * threadIdx.x + k] = d[k];
}
"""  # noqa: E501
)
WORDS = np.arange(1, 65)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    checkers = Memcheck(), Initcheck(), Racecheck()
    return Planted(tmp_path_factory.mktemp("ranges"), SOURCE, *checkers, chip="h200")


def words(array) -> list[int]:
    return array.copy_to_host().view(np.int32).tolist()


@pytest.mark.parametrize(
    "name, source, to, nbytes, kind, text, wanted",
    [
        ("load_bulk", 0, 0, 256, "", "", WORDS),
        # The second half of what is read is behind x; the block has 64 words and an mbarrier.
        ("load_bulk", 128, 0, 256, "out_of_bounds", "out of bounds bulk read of 256 bytes in global memory at "
         "{x+128}; {x+256} is just past the end of ", [*range(33, 65), *32 * [0]]),
        ("load_bulk", -128, 0, 256, "out_of_bounds", "out of bounds bulk read of 256 bytes in global memory at "
         "{x-128}; {x-128} is 128 bytes before", [*32 * [0], *range(1, 33)]),
        ("load_bulk", 4096, 0, 256, "out_of_bounds", "out of bounds bulk read of 256 bytes in global memory", 64 * [0]),
        ("load_bulk", 0, 4096, 256, "out_of_bounds", "out of bounds bulk write of 256 bytes in shared memory at "
         "0x1000; the block has 264 bytes of shared memory", 64 * [-1]),
        ("load_bulk", 4, 0, 256, "misaligned", "the source of a bulk copy, {x+4}, is not a multiple of 16", 64 * [-1]),
        ("load_bulk", 0, 8, 64, "misaligned", "the destination of a bulk copy, 0x8, is not a multiple of 16",
         64 * [-1]),
        ("load_bulk", 0, 0, 100, "misaligned", "the size of a bulk copy, 100, is not a multiple of 16", 64 * [-1]),
        ("store_bulk", 0, 0, 256, "", "", WORDS),
        ("store_bulk", 0, 128, 256, "out_of_bounds", "out of bounds bulk write of 256 bytes in global memory at "
         "{x+128}", [*range(1, 33), *range(1, 33)]),
        ("store_bulk", 4096, 0, 128, "out_of_bounds", "out of bounds bulk read of 128 bytes in shared memory at "
         "0x1000; the block has 264 bytes of shared memory", [*32 * [0], *range(33, 65)]),
        ("add_bulk", 0, 0, 256, "", "", 2 * WORDS),
        ("add_bulk", 0, 128, 256, "out_of_bounds", "out of bounds bulk reduction of 256 bytes in global memory",
         [*range(1, 33), *(k + k - 32 for k in range(33, 65))]),
    ],
)  # fmt: skip
def test_bulk_copies(planted, name, source, to, nbytes, kind, text, wanted):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(256, 9)
    found = planted.run(name, 1, 32, x, y, source, to, nbytes)
    assert words(y if name == "load_bulk" else x) == list(wanted)
    check(found, kind, text, x)


def check(found, kind: str, text: str, x) -> None:
    """`text`: what the one finding says, with {x+128} for an address."""
    assert [each.kind for each in found] == ([kind] if kind else [])
    for each in found:
        for ahead in (256, 128, 4, -128):
            text = text.replace(f"{{x{ahead:+}}}", f"{x.address + ahead:#x}")
        assert each.text.startswith(f"thread (0, 0, 0) of block (0, 0, 0): {text}")
        assert (each.thread, each.block, each.count) == (0, 0, 1)


@pytest.mark.parametrize("ahead, kind", [(1000, "out_of_bounds"), (0, "")])
def test_an_mbarrier_that_is_none(planted, ahead, kind):
    y = planted.array(128)
    found = planted.run("reports_nowhere", 1, 32, planted.array(256), y, ahead)
    assert [each.kind for each in found] == ([kind] if kind else [])
    assert words(y) == 32 * [5]


def map_of(array, n_rows: int, dimensions: int = 2) -> int:
    """Of tiles of 4 rows of 8 words, of a tensor that has n_rows; further dimensions have an extent of 1."""
    ones = (dimensions - 2) * (1,)
    raw = TensorMap(array, box=(*ones, 4, 8), shape=(*ones, n_rows, 8), element="u32").encode()
    return int.from_bytes(raw, "little")


@pytest.mark.parametrize(
    "name, n_rows, row, place, kind, text, wanted",
    [
        ("load_tile", 8, 0, 0, "", "", [*range(1, 33), *32 * [-1]]),
        ("load_tile", 8, 6, 0, "", "", [*range(49, 65), *16 * [0], *32 * [-1]]),  # outside of the tensor is no error
        ("load_tile", 99, 6, 0, "out_of_bounds", "the tensor map reaches out of bounds of global memory, from ",
         [*range(49, 65), *16 * [0], *32 * [-1]]),
        ("load_tile", 8, 0, 64, "misaligned", "a tile's address in shared memory, 0x40, is not aligned to 128 bytes",
         64 * [-1]),
        ("load_tile", 8, 0, 4096, "out_of_bounds", "out of bounds tensor write of 128 bytes in shared memory at "
         "0x1000; the block has 264 bytes of shared memory", 64 * [-1]),
        ("store_tile", 8, 6, 0, "", "", [*range(1, 49), *range(1, 17)]),
        ("store_tile", 99, 6, 0, "out_of_bounds", "the tensor map reaches out of bounds of global memory, from ",
         [*range(1, 49), *range(1, 17)]),
        ("store_tile", 8, 0, 4096, "out_of_bounds", "out of bounds tensor read of 128 bytes in shared memory at 0x1000",
         [*32 * [0], *range(33, 65)]),
    ],
)  # fmt: skip
def test_tiles(planted, name, n_rows, row, place, kind, text, wanted):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(256, 9)
    found = planted.run(name, 1, 32, map_of(x, n_rows), y, row, place)
    assert words(y if name == "load_tile" else x) == list(wanted)
    check(found, kind, text, x)


@pytest.mark.parametrize(
    "name, first, kind, count, place, wanted",
    [
        ("read_surface", 0, "", 0, 0, range(1, 33)),
        ("read_surface", 200, "out_of_bounds", 18, 256, [*range(51, 65), *18 * [0]]),
        ("read_surface", -8, "out_of_bounds", 2, -8, [0, 0, *range(1, 31)]),
        ("read_surface", 2, "misaligned", 32, 2, 32 * [0]),
        ("write_surface", 0, "", 0, 0, [*range(1, 33), *range(33, 65)]),
        ("write_surface", 200, "out_of_bounds", 18, 256, [*range(1, 51), *range(1, 15)]),
        ("add_surface", 200, "out_of_bounds", 18, 256, [*range(1, 51), *(k + 3 for k in range(51, 65))]),
    ],
)
def test_surfaces(planted, name, first, kind, count, place, wanted):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(128, 9)
    found = planted.run(name, 1, 32, y, planted.device.surface(x, "1d").handle, first)
    assert words(y if name == "read_surface" else x) == list(wanted)
    assert [(each.kind, each.count) for each in found] == ([(kind, count)] if kind else [])
    what = {"out_of_bounds": "out of range", "misaligned": "misaligned"}
    for each in found:
        thread = (place - first) // 4
        assert each.text.startswith(
            f"thread ({thread}, 0, 0) of block (0, 0, 0): {what[kind]} access of 4 bytes at ({place}) of "
        )


@pytest.mark.parametrize("name, more", [("fetch", ()), ("read_surface", (0,))])
def test_images_that_are_gone(planted, name, more):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(128, 9)
    make = planted.device.texture if name == "fetch" else planted.device.surface
    handle = make(x, "1d").handle
    assert planted.run(name, 1, 32, y, handle, *more) == []
    assert words(y) == list(range(1, 33))
    x.free()
    (found,) = planted.run(name, 1, 32, y, handle, *more)
    assert (found.kind, found.count, found.address) == ("use_after_free", 32, x.address)
    assert f"is gone; {x.address:#x} is " in found.text
    assert words(y) == 32 * [0]


def test_matrices_of_descriptors(planted):
    """a is 64 x 16 ones, b 16 x 8 ones: of rows of a that are outside the products are 0."""
    y = planted.array(4 * 512)
    assert planted.run("multiply_tiles", 1, 128, y, 0) == []
    assert (y.copy_to_host().view(np.float32) == 16).all()
    (found,) = planted.run("multiply_tiles", 1, 128, y, 1 << 16)
    assert (found.kind, found.thread) == ("out_of_bounds", 0)
    assert found.text == (
        "thread (0, 0, 0) of block (0, 0, 0): a matrix descriptor leads to 0x10000 in shared memory; the block has "
        "2304 bytes of shared memory"
    )
    assert not y.copy_to_host().any()
