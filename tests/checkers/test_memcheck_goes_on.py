"""memcheck: mbarriers outside of shared memory, handles of no image, what is no tensor map, and `free` and printf of
wrong pointers. Each is a finding, and the kernel goes on to its end.
"""

import numpy as np
import pytest

from gpuprof.trace.checkers.initcheck import Initcheck
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from tests.checkers.test_async_races import PRELUDE
from tests.checkers.test_memcheck_ranges import WORDS, map_of, words
from tests.support.planted import Planted

SOURCE = (
    PRELUDE
    + """
#include <stdio.h>
#define K(name) extern "C" __global__ void name
// Odd lanes use an mbarrier `ahead` of their own.
K(mbarriers)(int *y, int ahead)
{
    __shared__ u64 full[32]; int t = threadIdx.x;
    u64 *mine = full + t + (t & 1 ? ahead : 0);
    init(mine, 1); fence(); __syncthreads();
    expect(mine, 16);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(mine)) : "memory");
    wait(mine, 0);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(mine)) : "memory");
    y[t] = 5;
}
K(fetch)(int *y, cudaTextureObject_t texture) { y[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x); }
K(fetch_plane)(int *y, cudaTextureObject_t texture) { y[threadIdx.x] = tex2D<int>(texture, threadIdx.x, 0); }
K(read_surface)(int *y, cudaSurfaceObject_t surface) { y[threadIdx.x] = surf1Dread<int>(surface, 4 * threadIdx.x); }
K(write_surface)(int *y, cudaSurfaceObject_t surface) { surf1Dwrite((int)threadIdx.x + 1, surface, 4 * threadIdx.x); y[threadIdx.x] = 0; }
K(add_surface)(int *y, cudaSurfaceObject_t surface)
{
    asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(surface), "r"((int)(4 * threadIdx.x)), "r"(3) : "memory");
    y[threadIdx.x] = 0;
}
K(read_plane)(int *y, cudaSurfaceObject_t surface) { y[threadIdx.x] = surf2Dread<int>(surface, 4 * threadIdx.x, 0); }
K(width)(int *y, cudaTextureObject_t texture)
{
    int n; asm volatile("txq.width.b32 %0, [%1];" : "=r"(n) : "l"(texture));
    y[threadIdx.x] = n;
}
struct __align__(64) Map { u64 words[16]; };
K(load_tile)(const __grid_constant__ Map map, const void *other, int *y)
{
    __shared__ __align__(1024) int s[64]; __shared__ u64 full; int t = threadIdx.x;
    s[t] = -1; if (t == 0) { init(&full, 1); fence(); } __syncthreads();
    if (t == 0) {
        expect(&full, 128);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     at(s)), "l"(other ? other : (const void *)&map), "r"(0), "r"(0), "r"(at(&full)) : "memory");
    }
    wait(&full, 0);
    y[t] = s[t];
}
K(store_tile)(const __grid_constant__ Map map, const void *other, int *y)
{
    __shared__ __align__(1024) int s[32]; int t = threadIdx.x;
    s[t] = -1; fence(); __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                     other ? other : (const void *)&map), "r"(0), "r"(0), "r"(at(s)) : "memory");
        commit(); written();
    }
    y[t] = 3;
}
K(frees)(int *y, int twice, int ahead)
{
    char *p = (char *)malloc(64);
    volatile char *own = p; own[threadIdx.x] = 1; y[threadIdx.x] = own[threadIdx.x];
    if (threadIdx.x == 7) { if (ahead) free(p + ahead); }
    free(p);
    if (threadIdx.x == 5 && twice) free(p);
}
K(prints)(int *y, const char *text) { if (threadIdx.x == 3) printf("<%s>\\n", text); y[threadIdx.x] = 4; }
"""  # noqa: E501
)
ZEROS = 32 * [0]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    checkers = Memcheck(), Initcheck(), Racecheck()
    return Planted(tmp_path_factory.mktemp("goes_on"), SOURCE, *checkers, chip="h200")


def told(found) -> list[tuple[str, int, int, str]]:
    """Kind, how often, first thread, and what the finding says behind the thread."""
    return [(each.kind, each.count, each.thread, each.text.split(" of block (0, 0, 0)")[1]) for each in found]


@pytest.mark.parametrize("ahead, kind", [(0, ""), (1000, "out_of_bounds"), (-40, "out_of_bounds")])
def test_mbarriers(planted, ahead, kind):
    """Waits for what cannot be are over at once."""
    y = planted.array(128)
    found = planted.run("mbarriers", 1, 32, y, ahead)
    assert words(y) == 32 * [5]
    assert {(each.kind, each.count % 16) for each in found} == ({(kind, 0)} if kind else set())
    assert len(found) == (5 if kind else 0)  # init, expect, complete, wait, inval
    for each in found:
        address = 8 * (1 + ahead) & 0xFFFFFFFF
        assert f"8 bytes of shared memory at {address:#x}; " in each.text
        assert each.thread == 1


IMAGES = {"fetch": "texture", "fetch_plane": "texture", "width": "texture"}


@pytest.mark.parametrize(
    "name", ["fetch", "read_surface", "write_surface", "add_surface", "width", "fetch_plane", "read_plane"]
)
@pytest.mark.parametrize("given", ["nothing", "another", "right"])
def test_handles(planted, name, given):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(128, 9)
    what, other = ("texture", "surface") if name in IMAGES else ("surface", "texture")
    make = getattr(planted.device, other if given == "another" else what)
    image = make(x, "1d")
    found = told(planted.run(name, 1, 32, y, 0x1234 if given == "nothing" else image.handle))
    if given == "nothing":
        text = f": no {what} at handle 0x1234; give the kernel one that the host has made"
    elif given == "another":
        text = f": handle 0x{image.handle:x} is "
    elif "plane" in name:
        text = f": {what} "
    else:
        assert found == []
        values = {"fetch": WORDS[:32].tolist(), "read_surface": WORDS[:32].tolist(), "width": 32 * [64]}
        assert words(y) == values.get(name, ZEROS)
        return
    ((kind, count, thread, said),) = found
    assert (kind, count, thread) == ("invalid_image", 32, 0)
    assert said.startswith(text) or given == "right"
    assert words(y) == ZEROS
    assert words(x) == WORDS.tolist()


@pytest.mark.parametrize("name, wanted", [("load_tile", 32 * [-1]), ("store_tile", 32 * [3])])
@pytest.mark.parametrize("given", ["zeros", "three dimensions", "outside", "misaligned"])
def test_tensor_maps(planted, name, wanted, given):
    x, y = planted.device.to_device(WORDS.astype(np.int32)), planted.array(128, 9)
    raw = 0
    if given == "three dimensions":
        raw = map_of(x, 8, dimensions=3)
    other = {"outside": x.address + (1 << 30), "misaligned": x.address + 8}.get(given, 0)
    ((kind, count, thread, said),) = told(planted.run(name, 1, 32, raw, other, y))
    assert (count, thread) == (1, 0)
    assert (kind, said.split(";")[0].replace(f"{other:#x}", "P")) == {
        "zeros": ("invalid_tensor_map", ": these 128 bytes are no tensor map"),
        "three dimensions": ("invalid_tensor_map", ": the tensor map has 3 dimensions, tile mode"),
        "outside": ("out_of_bounds", ": out of bounds read of 128 bytes in global memory at P"),
        "misaligned": ("misaligned", ": the tensor map at P is not aligned to 64 bytes"),
    }[given]
    assert words(y) == wanted
    assert words(x) == WORDS.tolist()


@pytest.mark.parametrize(
    "twice, ahead, kinds",
    [(0, 0, []), (1, 0, [("double_free", 5)]), (0, 8, [("invalid_free", 7)]),
     (1, 8, [("invalid_free", 7), ("double_free", 5)])],
)  # fmt: skip
def test_frees(planted, twice, ahead, kinds):
    y = planted.array(128)
    found = planted.run("frees", 1, 32, y, twice, ahead)
    assert words(y) == 32 * [1]
    assert [(each.kind, each.thread) for each in found] == kinds
    for each in found:
        assert " cannot free 0x" in each.text


def test_printing(planted):
    y = planted.array(128)
    ((kind, count, thread, said),) = told(planted.run("prints", 1, 32, y, 0x10))
    assert (kind, count, thread) == ("null_pointer", 1, 3)
    assert said.startswith(": out of bounds read of 1 bytes in global memory at 0x10")
    assert words(y) == 32 * [4]
