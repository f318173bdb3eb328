"""Gluon kernels of the tests, as users write them. Importing it needs Triton."""
# Gluon has no starred lists and no enumerate(), and partitions of warps take all that they share as arguments.
# ruff: noqa: PLR0913, RUF005, SIM113

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import (
    async_store,
    cluster,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


@gluon.jit
def transposed(
    x_ptr, out_ptr, M, N, ROWS: gl.constexpr, COLUMNS: gl.constexpr, read: gl.constexpr, write: gl.constexpr
):
    """Read in one layout, written in another one."""
    row, column = gl.program_id(0) * ROWS, gl.program_id(1) * COLUMNS
    r = row + gl.arange(0, ROWS, gl.SliceLayout(1, read))[:, None]
    c = column + gl.arange(0, COLUMNS, gl.SliceLayout(0, read))[None, :]
    x = gl.convert_layout(gl.load(x_ptr + r * N + c, mask=(r < M) & (c < N)), write)
    r = row + gl.arange(0, ROWS, gl.SliceLayout(1, write))[:, None]
    c = column + gl.arange(0, COLUMNS, gl.SliceLayout(0, write))[None, :]
    gl.store(out_ptr + c * M + r, x, mask=(r < M) & (c < N))


@gluon.jit
def copy_ring(
    a_ptr, b_ptr, out_ptr, M, N, ROWS: gl.constexpr, COLUMNS: gl.constexpr, STAGES: gl.constexpr, layout: gl.constexpr
):
    """out = a + b by cp.async, a few tiles ahead."""
    r = gl.program_id(0) * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, layout))[:, None]
    c = gl.arange(0, COLUMNS, gl.SliceLayout(0, layout))[None, :]
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    a_tiles = gl.allocate_shared_memory(gl.float32, [STAGES, ROWS, COLUMNS], flat)
    b_tiles = gl.allocate_shared_memory(gl.float32, [STAGES, ROWS, COLUMNS], flat)
    for slot in gl.static_range(STAGES - 1):
        mask = (r < M) & (slot * COLUMNS + c < N)
        async_copy.async_load(a_tiles.index(slot), a_ptr + r * N + c + slot * COLUMNS, mask)
        async_copy.async_load(b_tiles.index(slot), b_ptr + r * N + c + slot * COLUMNS, mask)
        async_copy.commit_group()
    for tile in range(gl.cdiv(N, COLUMNS)):
        ahead = tile + STAGES - 1
        mask = (r < M) & (ahead * COLUMNS + c < N)
        gl.barrier()
        async_copy.async_load(a_tiles.index(ahead % STAGES), a_ptr + r * N + c + ahead * COLUMNS, mask)
        async_copy.async_load(b_tiles.index(ahead % STAGES), b_ptr + r * N + c + ahead * COLUMNS, mask)
        async_copy.commit_group()
        async_copy.wait_group(STAGES - 1)
        gl.barrier()
        total = a_tiles.index(tile % STAGES).load(layout) + b_tiles.index(tile % STAGES).load(layout)
        gl.store(out_ptr + r * N + c + tile * COLUMNS, total, mask=(r < M) & (tile * COLUMNS + c < N))


@gluon.jit
def tma_ring(a, b, out, N, STAGES: gl.constexpr, layout: gl.constexpr):
    """out = a + b by tensor copies, a few tiles ahead; the store of a tile overlaps the next one's sum."""
    COLUMNS: gl.constexpr = a.block_type.shape[1]
    row = gl.program_id(0) * a.block_type.shape[0]
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_type.shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_type.shape, b.layout)
    sums = gl.allocate_shared_memory(out.dtype, [2] + out.block_type.shape, out.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
    tiles = gl.cdiv(N, COLUMNS)
    for tile in range(1 - STAGES, tiles):
        ahead = tile + STAGES - 1
        stage = ahead % STAGES
        gl.barrier()
        mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta, pred=ahead < tiles)
        tma.async_load(a, [row, ahead * COLUMNS], full.index(stage), a_tiles.index(stage), pred=ahead < tiles)
        tma.async_load(b, [row, ahead * COLUMNS], full.index(stage), b_tiles.index(stage), pred=ahead < tiles)
        if tile >= 0:
            stage = tile % STAGES
            mbarrier.wait(full.index(stage), tile // STAGES & 1)
            total = a_tiles.index(stage).load(layout) + b_tiles.index(stage).load(layout)
            tma.store_wait(pendings=1)
            gl.barrier()
            sums.index(tile % 2).store(total)
            fence_async_shared()
            gl.barrier()
            tma.async_store(out, [row, tile * COLUMNS], sums.index(tile % 2))
    tma.store_wait(pendings=0)


@gluon.jit
def device_descriptors(x_ptr, out_ptr, M, N, SIDE: gl.constexpr, tiled: gl.constexpr, layout: gl.constexpr):
    x = tma.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [SIDE, SIDE], tiled)
    out = tma.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [SIDE, SIDE], tiled)
    row, column = gl.program_id(0) * SIDE, gl.program_id(1) * SIDE
    tile = gl.allocate_shared_memory(x.dtype, [SIDE, SIDE], tiled)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, x.nbytes_per_cta)
    tma.async_load(x, [row, column], full, tile)
    mbarrier.wait(full, 0)
    double = tile.load(layout) * 2
    tile.store(double)
    fence_async_shared()
    gl.barrier()
    tma.async_store(out, [row, column], tile)
    tma.store_wait(0)


@gluon.jit
def warp_product(a_ptr, b_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """By mma.sync, its operands converted from the layout that they are read in."""
    read: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    parts: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [gl.num_warps(), 1], [16, 8])
    m, k = gl.arange(0, M, gl.SliceLayout(1, read)), gl.arange(0, K, gl.SliceLayout(0, read))
    a = gl.convert_layout(gl.load(a_ptr + m[:, None] * K + k[None, :]), gl.DotOperandLayout(0, parts, 2))
    k, n = gl.arange(0, K, gl.SliceLayout(1, read)), gl.arange(0, N, gl.SliceLayout(0, read))
    b = gl.convert_layout(gl.load(b_ptr + k[:, None] * N + n[None, :]), gl.DotOperandLayout(1, parts, 2))
    total = mma_v2(a, b, gl.zeros([M, N], gl.float32, parts))
    m, n = gl.arange(0, M, gl.SliceLayout(1, parts)), gl.arange(0, N, gl.SliceLayout(0, parts))
    gl.store(out_ptr + m[:, None] * N + n[None, :], total)


@gluon.jit
def product_of_registers(a_ptr, b, out_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """By wgmma, with the first operand in registers."""
    parts: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    in_registers: gl.constexpr = gl.DotOperandLayout(0, parts, 2)
    b_tile = gl.allocate_shared_memory(b.dtype, [K, N], b.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, b.nbytes_per_cta)
    tma.async_load(b, [0, 0], full, b_tile)
    m, k = gl.arange(0, M, gl.SliceLayout(1, in_registers)), gl.arange(0, K, gl.SliceLayout(0, in_registers))
    a = gl.load(a_ptr + m[:, None] * K + k[None, :])
    mbarrier.wait(full, 0)
    total = warpgroup_mma(a, b_tile, gl.zeros((M, N), gl.float32, parts), use_acc=False)
    m, n = gl.arange(0, M, gl.SliceLayout(1, parts)), gl.arange(0, N, gl.SliceLayout(0, parts))
    gl.store(out_ptr + m[:, None] * N + n[None, :], total)


@gluon.jit
def pipelined_product(a, b, out, K, STAGES: gl.constexpr):
    """out = a @ b.T: one multiplication is in flight while the next tiles are loaded."""
    M: gl.constexpr = out.block_type.shape[0]
    N: gl.constexpr = out.block_type.shape[1]
    DEPTH: gl.constexpr = a.block_type.shape[1]
    row, column, tiles = gl.program_id(0) * M, gl.program_id(1) * N, gl.cdiv(K, DEPTH)
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_type.shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_type.shape, b.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
    parts: gl.constexpr = gl.NVMMADistributedLayout(
        [3, 0], [gl.num_warps(), 1], [16, N, 256 // a.dtype.primitive_bitwidth]
    )
    total = warpgroup_mma_init(gl.zeros((M, N), gl.float32, parts))
    for tile in range(2 - STAGES, tiles):
        ahead = tile + STAGES - 2
        stage = ahead % STAGES
        mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta, pred=ahead < tiles)
        tma.async_load(a, [row, ahead * DEPTH], full.index(stage), a_tiles.index(stage), pred=ahead < tiles)
        tma.async_load(b, [column, ahead * DEPTH], full.index(stage), b_tiles.index(stage), pred=ahead < tiles)
        if tile >= 0:
            stage = tile % STAGES
            mbarrier.wait(full.index(stage), tile // STAGES & 1)
            total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
            total = warpgroup_mma(a_tiles.index(stage), b_tiles.index(stage).permute((1, 0)), total, is_async=True)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    result = gl.allocate_shared_memory(out.dtype, [M, N], out.layout)
    result.store(total.to(out.dtype))
    fence_async_shared()
    gl.barrier()
    tma.async_store(out, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def load_tiles(a, b, out, a_tiles, b_tiles, full, empty, tiles, blocks_n, depth_tiles, PROGRAMS: gl.constexpr):
    STAGES: gl.constexpr = a_tiles.shape[0]
    DEPTH: gl.constexpr = a.block_type.shape[1]
    count = 0
    for tile in range(gl.program_id(0), tiles, PROGRAMS):
        row, column = tile // blocks_n * out.block_type.shape[0], tile % blocks_n * out.block_type.shape[1]
        for k in range(depth_tiles):
            stage = count % STAGES
            mbarrier.wait(empty.index(stage), count // STAGES & 1 ^ 1)
            mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [row, k * DEPTH], full.index(stage), a_tiles.index(stage))
            tma.async_load(b, [k * DEPTH, column], full.index(stage), b_tiles.index(stage))
            count += 1


@gluon.jit
def multiply_tiles(
    out, a_tiles, b_tiles, full, empty, result, result_full, result_empty, tiles, depth_tiles, PROGRAMS: gl.constexpr
):
    STAGES: gl.constexpr = a_tiles.shape[0]
    shape: gl.constexpr = out.block_type.shape
    parts: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, shape[1], 16])
    count = 0
    done = 0
    for _ in range(gl.program_id(0), tiles, PROGRAMS):
        total = gl.zeros(shape, gl.float32, parts)
        for _ in range(depth_tiles):
            stage = count % STAGES
            mbarrier.wait(full.index(stage), count // STAGES & 1)
            total = warpgroup_mma(a_tiles.index(stage), b_tiles.index(stage), total)
            mbarrier.arrive(empty.index(stage), count=1)
            count += 1
        mbarrier.wait(result_empty, done & 1 ^ 1)
        result.store(total.to(out.dtype))
        fence_async_shared()
        mbarrier.arrive(result_full, count=1)
        done += 1


@gluon.jit
def store_tiles(out, result, result_full, result_empty, tiles, blocks_n, PROGRAMS: gl.constexpr):
    done = 0
    for tile in range(gl.program_id(0), tiles, PROGRAMS):
        mbarrier.wait(result_full, done & 1)
        tma.async_store(
            out, [tile // blocks_n * out.block_type.shape[0], tile % blocks_n * out.block_type.shape[1]], result
        )
        tma.store_wait(0)
        mbarrier.arrive(result_empty, count=1)
        done += 1


@gluon.jit
def specialized_product(a, b, out, M, N, K, STAGES: gl.constexpr, PROGRAMS: gl.constexpr):
    """out = a @ b, persistent: one warp loads, warp groups multiply, one warp stores."""
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_type.shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_type.shape, b.layout)
    result = gl.allocate_shared_memory(out.dtype, out.block_type.shape, out.layout)
    full, empty = mbarrier.allocate_mbarrier(batch=STAGES), mbarrier.allocate_mbarrier(batch=STAGES)
    result_full, result_empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    mbarrier.init(result_full, count=1)
    mbarrier.init(result_empty, count=1)
    blocks_n = gl.cdiv(N, out.block_type.shape[1])
    tiles, depth_tiles = gl.cdiv(M, out.block_type.shape[0]) * blocks_n, gl.cdiv(K, a.block_type.shape[1])
    of_result = (out, result, result_full, result_empty, tiles, blocks_n, PROGRAMS)
    loads = (a, b, out, a_tiles, b_tiles, full, empty, tiles, blocks_n, depth_tiles, PROGRAMS)
    multiplies = (
        out, a_tiles, b_tiles, full, empty, result, result_full, result_empty, tiles, depth_tiles, PROGRAMS,
    )  # fmt: skip
    gl.warp_specialize([(multiply_tiles, multiplies), (load_tiles, loads), (store_tiles, of_result)], [1, 1], [24, 24])


@gluon.jit
def copy_tiles(x_ptr, tiles, full, empty, n, SIZE: gl.constexpr, layout: gl.constexpr, COUNTED: gl.constexpr):
    STAGES: gl.constexpr = tiles.shape[0]
    at = gl.arange(0, SIZE, layout)
    for tile in range(n):
        stage = tile % STAGES
        mbarrier.wait(empty.index(stage), tile // STAGES & 1 ^ 1)
        async_copy.async_load(tiles.index(stage), x_ptr + tile * SIZE + at)
        async_copy.mbarrier_arrive(full.index(stage), increment_count=COUNTED)
        if COUNTED:
            mbarrier.arrive(full.index(stage), count=1)


@gluon.jit
def use_tiles(out_ptr, tiles, full, empty, n, SIZE: gl.constexpr, layout: gl.constexpr):
    STAGES: gl.constexpr = tiles.shape[0]
    at = gl.arange(0, SIZE, layout)
    for tile in range(n):
        stage = tile % STAGES
        mbarrier.wait(full.index(stage), tile // STAGES & 1)
        x = tiles.index(stage).load(layout)
        mbarrier.arrive(empty.index(stage), count=1)
        gl.store(out_ptr + tile * SIZE + at, x + 1)


@gluon.jit
def specialized_copy(x_ptr, out_ptr, n, SIZE: gl.constexpr, STAGES: gl.constexpr, COUNTED: gl.constexpr):
    """Four warps copy by cp.async, which reports to mbarriers, and four add. COUNTED: the reports count themselves."""
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    tiles = gl.allocate_shared_memory(gl.float32, [STAGES, SIZE], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full, empty = mbarrier.allocate_mbarrier(batch=STAGES), mbarrier.allocate_mbarrier(batch=STAGES)
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1 if COUNTED else 128)
        mbarrier.init(empty.index(slot), count=1)
    gl.warp_specialize(
        [
            (use_tiles, (out_ptr, tiles, full, empty, n, SIZE, layout)),
            (copy_tiles, (x_ptr, tiles, full, empty, n, SIZE, layout, COUNTED)),
        ],
        [4],
        [32],
    )


@gluon.jit
def combine(x_ptr, out, layout: gl.constexpr, KIND: gl.constexpr):
    """Tile after tile of x into the one that `out` describes."""
    ROWS: gl.constexpr = out.block_type.shape[0]
    COLUMNS: gl.constexpr = out.block_type.shape[1]
    r = gl.program_id(0) * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, layout))[:, None]
    x = gl.load(x_ptr + r * COLUMNS + gl.arange(0, COLUMNS, gl.SliceLayout(0, layout))[None, :])
    tile = gl.allocate_shared_memory(out.dtype, [ROWS, COLUMNS], out.layout, x)
    fence_async_shared()
    gl.barrier()
    if KIND == "add":
        tma.async_atomic_add(out, [0, 0], tile)
    elif KIND == "max":
        tma.async_atomic_max(out, [0, 0], tile)
    else:
        tma.async_atomic_xor(out, [0, 0], tile)
    tma.store_wait(0, read_only=False)


@gluon.jit
def pixels(x, out_ptr, Y: gl.constexpr, X: gl.constexpr, y: gl.constexpr, x0: gl.constexpr, layout: gl.constexpr):
    """The pixels that one place (Y, X) of a convolution's kernel meets, from pixel (y, x0) on."""
    PIXELS: gl.constexpr = x.block_type.shape[0]
    CHANNELS: gl.constexpr = x.block_type.shape[1]
    tile = gl.allocate_shared_memory(x.dtype, [PIXELS, CHANNELS], x.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, x.nbytes_per_cta)
    tma.async_load_im2col(x, [0, y, x0, 0], [Y, X], full, tile)
    mbarrier.wait(full, 0)
    r = gl.arange(0, PIXELS, gl.SliceLayout(1, layout))[:, None]
    gl.store(out_ptr + r * CHANNELS + gl.arange(0, CHANNELS, gl.SliceLayout(0, layout))[None, :], tile.load(layout))


@gluon.jit
def cluster_product(a, b, out, K):
    """out = a @ b: each block of the cluster has its rows of a, and both get b's tile by one multicast."""
    M: gl.constexpr = out.block_type.shape[0]
    N: gl.constexpr = out.block_type.shape[1]
    a_tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    parts: gl.constexpr = gl.NVMMADistributedLayout(
        [3, 0], [gl.num_warps(), 1], [16, N, 16], cga_layout=out.layout.cga_layout
    )
    total = gl.zeros((M, N), gl.float32, parts)
    phase = 0
    for k in range(0, K, a.block_type.shape[1]):
        mbarrier.expect(full, a.nbytes_per_cta + b.nbytes_per_cta)
        cluster.barrier()
        tma.async_load(a, [0, k], full, a_tile)
        tma.async_load(b, [k, 0], full, b_tile, multicast=True)
        mbarrier.wait(full, phase)
        total = warpgroup_mma(a_tile, b_tile, total)
        phase ^= 1
        cluster.barrier()
    result = gl.allocate_shared_memory(out.dtype, [M, N], out.layout)
    result.store(total.to(out.dtype))
    fence_async_shared()
    gl.barrier()
    tma.async_store(out, [0, 0], result)
    tma.store_wait(0)


@gluon.jit
def cluster_sum(x_ptr, out_ptr, N: gl.constexpr, read: gl.constexpr, write: gl.constexpr):
    """A sum, and a conversion of layouts, across the blocks of a cluster."""
    x = gl.load(x_ptr + gl.arange(0, N, read))
    gl.store(out_ptr + gl.arange(0, N, write), gl.convert_layout(x, write) + gl.sum(x, 0))


@gluon.jit
def remote_stores(x_ptr, out_ptr, N: gl.constexpr, layout: gl.constexpr, tiled: gl.constexpr):
    """st.async, which reports to the mbarrier of the block that it stores to."""
    at = gl.arange(0, N, layout)
    tile = gl.allocate_shared_memory(gl.float32, [N], tiled)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    cluster.barrier()
    mbarrier.expect(full, tile.nbytes_per_cta)
    async_store(tile, gl.load(x_ptr + at), full)
    mbarrier.wait(full, 0)
    gl.store(out_ptr + at, tile.load(layout) * 2)
    cluster.barrier()


@gluon.jit
def shared_memory(x_ptr, place_ptr, out_ptr, N: gl.constexpr, BINS: gl.constexpr, layout: gl.constexpr):
    """Atomics, a gather and a scatter in shared memory."""
    at, bins = gl.arange(0, N, layout), gl.arange(0, BINS, layout)
    x, place = gl.load(x_ptr + at), gl.load(place_ptr + at)
    table = gl.allocate_shared_memory(
        gl.int32, [BINS], gl.SwizzledSharedLayout(1, 1, 1, [0]), gl.zeros([BINS], gl.int32, layout)
    )
    gl.barrier()
    table.atomic_scatter_add(x, place, 0)
    gl.barrier()
    gl.store(out_ptr + bins, table.load(layout))
    gl.store(out_ptr + BINS + at, table.gather(place, 0))
    gl.barrier()
    table.scatter(bins * 3, bins * 5 % BINS, 0)
    gl.barrier()
    gl.store(out_ptr + BINS + N + bins, table.load(layout))
