"""Triton kernels that take or make tensor descriptors, as users write them. Importing it needs Triton."""

import triton
import triton.language as tl


@triton.jit
def tile_place(tile, blocks_m, blocks_n, GROUP: tl.constexpr):
    """Tiles of a few rows of blocks follow each other, so that they share what the L2 keeps."""
    in_group = GROUP * blocks_n
    first = tile // in_group * GROUP
    height = min(blocks_m - first, GROUP)
    return first + tile % in_group % height, tile % in_group // height


@triton.jit
def descriptor_of(given, rows, columns, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
    """The descriptor itself, or one made of a pointer."""
    if isinstance(given, tl.tensor_descriptor):
        return given
    else:
        return tl.make_tensor_descriptor(given, [rows, columns], [columns, 1], [BLOCK_ROWS, BLOCK_COLUMNS])


@triton.jit
def persistent_product(  # noqa: PLR0913  # Triton's persistent matrix product, as it is written
    a, b, c, M, N, K, OUT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    PROGRAMS: tl.constexpr, HALVES: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """c = a @ b.T; each program takes every PROGRAMS-th tile. HALVES: c is stored in two halves of a tile."""
    WIDTH: tl.constexpr = BLOCK_N // 2 if HALVES else BLOCK_N
    a = descriptor_of(a, M, K, BLOCK_M, BLOCK_K)
    b = descriptor_of(b, N, K, BLOCK_N, BLOCK_K)
    c = descriptor_of(c, M, N, BLOCK_M, WIDTH)
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    tiles = blocks_m * blocks_n
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN, warp_specialize=SPECIALIZE):
        block_m, block_n = tile_place(tile, blocks_m, blocks_n, 2)
        row, column = block_m * BLOCK_M, block_n * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            total = tl.dot(a.load([row, k * BLOCK_K]), b.load([column, k * BLOCK_K]).T, total)
        if HALVES:
            left, right = tl.split(tl.permute(tl.reshape(total, (BLOCK_M, 2, WIDTH)), (0, 2, 1)))
            c.store([row, column], left.to(OUT))
            c.store([row, column + WIDTH], right.to(OUT))
        else:
            c.store([row, column], total.to(OUT))


@triton.jit
def attend(  # noqa: PLR0913  # what a loop carries
    total, norm, largest, q, keys, values, first, last, offset, rows, scale,
    BLOCK: tl.constexpr, MASKED: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """The online softmax over keys from `first` to `last`."""
    columns = tl.arange(0, BLOCK)
    for n in tl.range(first, last, BLOCK, warp_specialize=SPECIALIZE):
        score = tl.dot(q, keys.load([offset + n, 0]).T) * scale
        if MASKED:
            score += tl.where(rows[:, None] >= n + columns[None, :], 0, -1.0e6)
        larger = tl.maximum(largest, tl.max(score, 1))
        p = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(largest - larger)
        norm = norm * shrink + tl.sum(p, 1)
        total = tl.dot(p.to(values.dtype), values.load([offset + n, 0]), total * shrink[:, None])
        largest = larger
    return total, norm, largest


@triton.jit
def descriptor_attention(  # noqa: PLR0913  # Triton's attention, as it is written
    q, keys, values, out, scale, heads, LENGTH: tl.constexpr, HEAD: tl.constexpr, BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """Flash attention, forward: all full blocks of keys, then the diagonal one with its mask."""
    offset, start = tl.program_id(1) * LENGTH, tl.program_id(0) * BLOCK_M
    q = descriptor_of(q, heads * LENGTH, HEAD, BLOCK_M, HEAD).load([offset + start, 0])
    keys = descriptor_of(keys, heads * LENGTH, HEAD, BLOCK_N, HEAD)
    values = descriptor_of(values, heads * LENGTH, HEAD, BLOCK_N, HEAD)
    out = descriptor_of(out, heads * LENGTH, HEAD, BLOCK_M, HEAD)
    rows = start + tl.arange(0, BLOCK_M)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    norm = tl.zeros([BLOCK_M], tl.float32)
    total = tl.zeros([BLOCK_M, HEAD], tl.float32)
    whole = start if CAUSAL else LENGTH
    total, norm, largest = attend(
        total, norm, largest, q, keys, values, 0, whole, offset, rows, scale, BLOCK_N, False, SPECIALIZE
    )
    if CAUSAL:
        total, norm, largest = attend(
            total, norm, largest, q, keys, values, start, start + BLOCK_M, offset, rows, scale, BLOCK_N, True, False
        )
    out.store([offset + start, 0], (total / norm[:, None]).to(out.dtype))


@triton.jit
def combine(x_ptr, out, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Tile after tile of x into the one that `out` describes."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + tl.program_id(0) * ROWS * COLUMNS + at)
    if KIND == "add":
        out.atomic_add([0, 0], x)
    elif KIND == "max":
        out.atomic_max([0, 0], x)
    elif KIND == "min":
        out.atomic_min([0, 0], x)
    elif KIND == "and":
        out.atomic_and([0, 0], x)
    elif KIND == "or":
        out.atomic_or([0, 0], x)
    else:
        out.atomic_xor([0, 0], x)


@triton.jit
def one_tile(source, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + at, source.load([0, 0]))


@triton.jit
def next_of_tensor(source, out, RANK: tl.constexpr):
    """Adds one to the boxes of a tensor of RANK dimensions that begin at element 8 of its rows."""
    row = tl.program_id(0) * 8
    if RANK == 1:
        out.store([row], source.load([row]) + 1)
    elif RANK == 3:
        out.store([1, row, 8], source.load([1, row, 8]) + 1)
    elif RANK == 4:
        out.store([0, 1, row, 8], source.load([0, 1, row, 8]) + 1)
    else:
        out.store([0, 1, 0, row, 8], source.load([0, 1, 0, row, 8]) + 1)
