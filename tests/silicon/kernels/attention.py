"""Causal attention by Triton: a program for each block of rows of a head, through tensor maps that it makes itself.
Importing it needs Triton. `python -m tests.silicon.triton_ptx` compiles it.
"""

import triton
import triton.language as tl


@triton.jit
def matrix(address, heads, length, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    return tl.make_tensor_descriptor(address, [heads, length, width], [length * width, width, 1], [1, ROWS, WIDTH])


@triton.jit
def take_in(  # noqa: PLR0913
    q,
    keys,
    values,
    head,
    first,
    most,
    total,
    sums,
    rows,
    is_diagonal: tl.constexpr,
    N: tl.constexpr,
    length,
    WIDTH: tl.constexpr,
):
    """A block of keys and values: scores, their largest, and the sums that it changes."""
    k = keys.load([head, first, 0]).reshape(N, WIDTH)
    v = values.load([head, first, 0]).reshape(N, WIDTH)
    place = first + tl.arange(0, N)[None, :]
    score = tl.where(place < length, tl.dot(q, k.T), -float("inf"))
    if is_diagonal:
        score = tl.where(place <= rows[:, None], score, -float("inf"))
    larger = tl.maximum(most, tl.max(score, 1))
    faded = tl.exp(most - larger)
    power = tl.exp(score - larger[:, None])
    total = total * faded + tl.sum(power, 1)
    sums = tl.dot(power.to(v.dtype), v, sums * faded[:, None])
    return larger, total, sums


@triton.jit
def attention(  # noqa: PLR0913
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    heads,
    rows_of_all,
    width,
    length,
    scale,
    M: tl.constexpr,
    N: tl.constexpr,
    WIDTH: tl.constexpr,
):
    first, head = tl.program_id(0) * M, tl.program_id(1)
    queries = matrix(q_ptr, heads, rows_of_all, width, M, WIDTH)
    keys = matrix(k_ptr, heads, length, width, N, WIDTH)
    values = matrix(v_ptr, heads, length, width, N, WIDTH)
    out = matrix(out_ptr, heads, rows_of_all, width, M, WIDTH)
    q = queries.load([head, first, 0]).reshape(M, WIDTH)
    q = (q.to(tl.float32) * scale).to(q.dtype)
    rows = first + tl.arange(0, M)
    most = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    sums = tl.zeros([M, WIDTH], tl.float32)
    for at in range(0, first, N):
        most, total, sums = take_in(q, keys, values, head, at, most, total, sums, rows, False, N, length, WIDTH)
    for at in range(first, first + M, N):
        most, total, sums = take_in(q, keys, values, head, at, most, total, sums, rows, True, N, length, WIDTH)
    out.store([head, first, 0], (sums / total[:, None]).to(q.dtype).reshape(1, M, WIDTH))
