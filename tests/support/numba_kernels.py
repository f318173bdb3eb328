"""numba.cuda kernels of the tests, as users write them. Importing it needs numba-cuda."""

import math

import numpy as np
from numba import cuda, float32, float64, int32

TABLE = np.arange(10, dtype=np.float32)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((16, 17), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = tile[tx, ty]


@cuda.jit
def reverse(x, out):
    """Dynamic shared memory."""
    kept = cuda.shared.array(0, dtype=int32)
    i = cuda.threadIdx.x
    kept[i] = x[i]
    cuda.syncthreads()
    out[i] = kept[cuda.blockDim.x - 1 - i]


@cuda.jit
def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit
def atomics(x, out, floats):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])
        cuda.atomic.or_(out, 2, x[i])
        cuda.atomic.and_(out, 3, x[i])
        cuda.atomic.xor(out, 4, x[i])
        cuda.atomic.sub(out, 5, x[i])
        cuda.atomic.inc(out, 6, 100)
        cuda.atomic.exch(out, 7, 5)
        cuda.atomic.cas(out, 8, 0, 9)
        cuda.atomic.add(floats, 0, float64(x[i]))
        cuda.atomic.max(floats, 1, float64(x[i]))


@cuda.jit
def special_functions(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[0, i] = math.sin(v)
        out[1, i] = math.exp(v)
        out[2, i] = math.log(v)
        out[3, i] = math.sqrt(v)
        out[4, i] = math.erf(v)
        out[5, i] = math.pow(v, 1.7)
        out[6, i] = math.tanh(v)
        out[7, i] = math.gamma(v)
        out[8, i] = math.atan2(v, 2.0)
        out[9, i] = math.floor(v)
        out[10, i] = math.fmod(v, 0.7)
        out[11, i] = math.lgamma(v)
        out[12, i] = math.hypot(v, 1.0)


@cuda.jit
def warp_functions(x, out):
    i = cuda.threadIdx.x
    total = x[i]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    out[0, i] = total
    out[1, i] = cuda.ballot_sync(0xFFFFFFFF, x[i] > 10)
    out[2, i] = cuda.all_sync(0xFFFFFFFF, x[i] >= 0)
    out[3, i] = cuda.any_sync(0xFFFFFFFF, x[i] > 100)
    out[4, i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)
    out[5, i] = cuda.popc(x[i])
    out[6, i] = cuda.clz(x[i])
    out[7, i] = cuda.brev(x[i])
    out[8, i] = cuda.laneid
    out[9, i] = cuda.ffs(x[i])
    out[10, i] = cuda.match_any_sync(0xFFFFFFFF, x[i] % 2)
    out[11, i] = cuda.activemask()
    out[12, i] = cuda.syncthreads_count(int32(x[i] > 5))


@cuda.jit
def say(x):
    i = cuda.grid(1)
    print("thread", i, "has", x[i], x[i] * 0.5)


@cuda.jit(device=True)
def product_and_difference(a, b):
    return a * b, a - b


@cuda.jit
def uses_a_device_function(x, out):
    i = cuda.grid(1)
    product, difference = product_and_difference(x[i], 2.0)
    out[i] = product + difference


@cuda.jit
def scalars(out, flag, i8, u16, i64, f32, f64, c64, c128, pair):
    out[0] = flag
    out[1] = i8
    out[2] = u16
    out[3] = i64
    out[4] = f32
    out[5] = f64
    out[6] = c64
    out[7] = c128
    out[8] = pair[0]
    out[9] = pair[1][1]


@cuda.jit
def local_array(x, out):
    kept = cuda.local.array(8, float32)
    i = cuda.grid(1)
    for k in range(8):
        kept[k] = x[i] * k
    total = float32(0)
    for k in range(8):
        total += kept[(k * 3 + i) % 8] * k
    out[i] = total


@cuda.jit
def records(rows, one, out):
    i = cuda.grid(1)
    rows[i].b += rows[i].a
    out[i] = one.b
    if i == 0:
        one.a = 5


@cuda.jit
def synchronises_the_grid(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] = i
    grid.sync()
    out[i] = x[x.size - 1 - i]
    grid.sync()
    x[i] = out[i] + 1


@cuda.jit(debug=True, opt=False)
def raises(x):
    if x[cuda.grid(1)] > 5:
        raise ValueError("too big")


@cuda.jit
def constants(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 10]


@cuda.jit
def half_precision(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * x[i] + x[i]


@cuda.jit
def matmul(a, b, c):
    left = cuda.shared.array((16, 16), dtype=float32)
    right = cuda.shared.array((16, 16), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, a.shape[1], 16):
        left[ty, tx] = a[y, k + tx]
        right[ty, tx] = b[k + ty, x]
        cuda.syncthreads()
        for inner in range(16):
            total += left[ty, inner] * right[inner, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def plane(a, out, k):
    """A slice and a reshape inside the kernel."""
    i, j = cuda.grid(2)
    if i < a.shape[1] and j < a.shape[2]:
        out[i, j] = a[k, :, ::-1][i, j]
