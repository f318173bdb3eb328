"""Float arithmetic that numpy cannot do in one pass, as Numba ufuncs: fused multiply-add, and single precision with the
GPU's NaN.

Every single-precision NaN result is 0x7fffffff, the GPU's canonical one (CUDA C++ Programming Guide, compute
capabilities). A double-precision one is the first NaN among the operands, made quiet, or without any CUDART_NAN of
CUDA's math_constants.h: PTX leaves it open, and what the host would give depends on how its compiler ordered the
operands. Imported when first needed.
"""

import numpy as np

from gpuprof.jit.cached import cached_njit, cached_ufunc
from gpuprof.jit.internal import internal_njit, intrinsic, llvm_function


@intrinsic
def _fma(typingctx, a, b, c):
    """llvm.fma of three floats of one type: a * b + c, rounded once."""

    from llvmlite import ir

    def generate(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        name = f"llvm.fma.{ {32: 'f32', 64: 'f64'}[signature.return_type.bitwidth] }"
        function = llvm_function(builder, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, args)

    return a(a, b, c), generate


NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)


QUIET64 = np.uint64(1 << 51)
DEFAULT64 = np.uint64(0xFFF8 << 48)


@internal_njit
def nan64(a, b, c):
    """The NaN that three operands make."""
    given = a if a != a else (b if b != b else c)
    return np.uint64(np.float64(given).view(np.uint64) | QUIET64 if given != given else DEFAULT64).view(np.float64)


def _add32(a, b):
    r = a + b
    return r if r == r else NAN32


def _multiply32(a, b):
    r = a * b
    return r if r == r else NAN32


def _fma32(a, b, c):
    r = _fma(a, b, c)
    return r if r == r else NAN32


def _add64(a, b):
    r = a + b
    return r if r == r else nan64(a, b, b)


def _multiply64(a, b):
    r = a * b
    return r if r == r else nan64(a, b, b)


def _fma64(a, b, c):
    r = _fma(a, b, c)
    return r if r == r else nan64(a, b, c)


OF_TWO32, OF_THREE32 = cached_ufunc("float32(float32, float32)"), cached_ufunc("float32(float32, float32, float32)")
OF_TWO64, OF_THREE64 = cached_ufunc("float64(float64, float64)"), cached_ufunc("float64(float64, float64, float64)")
add32, multiply32, fma32 = OF_TWO32(_add32), OF_TWO32(_multiply32), OF_THREE32(_fma32)
add64, multiply64, fma64 = OF_TWO64(_add64), OF_TWO64(_multiply64), OF_THREE64(_fma64)

# The same operations on complete rows, for most of what kernels execute: unlike a ufunc's, their loop is cached on
# disk, and a call costs a third.
_add32_part, _multiply32_part, _fma32_part = internal_njit(_add32), internal_njit(_multiply32), internal_njit(_fma32)
_add64_part, _multiply64_part, _fma64_part = internal_njit(_add64), internal_njit(_multiply64), internal_njit(_fma64)


@cached_njit
def add32_rows(a, b, out):
    for k in range(len(out)):
        out[k] = _add32_part(a[k], b[k])


@cached_njit
def multiply32_rows(a, b, out):
    for k in range(len(out)):
        out[k] = _multiply32_part(a[k], b[k])


@cached_njit
def fma32_rows(a, b, c, out):
    for k in range(len(out)):
        out[k] = _fma32_part(a[k], b[k], c[k])


@cached_njit
def add64_rows(a, b, out):
    for k in range(len(out)):
        out[k] = _add64_part(a[k], b[k])


@cached_njit
def multiply64_rows(a, b, out):
    for k in range(len(out)):
        out[k] = _multiply64_part(a[k], b[k])


@cached_njit
def fma64_rows(a, b, c, out):
    for k in range(len(out)):
        out[k] = _fma64_part(a[k], b[k], c[k])


@cached_njit
def canonical32(row, out):
    """Every NaN becomes the GPU's."""
    for k in range(len(out)):
        out[k] = row[k] if row[k] == row[k] else NAN32


@cached_ufunc("float64(float64, float64, float64)")
def settled64(result, a, b):
    """`result` of operands a and b, with the NaN that they make where it is one."""
    return result if result == result else nan64(a, b, b)
