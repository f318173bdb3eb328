"""What bulk copies, tensor tiles, textures and matrix descriptors touch, worked out by hand."""

import numpy as np
import pytest

from gpuprof.device.tensormap import TensorMap
from gpuprof.emulate.core.late_accesses import merged_ranges
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator

BULK = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 from)
{
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 8 .b64 bar;
    .shared .align 128 .b8 buf[256];
    ld.param.u64 %rd1, [from];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 3;
    @%p1 bra DONE;
    mov.u32 %r2, buf;
    mov.u32 %r3, bar;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    add.u64 %rd2, %rd1, 32;
    add.u32 %r4, %r2, 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], 64, [%r3];
DONE:
    ret;
}
"""
TILE = BULK.replace(".param .u64 from", ".param .align 64 .b8 map[128]").replace(
    "ld.param.u64 %rd1, [from];", "mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; mov.u32 %r5, 2; mov.u32 %r6, 1;"
)
TILE = TILE.replace(
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], 64, [%r3];",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r5, %r6}], [%r3];",
)


class Touches(TraceGenerator):
    """Notes ranges."""

    def __init__(self):
        super().__init__()
        self.found = []

    def post_event(self, event: TraceEvent) -> None:
        for ranges in event.ranges:
            lists = (ranges.warps.tolist(), ranges.lanes.tolist(), ranges.addresses.tolist(), ranges.nbytes.tolist())
            self.found.append((ranges.space, ranges.operation, *lists))


class Bulk(Touches):
    kinds = ("bulk_load",)


class Fetches(Touches):
    kinds = ("fetch",)


class Products(Touches):
    kinds = ("matrix_async",)


def test_a_bulk_copy(tmp_path):
    gpu = open_device(Settings(chip_name="h200"))
    (tmp_path / "k.ptx").write_text(BULK)
    mod, x = gpu.load(tmp_path / "k.ptx"), gpu.to_device(np.arange(64, dtype=np.float32))
    with gpu.trace(Bulk()) as notes:
        mod.k[1, 32](x)
    (buf, *_), (bar, *_) = notes.found[1][4], notes.found[2][4]
    assert notes.found == [
        ("global", "load", [0], [3], [x.address + 32], [64]),
        ("shared", "store", [0], [3], [buf], [64]),
        ("shared", "atomic", [0], [3], [bar], [8]),
    ]
    assert buf % 128 == 16 and bar % 8 == 0


def test_a_tile_of_a_tensor(tmp_path):
    """4 x 2 elements from column 2, row 1 on, of rows of 8 floats: two ranges of 16 bytes."""
    gpu = open_device(Settings(chip_name="h200"))
    (tmp_path / "k.ptx").write_text(TILE)
    mod, x = gpu.load(tmp_path / "k.ptx"), gpu.to_device(np.arange(64, dtype=np.float32).reshape(8, 8))
    with gpu.trace(Bulk()) as notes:
        mod.k[1, 32](TensorMap(x, box=(2, 4)))
    first = x.address + 4 * (8 + 2)
    assert notes.found[0] == ("global", "load", [0, 0], [3, 3], [first, first + 32], [16, 16])
    assert notes.found[1][:2] == ("shared", "store") and notes.found[1][5] == [32]


def test_texels(tmp_path):
    (tmp_path / "k.cu").write_text(
        "__global__ void k(cudaTextureObject_t t, float *y)\n"
        "{ if (threadIdx.x < 3) y[threadIdx.x] = tex1Dfetch<float>(t, 2 * threadIdx.x); }\n"
    )
    gpu = open_device(Settings())
    texture, y = gpu.texture(np.arange(8, dtype=np.float32)), gpu.device_array(3, np.float32)
    with gpu.trace(Fetches()) as notes:
        gpu.load(tmp_path / "k.cu").k[1, 40](texture, y)
    assert y.copy_to_host().tolist() == [0, 2, 4]
    ((space, operation, warps, lanes, addresses, nbytes),) = notes.found
    assert (space, operation, warps, lanes, nbytes) == ("global", "load", [0] * 3, [0, 1, 2], [4] * 3)
    assert [address - addresses[0] for address in addresses] == [0, 8, 16]


WGMMA = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
    .shared .align 128 .b8 buf[256];
    mov.u64 %rd1, buf;
    shr.u64 %rd1, %rd1, 4;
    or.b64 %rd1, %rd1, 0x1000080000;
    mov.b32 %r1, 0;
    mov.f32 %f0, 0f00000000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f0, %f0, %f0}, {%r1, %r1, %r1, %r1}, %rd1, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ret;
}
"""


def test_a_matrix_that_a_descriptor_tells_of(tmp_path):
    """B has 8 columns of 16 halves: two parts of 128 bytes, the leading offset apart. Each of the four warps reads all
    of it.
    """
    gpu = open_device(Settings(chip_name="h200"))
    (tmp_path / "k.ptx").write_text(WGMMA)
    with gpu.trace(Products()) as notes:
        gpu.load(tmp_path / "k.ptx").k[1, 128]()
    ((space, operation, warps, _, addresses, nbytes),) = notes.found
    assert (space, operation, set(nbytes), len(nbytes)) == ("shared", "load", {4}, 4 * 64)
    for warp in range(4):
        mine = [address for address, row in zip(addresses, warps, strict=True) if row == warp]
        assert sorted(mine) == list(range(min(addresses), min(addresses) + 256, 4))


@pytest.mark.parametrize(
    "places, nbytes, expected",
    [
        ([0, 4, 8], 4, ([0], [12])),
        ([8, 0, 4, 20], 4, ([0, 20], [12, 4])),
        ([6, 0], 2, ([0, 6], [2, 2])),
        ([], 4, ([], [])),
    ],
)
def test_runs_without_gaps(places, nbytes, expected):
    starts, lengths = merged_ranges(np.array(places, np.int64), nbytes)
    assert (starts.tolist(), lengths.tolist()) == expected
