"""Rows of a matrix by Triton, a program each: norms, softmax and activations, and what a benchmark launches before each
of them. Importing it needs Triton. `python -m tests.silicon.triton_ptx` compiles them.
"""

import triton
import triton.language as tl


@triton.jit
def fill(y_ptr, BLOCK: tl.constexpr):
    """Clears the L2, as a benchmark does."""
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.int32))


@triton.jit
def layer_norm(  # noqa: PLR0913
    y_ptr, y_pitch, x_ptr, x_pitch, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, n, epsilon, B: tl.constexpr
):
    row = tl.program_id(0)
    place = tl.arange(0, B)
    inside = place < n
    x = tl.load(x_ptr + row * x_pitch + place, mask=inside, other=0)
    weight = tl.load(weight_ptr + place, mask=inside, other=0)
    bias = tl.load(bias_ptr + place, mask=inside, other=0)
    mean = tl.sum(x, axis=0) / n
    rstd = tl.rsqrt(tl.sum((x - mean) * (x - mean), axis=0) / n + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    tl.store(y_ptr + row * y_pitch + place, (x - mean) * rstd * weight + bias, mask=inside)


@triton.jit
def layer_norm_of_any(  # noqa: PLR0913
    y_ptr, y_pitch, x_ptr, x_pitch, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, n, epsilon, B: tl.constexpr
):
    """In single precision whatever is stored: weights first, what lies outside the row is no deviation."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, B)
    inside = place < n
    weight = tl.load(weight_ptr + place, mask=inside, other=0).to(tl.float32)
    bias = tl.load(bias_ptr + place, mask=inside, other=0).to(tl.float32)
    x = tl.load(x_ptr + row * x_pitch + place, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    away = tl.where(inside, x - mean, 0)
    rstd = tl.rsqrt(tl.sum(away * away, axis=0) / n + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    y = away * rstd * weight + bias
    tl.store(y_ptr + row * y_pitch + place, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm(y_ptr, y_pitch, x_ptr, x_pitch, weight_ptr, rstd_ptr, n, epsilon, offset, B: tl.constexpr):
    """The sum in single precision, the product with the weights in the precision of the row."""
    row = tl.program_id(0)
    place = tl.arange(0, B)
    inside = place < n
    stored = tl.load(x_ptr + row * x_pitch + place, mask=inside, other=0)
    weight = tl.load(weight_ptr + place, mask=inside, other=0)
    x = stored.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n + epsilon)
    tl.store(rstd_ptr + row, rstd)
    y = (x * rstd).to(stored.dtype) * (offset + weight)
    tl.store(y_ptr + row * y_pitch + place, y, mask=inside)


@triton.jit
def softmax(y_ptr, y_pitch, x_ptr, x_pitch, n, B: tl.constexpr):
    row = tl.program_id(0)
    place = tl.arange(0, B)
    inside = place < n
    x = tl.load(x_ptr + row * x_pitch + place, mask=inside, other=-float("inf"), cache_modifier=".ca")
    power = tl.exp(x - tl.max(x, axis=0))
    y = power / tl.sum(power, axis=0)
    tl.store(y_ptr + row * y_pitch + place, y, mask=inside, cache_modifier=".cs")


@triton.jit
def relu_squared(y_ptr, y_pitch, x_ptr, x_pitch, n: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, B)
    inside = place < n
    positive = tl.maximum(tl.load(x_ptr + row * x_pitch + place, mask=inside, other=0), 0)
    tl.store(y_ptr + row * y_pitch + place, positive * positive, mask=inside)


@triton.jit
def swiglu(y_ptr, y_pitch, x_ptr, x_pitch, n: tl.constexpr, B: tl.constexpr):
    """A row holds the gate's elements, then those that it lets through."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.arange(0, B)
    inside = place < n
    gate = tl.load(x_ptr + row * x_pitch + place, mask=inside, other=0).to(tl.float32)
    through = tl.load(x_ptr + row * x_pitch + n + place, mask=inside, other=0)
    y = (gate * tl.sigmoid(gate)).to(through.dtype) * through
    tl.store(y_ptr + row * y_pitch + place, y, mask=inside)
