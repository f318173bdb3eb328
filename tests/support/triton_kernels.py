"""Triton kernels of the tests, as users write them. Importing it needs Triton."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def scale(x_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


@triton.jit
def softmax(out_ptr, x_ptr, out_stride, x_stride, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + columns, mask=columns < n_columns, other=-float("inf"))
    shifted = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + columns, shifted / tl.sum(shifted, axis=0), mask=columns < n_columns)


@triton.jit
def layer_norm(x_ptr, y_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        x = tl.where(columns < n, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / n + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        weight = tl.load(weight_ptr + columns, mask=mask)
        bias = tl.load(bias_ptr + columns, mask=mask)
        x = tl.load(x_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + columns, (x - mean) * rstd * weight + bias, mask=mask)


@triton.jit
def histogram(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.atomic_add(counts_ptr + tl.load(x_ptr + offsets, mask=mask, other=0), 1, mask=mask)


@triton.jit
def block_histogram(x_ptr, counts_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x_ptr + offsets, mask=offsets < n, other=0), BINS)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)


@triton.jit
def atomics(x_ptr, out_ptr, float_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    place = offsets % 2
    tl.atomic_max(out_ptr + place, x, mask=mask)
    tl.atomic_min(out_ptr + 2 + place, x, mask=mask)
    tl.atomic_or(out_ptr + 4 + place, x, mask=mask)
    tl.atomic_xor(out_ptr + 6 + place, x, mask=mask)
    tl.atomic_and(out_ptr + 8 + place, x, mask=mask)
    tl.atomic_add(float_ptr + place, x.to(tl.float32), mask=mask)
    tl.atomic_xchg(out_ptr + 10, 7)


@triton.jit
def spin_lock(lock_ptr, total_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, tl.load(total_ptr) + tl.program_id(0) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def reductions(x_ptr, out_ptr, index_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + rows, tl.sum(x, axis=1))
    tl.store(out_ptr + ROWS + rows, tl.max(x, axis=1))
    tl.store(out_ptr + 2 * ROWS + rows, tl.min(x, axis=1))
    tl.store(index_ptr + rows, tl.argmax(x, axis=1))
    tl.store(index_ptr + ROWS + rows, tl.argmin(x, axis=1))
    tl.store(index_ptr + 2 * ROWS + columns, tl.argmax(x, axis=0))


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def scans(x_ptr, sum_ptr, product_ptr, down_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(sum_ptr + offsets, tl.cumsum(x, axis=1))
    tl.store(product_ptr + offsets, tl.associative_scan(x, 1, multiply))
    tl.store(down_ptr + offsets, tl.cumsum(x, axis=0, reverse=True))


@triton.jit
def sort_rows(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + offsets, tl.sort(tl.load(x_ptr + offsets)))


@triton.jit
def say(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x =", x)


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def special_functions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.exp(x))
    tl.store(out_ptr + n + offsets, tl.log(x))
    tl.store(out_ptr + 2 * n + offsets, tl.sin(x))
    tl.store(out_ptr + 3 * n + offsets, tl.cos(x))
    tl.store(out_ptr + 4 * n + offsets, tl.sqrt(x))
    tl.store(out_ptr + 5 * n + offsets, tl.rsqrt(x))
    tl.store(out_ptr + 6 * n + offsets, tl.erf(x))
    tl.store(out_ptr + 7 * n + offsets, tl.sigmoid(x))
    tl.store(out_ptr + 8 * n + offsets, tl.exp2(x))
    tl.store(out_ptr + 9 * n + offsets, tl.log2(x))
    tl.store(out_ptr + 10 * n + offsets, tl.floor(x))
    tl.store(out_ptr + 11 * n + offsets, tl.div_rn(x, 3.0))
    tl.store(out_ptr + 12 * n + offsets, tl.fma(x, x, x))


@triton.jit
def cast(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def transpose(x_ptr, out_ptr, x_row, x_column, out_row, out_column, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :] * x_column)
    tl.store(out_ptr + columns[:, None] * out_row + rows[None, :] * out_column, tl.trans(x))


@triton.jit
def matmul(  # noqa: PLR0913  # Triton's matrix product, as it is written
    a_ptr, b_ptr, c_ptr, M, N, K, a_m, a_k, b_k, b_n, c_m, c_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * blocks_n
    first_m = pid // in_group * GROUP_M
    group_m = min(blocks_m - first_m, GROUP_M)
    pid_m = first_m + pid % in_group % group_m
    pid_n = pid % in_group // group_m
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * a_m + depth[None, :] * a_k
    b_ptrs = b_ptr + depth[:, None] * b_k + columns[None, :] * b_n
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=depth[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(a, b, total, out_dtype=TOTAL)
        a_ptrs += BLOCK_K * a_k
        b_ptrs += BLOCK_K * b_k
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * c_m + columns[None, :] * c_n, total.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def persistent_matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    blocks_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * blocks_n, PROGRAMS):
        rows = tile // blocks_n * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = tile % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            depth = k + tl.arange(0, BLOCK_K)
            a = tl.load(a_ptr + rows[:, None] * K + depth[None, :], mask=rows[:, None] < M, other=0.0)
            b = tl.load(b_ptr + depth[:, None] * N + columns[None, :], mask=columns[None, :] < N, other=0.0)
            total = tl.dot(a, b, total)
        tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    factor,
    LENGTH: tl.constexpr,
    HEAD: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Flash attention, forward: one head, causal."""
    start = tl.program_id(0) * BLOCK_M
    offset = tl.program_id(1) * LENGTH * HEAD
    rows, columns, depth = start + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, HEAD)
    q = tl.load(q_ptr + offset + rows[:, None] * HEAD + depth[None, :])
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    norm = tl.zeros([BLOCK_M], tl.float32)
    total = tl.zeros([BLOCK_M, HEAD], tl.float32)
    for first in range(0, start + BLOCK_M, BLOCK_N):
        k = tl.load(k_ptr + offset + (first + columns)[None, :] * HEAD + depth[:, None])
        score = tl.dot(q, k) * factor
        score = tl.where(rows[:, None] >= first + columns[None, :], score, -float("inf"))
        larger = tl.maximum(largest, tl.max(score, 1))
        p = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(largest - larger)
        norm = norm * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + offset + (first + columns)[:, None] * HEAD + depth[None, :])
        total = tl.dot(p.to(v.dtype), v, total * shrink[:, None])
        largest = larger
    tl.store(
        out_ptr + offset + rows[:, None] * HEAD + depth[None, :], (total / norm[:, None]).to(out_ptr.dtype.element_ty)
    )


@triton.jit
def of_tuple(pointers, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(pointers[0] + offsets) - tl.load(pointers[1] + offsets))


@triton.jit
def optional(x_ptr, bias_ptr, out_ptr, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + offsets)
    if flag:
        x = -x
    tl.store(out_ptr + offsets, x)


@triton.jit
def descriptors(source, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    out.store([row, column], source.load([row, column]) * 2)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 512}, num_warps=4)],
    key=["n"],
    reset_to_zero=["out_ptr"],
)
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def tuned_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))
    else:
        mask = offsets < n
        x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, tl.load(out_ptr + offsets, mask=mask) + x + y, mask=mask)


@triton.jit
def tile_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Descriptors made on the device; from sm_90 on the tiles come by bulk copies."""
    a_tiles = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_tiles = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(a_tiles.load([row, k]), b_tiles.load([k, column]), total)
    c_tiles.store([row, column], total.to(c_ptr.dtype.element_ty))


@triton.jit
def paged_attention(out, q, keys, values, tables, lengths, scale, most_pages, HEAD: tl.constexpr, PAGE: tl.constexpr):
    """One query a sequence; its keys and values stand in pages that a table names."""
    sequence = tl.program_id(0)
    d, t = tl.arange(0, HEAD), tl.arange(0, PAGE)
    query = tl.load(q + sequence * HEAD + d).to(tl.float32) * scale
    n = tl.load(lengths + sequence)
    largest, total, acc = float("-inf"), 0.0, tl.zeros([HEAD], tl.float32)
    for page in range(0, tl.cdiv(n, PAGE)):
        start = tl.load(tables + sequence * most_pages + page).to(tl.int64) * PAGE * HEAD
        at = start + t[:, None] * HEAD + d[None, :]
        scores = tl.sum(tl.load(keys + at).to(tl.float32) * query[None, :], 1)
        scores = tl.where(page * PAGE + t < n, scores, float("-inf"))
        new = tl.maximum(largest, tl.max(scores, 0))
        power, before = tl.exp(scores - new), tl.exp(largest - new)
        acc = acc * before + tl.sum(power[:, None] * tl.load(values + at).to(tl.float32), 0)
        total, largest = total * before + tl.sum(power, 0), new
    tl.store(out + sequence * HEAD + d, (acc / total).to(out.dtype.element_ty))


@triton.jit
def cross_entropy(logits, labels, losses, gradients, n, ignored, BLOCK: tl.constexpr):
    """A row of a vocabulary that does not fit one block; a row whose label is ignored ends early."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels + row)
    if label == ignored:
        tl.store(losses + row, 0.0)
        for start in range(0, n, BLOCK):
            at = start + tl.arange(0, BLOCK)
            tl.store(gradients + row * n + at, 0.0, mask=at < n)
        return
    largest, total = float("-inf"), 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + row * n + at, mask=at < n, other=float("-inf")).cast(tl.float32)
        new = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new))
        largest = new
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + row * n + at, mask=at < n, other=float("-inf")).cast(tl.float32)
        share = tl.exp(x - largest) / total
        tl.store(gradients + row * n + at, tl.where(at == label, share - 1, share), mask=at < n)
    tl.store(losses + row, largest + tl.log(total) - tl.load(logits + row * n + label).cast(tl.float32))
